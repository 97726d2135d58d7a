// Judges one contract by the spam rules: gathers the evidence from stored rows, its names and, where those look suspicious, the contract
// itself. It neither decides when a contract is judged nor keeps a verdict.
import { LRUCache } from 'lru-cache'
import { type DistributionEvidence, distributionEvidence, noDistribution } from '../../annotate/spam-distribution.ts'
import { type NameEvidence, nameEvidence, type VerifiedNames, verifiedNamesOf } from '../../annotate/spam-names.ts'
import {
  type Judgement,
  judgeSpam,
  noStateEvidence,
  rulesVersion,
  type SpamEvidence,
  type StateEvidence,
} from '../../annotate/spam-rules.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import type { EvmMetrics } from '../../metrics.ts'
import { type Address, type Block, type ChainId, parseAddress, type TransferFacts } from '../../model.ts'
import type { ContractFacts, ContractReading } from '../../store/annotation-store.ts'
import type { Store } from '../../store/store.ts'
import { type StoredTransfer, transfersOfPage, unpackTransfer } from '../../store/transfer-payload.ts'
import { createdContractDigits } from '../decode/activity.ts'
import type { RpcBlock, RpcCall, RpcPort, RpcTransaction } from '../rpc/port.ts'
import type { CallBudget, ContractPort, SelfDescription } from './contract-reader.ts'
import { checkHolders } from './holder-check.ts'

export type ContractJudgeOptions = {
  chain: { id: ChainId; name: string }
  store: Store
  rpc: RpcPort
  budget: CallBudget
  metrics: EvmMetrics
  /** Whether endpoints failed and are left alone for now. */
  endpointsRest: () => boolean
  /** Told what a verdict took of the thread, apart from waiting for nodes. */
  worked: (ms: number) => void
}

const verifiedNamesAgeMs = 60_000
/** Below this, nobody is asked whether the holders are true: the answer could not change the verdict of an ordinary contract. */
const suspiciousScore = 0.2
const hintsMax = 10_000
const askedMax = 10_000

export class ContractJudge {
  readonly #options: ContractJudgeOptions
  /** What contracts said of their holders, and of how many transfers. */
  readonly #asked = new LRUCache<Address, { state: StateEvidence; transfers: number }>({ max: askedMax })
  /** Where contracts were found to begin. */
  readonly #creations = new LRUCache<Address, CreationHint>({ max: hintsMax })
  readonly #creationsTried = new LRUCache<Address, string>({ max: hintsMax })
  #verified: { names: VerifiedNames; atMs: number } | undefined

  constructor(options: ContractJudgeOptions) {
    this.#options = options
  }

  /** The block in which a contract was found to be created. */
  created(contract: Address, block: number): void {
    this.#creations.set(contract, { block })
  }

