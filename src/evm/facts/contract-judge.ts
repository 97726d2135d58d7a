// Judges one contract by the spam rules: gathers evidence from stored rows, its names and, if those look suspicious,
// the contract itself; of a token from its names alone. It neither decides when a contract is judged nor stores a
// verdict.
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
import { atMost } from '../../at-most.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import { type Ledger, ledgerOf } from '../../ledgers.ts'
import type { EvmMetrics } from '../../metrics.ts'
import {
  type Address,
  type Block,
  type ChainId,
  comparePositions,
  parseAddress,
  type TransferFacts,
} from '../../model.ts'
import type { ContractFacts, ContractReading } from '../../store/annotation-store.ts'
import type { Store } from '../../store/store.ts'
import { type StoredTransfer, transfersOfPage, unpackTransfer } from '../../store/transfer-payload.ts'
import { createdContractDigits } from '../decode/activity.ts'
import type { RateBudget } from '../rate-budget.ts'
import type { RpcBlock, RpcCall, RpcTransaction } from '../rpc/port.ts'
import type { ContractPort, SelfDescription } from './contract-reader.ts'
import { checkHolders } from './holder-check.ts'

export type ContractJudgeOptions = {
  chain: { id: ChainId; name: string }
  store: Store
  budget: RateBudget
  metrics: EvmMetrics
  /** Whether endpoints failed and get a rest. */
  endpointsRest: () => boolean
  /** Called with the thread time of a verdict, without waiting for nodes. */
  worked: (ms: number) => void
}

/** Through which port endpoints are asked, and so who pays for it. */
export type Asking = Pick<ContractPort, 'rpc' | 'signal'>

const verifiedNamesAgeMs = 60_000
/** Below this, holders are not checked: the answer could not change the verdict on an ordinary contract. */
const suspiciousScore = 0.2
const hintsMax = 10_000
const askedMax = 10_000

export class ContractJudge {
  readonly #options: ContractJudgeOptions
  /** Marks and the activity of wallets are of the chain, whichever ledger is judged. */
  readonly #ledger: { chain: ChainId; ledger: Ledger }
  /** What contracts said of their holders, and at how many transfers. */
  readonly #asked = new LRUCache<Address, { state: StateEvidence; transfers: number }>(atMost(askedMax))
  /** Where contracts were created. */
  readonly #creations = new LRUCache<Address, CreationHint>(atMost(hintsMax))
  readonly #creationsTried = new LRUCache<Address, string>(atMost(hintsMax))
  #verified: { names: VerifiedNames; atMs: number } | undefined

  constructor(options: ContractJudgeOptions) {
    this.#options = options
    this.#ledger = ledgerOf(options.chain.id)
  }

  /** Notes the block in which a contract was created. */
  created(contract: Address, block: number): void {
    this.#creations.set(contract, { block })
  }

  /** Undefined if nothing is known: no rows, and nothing read. */
  async judge(
    contract: Address,
    { before, said }: { before: ContractFacts | undefined; said: SelfDescription | undefined },
    asking: Asking,
  ): Promise<ContractFacts | undefined> {
    const { store, chain, metrics } = this.#options
    const startedMs = performance.now()
    const sample = await sampleContract(store, chain.id, contract)
    const distribution =
      sample === undefined || this.#ledger.ledger === 'erc20'
        ? noDistribution
        : distributionEvidence([...sample.newest, ...sample.oldest], sample.head.timestamp)
    this.#options.worked(performance.now() - startedMs)
    const reading = await this.#reading(contract, before?.reading, said, asking)
    const named = said === undefined ? { name: before?.name, symbol: before?.symbol } : said
    const identity = { chain: chain.id, contract, name: named.name, symbol: named.symbol }
    const facts = { ...identity, ...(reading === undefined ? {} : { reading }) }
    if (sample === undefined) {
      // Without rows there is no verdict. An address that is not a contract has nothing worth storing.
      const isNothing = named.name === undefined && named.symbol === undefined && reading?.interfaces.length === 0
      return before === undefined && (said === undefined || isNothing) ? undefined : { ...facts, possibleSpam: false }
    }
    const evidence = { ...(await this.#nameEvidence(contract, named)), ...distribution }
    const { score, possibleSpam, reasons } = await this.#weigh(contract, { evidence, sample, reading }, asking)
    metrics.contractsJudged.inc({ chain: chain.name, verdict: possibleSpam ? 'spam' : 'clean' })
    const { basis, transfers } = sample
    const verdict = { rulesVersion, score, reasons, basis, transfers, judgedAtMs: Date.now() }
    return { ...facts, possibleSpam, verdict }
  }

  /** Asks the contract about its holders if the rest of the evidence looks suspicious. */
  async #weigh(
    contract: Address,
    seen: Seen & { evidence: Omit<SpamEvidence, keyof StateEvidence> },
    asking: Asking,
  ): Promise<Judgement> {
    const alone = judgeSpam({ ...seen.evidence, ...noStateEvidence })
    if (this.#ledger.ledger === 'erc20' || alone.possibleSpam || !isSuspicious(alone, seen.evidence)) return alone
    return judgeSpam({ ...seen.evidence, ...(await this.#stateEvidence(contract, seen, asking)) })
  }

  async #stateEvidence(contract: Address, { sample, reading }: Seen, asking: Asking): Promise<StateEvidence> {
    const { store, chain, budget, metrics } = this.#options
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
      const state = await checkHolders(question, { ...asking, budget })
      this.#asked.set(contract, { state, transfers: sample.transfers })
      return state
    } catch (error) {
      if (asking.signal.aborted || !(error instanceof AlmanacError)) throw error
      // No node answered, or none has this state: the next change or round asks again.
      metrics.contractReadings.inc({ chain: chain.name, outcome: 'failed' })
      return noStateEvidence
    }
  }

  async #reading(
    contract: Address,
    before: ContractReading | undefined,
    said: SelfDescription | undefined,
    asking: Asking,
  ): Promise<ContractReading | undefined> {
    if (before === undefined && said === undefined) return undefined
    const creation = before?.createdBlock === undefined ? await this.#creation(contract, asking) : {}
    const decimals = (said ?? before)?.decimals
    return {
      interfaces: said?.interfaces ?? before?.interfaces ?? [],
      ...(decimals === undefined ? {} : { decimals }),
      ...(before?.deployer === undefined ? {} : { deployer: before.deployer }),
      ...(before?.createdBlock === undefined ? {} : { createdBlock: before.createdBlock }),
      ...creation,
      readAtMs: said === undefined ? (before?.readAtMs ?? Date.now()) : Date.now(),
    }
  }

  /**
   * On a chain that is indexed in full, a contract's first transaction created it, or none did. While history is filled
   * the first one moves, so each is tried once.
   */
  async #creation(contract: Address, asking: Asking): Promise<Pick<ContractReading, 'deployer' | 'createdBlock'>> {
    const { store, budget } = this.#options
    const noted = this.#creations.get(contract)
    const first = (await store.activityOf(contract)).get(this.#ledger.chain)?.first
    const hint = noted ?? (first === undefined ? undefined : { block: first.block, transactionHash: first.hash })
    const place = `${hint?.block} ${hint?.transactionHash}`
    if (hint === undefined || this.#creationsTried.get(contract) === place) return {}
    try {
      const creation = await creationOf(contract, hint, { ...asking, budget })
      this.#creationsTried.set(contract, place)
      return creation ?? (noted === undefined ? {} : { createdBlock: noted.block })
    } catch (error) {
      if (asking.signal.aborted || !(error instanceof AlmanacError)) throw error
      return {}
    }
  }

  /** A verified collection does not imitate another. */
  async #nameEvidence(contract: Address, named: Pick<ContractFacts, 'name' | 'symbol'>): Promise<NameEvidence> {
    const nowMs = performance.now()
    if (this.#verified === undefined || nowMs - this.#verified.atMs > verifiedNamesAgeMs)
      this.#verified = { names: verifiedNamesOf(await this.#options.store.verifiedNames()), atMs: nowMs }
    const evidence = nameEvidence(named, this.#verified.names)
    if (evidence.sameNameAsVerified + evidence.looksLikeVerified === 0) return evidence
    const { marks } = await this.#options.store.annotationsOf(this.#ledger.chain, contract)
    return marks.find(({ verified }) => verified !== undefined)?.verified === true
      ? nameEvidence(named, new Map())
      : evidence
  }
}

/** Something counts against it, or most recipients did not send the transaction. */
function isSuspicious({ score }: Judgement, { solicitedShare, recipients }: DistributionEvidence): boolean {
  return score >= suspiciousScore || (solicitedShare <= 0.5 && recipients >= 3)
}

type SampledRow = TransferFacts & { block: number; timestamp: number }

/** The rows that a contract is judged on: the newest and the oldest, so that a busy life does not hide how it began. */
type ContractSample = {
  /** Newest first, without a gap. */
  newest: readonly SampledRow[]
  oldest: readonly SampledRow[]
  /** Identifies the rows: their number and the newest one. */
  basis: string
  transfers: number
  /** The chain's newest block when they were read: indexed rows are complete up to it. */
  head: Block
}

type Seen = { sample: ContractSample; reading: ContractReading | undefined }

const newestRows = 400
const oldestRows = 200
const attempts = 3

/** Undefined if nothing is stored, or the chain moves faster than it can be read. */
async function sampleContract(store: Store, chain: ChainId, contract: Address): Promise<ContractSample | undefined> {
  const page = async (order: 'asc' | 'desc', limit: number): Promise<StoredTransfer[]> =>
    transfersOfPage(await store.transferPage({ chain, contract, order, limit })) ?? []
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await store.chainState(chain)
    const newest = await page('desc', newestRows)
    const oldest = newest.length < newestRows ? [] : await page('asc', oldestRows)
    const transfers = await store.transferCount({ chain, contract })
    const after = await store.chainState(chain)
    if (before === undefined || after === undefined || newest.length === 0) return undefined
    // Rows and head must be of one moment: else a token that just moved looks like one that its contract denies.
    if (before.head.hash !== after.head.hash) continue
    const { block, transactionIndex, logIndex, batchIndex, blockHash } = newest[0]!
    return {
      newest: newest.map(rowOf),
      oldest: oldest.filter(row => comparePositions(row, newest.at(-1)!) < 0).map(rowOf),
      basis: `${transfers} ${block}-${transactionIndex}-${logIndex}-${batchIndex} ${blockHash.slice(2, 10)}`,
      transfers,
      head: after.head,
    }
  }
  return undefined
}

function rowOf({ payload, block, timestamp }: StoredTransfer): SampledRow {
  return { ...unpackTransfer(payload), block, timestamp }
}

/** Where to look for a creation: a transaction, or a whole block. */
type CreationHint = { block: number; transactionHash?: string }

/** Certain, because the address follows from sender and nonce. Undefined if another contract created it. */
async function creationOf(
  contract: Address,
  hint: CreationHint,
  { rpc, budget, signal }: ContractPort,
): Promise<{ deployer: Address; createdBlock: number } | undefined> {
  const answerTo = async (call: RpcCall): Promise<unknown> => {
    await budget.take(1, signal)
    return (await rpc.ask([call], { signal, idle: true })).values[0]
  }
  const byHash = { method: 'eth_getTransactionByHash', params: [hint.transactionHash] }
  const known = hint.transactionHash === undefined ? null : await answerTo(byHash)
  // Many nodes find no old transaction by its hash.
  const inBlock = { method: 'eth_getBlockByNumber', params: [quantityHex(hint.block), true] }
  const candidates = known === null ? (((await answerTo(inBlock)) as RpcBlock | null)?.transactions ?? []) : [known]
  for (const candidate of candidates as readonly (RpcTransaction | null)[]) {
    if (typeof candidate !== 'object' || candidate === null || typeof candidate.to === 'string') continue
    const deployer = parseAddress(String(candidate.from))
    if (deployer !== undefined && `0x${createdContractDigits(candidate)}` === contract)
      return { deployer, createdBlock: hint.block }
  }
  return undefined
}

/** Every write makes other processes read again, so small changes are not worth one. */
export function isWorthWriting(before: ContractFacts | undefined, after: ContractFacts): boolean {
  if (before === undefined || before.name !== after.name || before.symbol !== after.symbol) return true
  if (before.possibleSpam !== after.possibleSpam || before.reading?.readAtMs !== after.reading?.readAtMs) return true
  if (before.reading?.createdBlock !== after.reading?.createdBlock) return true
  const [old, now] = [before.verdict, after.verdict]
  if (old?.rulesVersion !== now?.rulesVersion || old?.score !== now?.score) return true
  const names = (facts: ContractFacts) => facts.verdict?.reasons.map(({ rule }) => rule).join()
  return names(before) !== names(after) || hasGrown(old?.transfers ?? 0, now?.transfers ?? 0)
}

/** Whether it changed by more than a tenth. */
function hasGrown(before: number, after: number): boolean {
  return !(Math.abs(after - before) * 10 <= before)
}