  /** Undefined where there is nothing to say of it: no rows, and nothing read. */
  async judge(
    contract: Address,
    { before, said }: { before: ContractFacts | undefined; said: SelfDescription | undefined },
    signal: AbortSignal,
  ): Promise<ContractFacts | undefined> {
    const { store, chain, metrics } = this.#options
    const startedMs = performance.now()
    const sample = await sampleContract(store, chain.id, contract)
    const distribution =
      sample === undefined
        ? noDistribution
        : distributionEvidence([...sample.newest, ...sample.oldest], sample.head.timestamp)
    this.#options.worked(performance.now() - startedMs)
    const reading = await this.#reading(contract, before?.reading, said, signal)
    const named = said === undefined ? { name: before?.name, symbol: before?.symbol } : said
    const facts = {
      ...{ chain: chain.id, contract, name: named.name, symbol: named.symbol },
      ...(reading === undefined ? {} : { reading }),
    }
    if (sample === undefined) {
      // Rows that were taken back take their verdict with them; of an address that is no contract there is nothing to keep.
      const isNothing = named.name === undefined && named.symbol === undefined && reading?.interfaces.length === 0
      return before === undefined && (said === undefined || isNothing) ? undefined : { ...facts, possibleSpam: false }
    }
    const evidence = { ...(await this.#nameEvidence(contract, named)), ...distribution }
    const { score, possibleSpam, reasons } = await this.#weigh(contract, { evidence, sample, reading }, signal)
    metrics.contractsJudged.inc({ chain: chain.name, verdict: possibleSpam ? 'spam' : 'clean' })
    const { basis, transfers } = sample
    const verdict = { rulesVersion, score, reasons, basis, transfers, judgedAtMs: Date.now() }
    return { ...facts, possibleSpam, verdict }
  }

  /** Asks the contract about its holders where the rest of the evidence makes it look suspicious. */
  async #weigh(
    contract: Address,
    seen: {
      evidence: Omit<SpamEvidence, keyof StateEvidence>
      sample: ContractSample
      reading: ContractReading | undefined
    },
    signal: AbortSignal,
  ): Promise<Judgement> {
    const alone = judgeSpam({ ...seen.evidence, ...noStateEvidence })
    if (alone.possibleSpam || !isSuspicious(alone, seen.evidence)) return alone
    return judgeSpam({ ...seen.evidence, ...(await this.#stateEvidence(contract, seen, signal)) })
  }

  async #stateEvidence(
    contract: Address,
    { sample, reading }: { sample: ContractSample; reading: ContractReading | undefined },
    signal: AbortSignal,
  ): Promise<StateEvidence> {
    const { store, chain, rpc, budget, metrics } = this.#options
    const asked = this.#asked.get(contract)
    if (asked !== undefined && !hasGrown(asked.transfers, sample.transfers)) return asked.state
    if (reading === undefined || this.#options.endpointsRest()) return noStateEvidence
    const { newest } = sample
    const oldestBlock = newest.at(-1)?.block ?? 0
    const covered = (await store.contractCoverage(chain.id, contract)).find(
      ({ from, to }) => from <= oldestBlock && oldestBlock <= to,
    )
    const block = Math.min(covered?.to ?? -1, sample.head.number)
    if (block < (newest[0]?.block ?? 0)) return noStateEvidence
    try {
      const question = { contract, rows: newest, interfaces: reading.interfaces, block }
      const state = await checkHolders(question, { rpc, budget, signal })
      this.#asked.set(contract, { state, transfers: sample.transfers })
      return state
    } catch (error) {
      if (signal.aborted || !(error instanceof AlmanacError)) throw error
      // A node without this state, or none at all: the next change or round asks again.
      metrics.contractReadings.inc({ chain: chain.name, outcome: 'failed' })
      return noStateEvidence
    }
  }

  async #reading(
    contract: Address,
    before: ContractReading | undefined,
    said: SelfDescription | undefined,
    signal: AbortSignal,
  ): Promise<ContractReading | undefined> {
    if (before === undefined && said === undefined) return undefined
    const creation = before?.createdBlock === undefined ? await this.#creation(contract, signal) : {}
    return {
      interfaces: said?.interfaces ?? before?.interfaces ?? [],
      ...(before?.deployer === undefined ? {} : { deployer: before.deployer }),
      ...(before?.createdBlock === undefined ? {} : { createdBlock: before.createdBlock }),
      ...creation,
      readAtMs: said === undefined ? (before?.readAtMs ?? Date.now()) : Date.now(),
    }
  }

  /**
   * The first transaction that a wholly indexed chain knows of a contract is the one that created it, or none is known. While
   * history is filled the first one moves, so each is tried once.
   */
  async #creation(contract: Address, signal: AbortSignal): Promise<Pick<ContractReading, 'deployer' | 'createdBlock'>> {
    const { store, chain, rpc, budget } = this.#options
    const told = this.#creations.get(contract)
    const first = (await store.activityOf(contract)).get(chain.id)?.first
    const hint = told ?? (first === undefined ? undefined : { block: first.block, transactionHash: first.hash })
    const place = `${hint?.block} ${hint?.transactionHash}`
    if (hint === undefined || this.#creationsTried.get(contract) === place) return {}
    try {
      const creation = await creationOf(contract, hint, { rpc, budget, signal })
      this.#creationsTried.set(contract, place)
      return creation ?? (told === undefined ? {} : { createdBlock: told.block })
    } catch (error) {
      if (signal.aborted || !(error instanceof AlmanacError)) throw error
      return {}
    }
  }

  /** A collection that is verified imitates nobody. */
  async #nameEvidence(contract: Address, named: Pick<ContractFacts, 'name' | 'symbol'>): Promise<NameEvidence> {
    const evidence = nameEvidence(named, await this.#verifiedNames())
    if (evidence.sameNameAsVerified + evidence.looksLikeVerified === 0) return evidence
    const marks = await this.#options.store.marksOf(this.#options.chain.id, contract)
    return marks.find(({ verified }) => verified !== undefined)?.verified === true
      ? nameEvidence(named, new Map())
      : evidence
  }

  async #verifiedNames(): Promise<VerifiedNames> {
    const nowMs = performance.now()
    if (this.#verified === undefined || nowMs - this.#verified.atMs > verifiedNamesAgeMs) {
      this.#verified = { names: verifiedNamesOf(await this.#options.store.verifiedNames()), atMs: nowMs }
    }
    return this.#verified.names
  }
}

/** Something that counts against it, or transfers that those who received them did not send for. */
function isSuspicious({ score }: Judgement, { solicitedShare, recipients }: DistributionEvidence): boolean {
  return score >= suspiciousScore || (solicitedShare <= 0.5 && recipients >= 3)
}

// The stored rows that a contract is judged on: the newest and the oldest, so that neither a busy life nor a quiet one hides how it began. It reads the
// store and decides nothing.

export type SampledRow = TransferFacts & { block: number; timestamp: number }

export type ContractSample = {
  /** Newest first, without a hole. */
  newest: readonly SampledRow[]
  oldest: readonly SampledRow[]
  /** Names the rows that there are: their number and the newest one. */
  basis: string
  transfers: number
  /** The newest block of the chain when they were read; the rows are complete up to it as far as they are indexed. */
  head: Block
}

const newestRows = 400
const oldestRows = 200
const attempts = 3

/** Undefined where nothing is stored, or the chain moves faster than it can be read. */
export async function sampleContract(
  store: Store,
  chain: ChainId,
  contract: Address,
): Promise<ContractSample | undefined> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await store.chainState(chain)
    const newest =
      transfersOfPage(await store.transferPage({ chain, contract, order: 'desc', limit: newestRows })) ?? []
    const oldest =
      newest.length < newestRows
        ? []
        : (transfersOfPage(await store.transferPage({ chain, contract, order: 'asc', limit: oldestRows })) ?? [])
    const transfers = await store.transferCount({ chain, contract })
    const after = await store.chainState(chain)
    if (before === undefined || after === undefined || newest.length === 0) return undefined
    // Rows of one moment and a head of another would make a token that just moved look like one that its contract denies.
    if (before.head.hash !== after.head.hash) continue
    const [first] = newest
    const last = newest.at(-1)!
    return {
      newest: newest.map(rowOf),
      oldest: oldest.filter(row => isBefore(row, last)).map(rowOf),
      basis: `${transfers} ${first!.block}-${first!.transactionIndex}-${first!.logIndex}-${first!.batchIndex} ${first!.blockHash.slice(2, 10)}`,
      transfers,
      head: after.head,
    }
  }
  return undefined
}

function rowOf({ payload, block, timestamp }: StoredTransfer): SampledRow {
  return { ...unpackTransfer(payload), block, timestamp }
}

function isBefore(a: StoredTransfer, b: StoredTransfer): boolean {
  return (
    (a.block - b.block ||
      a.transactionIndex - b.transactionIndex ||
      a.logIndex - b.logIndex ||
      a.batchIndex - b.batchIndex) < 0
  )
}

// Who created a contract and in which block, from the transaction that may have done it. What is found is certain: the address follows from
// the sender and its nonce. A contract that another contract created has no such transaction, and nothing is said of it.

export type Creation = { deployer: Address; createdBlock: number }

/** Where to look: a transaction, or a whole block. */
export type CreationHint = { block: number; transactionHash?: string }

export async function creationOf(
  contract: Address,
  hint: CreationHint,
  { rpc, budget, signal }: ContractPort,
): Promise<Creation | undefined> {
  const call: RpcCall =
    hint.transactionHash === undefined
      ? { method: 'eth_getBlockByNumber', params: [quantityHex(hint.block), true] }
      : { method: 'eth_getTransactionByHash', params: [hint.transactionHash] }
  await budget.take(1, signal)
  const { values } = await rpc.ask([call], { signal, idle: true })
  const answer = values[0]
  const candidates = hint.transactionHash === undefined ? ((answer as RpcBlock | null)?.transactions ?? []) : [answer]
  for (const candidate of candidates as readonly (RpcTransaction | null)[]) {
    if (typeof candidate !== 'object' || candidate === null || typeof candidate.to === 'string') continue
    const deployer = parseAddress(String(candidate.from))
    if (deployer !== undefined && `0x${createdContractDigits(candidate)}` === contract)
      return { deployer, createdBlock: hint.block }
  }
  return undefined
}

// Whether what is known of a contract now differs enough from what is stored. It writes nothing.

/** Every write makes other processes read anew, so numbers that moved a little are not worth one. */
export function isWorthWriting(before: ContractFacts | undefined, after: ContractFacts): boolean {
  if (before === undefined || before.name !== after.name || before.symbol !== after.symbol) return true
  if (before.possibleSpam !== after.possibleSpam || before.reading?.readAtMs !== after.reading?.readAtMs) return true
  if (before.reading?.createdBlock !== after.reading?.createdBlock) return true
  const [old, now] = [before.verdict, after.verdict]
  if (old?.rulesVersion !== now?.rulesVersion || old?.score !== now?.score) return true
  const names = (facts: ContractFacts) => facts.verdict?.reasons.map(({ rule }) => rule).join()
  return names(before) !== names(after) || hasGrown(old?.transfers ?? 0, now?.transfers ?? 0)
}

/** By a tenth or more, or has shrunk as much. */
export function hasGrown(before: number, after: number): boolean {
  return !(Math.abs(after - before) * 10 <= before)
}
