// Finds out what the contracts of one chain are: reads their names once, judges them by the spam rules when their rows changed, and keeps both. It
// works beside the index and behind it: in small steps, with what calls are left, and never within a commit.
//
// A verdict is a function of stored rows, so it follows blocks that arrive and blocks that are taken back without counters of its own. Whatever
// was missed (a crash between a commit and its verdict, a new version of the rules, time that passed) is found by a round over all contracts.
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
import { AlmanacError, messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Address, ChainId } from '../../model.ts'
import { pause } from '../../pause.ts'
import type { ContractFacts, ContractReading, SpamVerdict } from '../../store/contract-facts-store.ts'
import type { Store } from '../../store/store.ts'
import type { EvmMetrics } from '../metrics.ts'
import type { RpcPort } from '../rpc/port.ts'
import type { CallBudget } from './call-budget.ts'
import { ContractQueue } from './contract-queue.ts'
import { readContracts, type SaidOfItself, saidNothing } from './contract-reader.ts'
import { type ContractSample, sampleContract } from './contract-sample.ts'
import { type CreationHint, creationOf } from './creation.ts'
import { checkHolders } from './holder-check.ts'

export type ContractAnnotatorOptions = {
  chain: { id: ChainId; name: string }
  store: Store
  rpc: RpcPort
  budget: CallBudget
  metrics: EvmMetrics
  log: Log
  pace?: Partial<AnnotatorPace>
}

export type AnnotatorPace = {
  /** How long it rests for each millisecond of work, so that the index keeps the rest of its thread. */
  restPerWork: number
  /** The same while history is filled. */
  restPerWorkFilling: number
  /** How often all contracts are looked at. */
  roundEveryMs: number
  /** A name may change behind a proxy: it is read again when the contract changes and this time has passed. */
  readingAgeMsMax: number
  retryDelayMs: { first: number; max: number }
}

const usualPace: AnnotatorPace = {
  restPerWork: 20,
  restPerWorkFilling: 150,
  roundEveryMs: 6 * 3_600_000,
  readingAgeMsMax: 7 * 86_400_000,
  retryDelayMs: { first: 1_000, max: 300_000 },
}

const contractsAtOnce = 16
const contractsPerRoundStep = 64
const restMsMax = 4_000
const idleMs = 1_000
const verifiedNamesAgeMs = 60_000
const attemptsMax = 3
/** Below this, nobody is asked whether the holders are true: the answer could not change the verdict of an ordinary contract. */
const suspiciousScore = 0.2
const hintsMax = 10_000
const askedMax = 10_000

export class ContractAnnotator {
  readonly #options: ContractAnnotatorOptions
  readonly #pace: AnnotatorPace
  readonly #queue = new ContractQueue()
  readonly #stopping = new AbortController()
  /** Who waits for the verdict on a contract. */
  readonly #waiting = new Map<Address, (() => void)[]>()
  /** How often a contract took too long. */
  readonly #slow = new Map<Address, number>()
  /** What contracts said of their holders, and of how many transfers. */
  readonly #asked = new LRUCache<Address, { state: StateEvidence; transfers: number }>({ max: askedMax })
  /** Where contracts were found to begin. */
  readonly #creations = new LRUCache<Address, CreationHint>({ max: hintsMax })
  readonly #creationsTried = new LRUCache<Address, string>({ max: hintsMax })
  #verified: { names: VerifiedNames; atMs: number } | undefined
  #running: Promise<void> = Promise.resolve()
  #wake: () => void = () => {}
  #round: { after: Address | undefined } | undefined = { after: undefined }
  #roundEndedMs = 0
  #endpointsRestUntilMs = 0
  #endpointsRestMs: number

  constructor(options: ContractAnnotatorOptions) {
    this.#options = options
    this.#pace = { ...usualPace, ...options.pace }
    this.#endpointsRestMs = this.#pace.retryDelayMs.first
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    await this.#running
    for (const contract of this.#waiting.keys()) this.#answer(contract)
  }

  /** The rows of these contracts changed. Cheap: it only remembers. */
  changed(contracts: Iterable<Address>): void {
    for (const contract of contracts) this.#queue.change(contract)
    this.#options.metrics.contractsWaiting.set({ chain: this.#options.chain.name }, this.#queue.length)
    this.#wake()
  }

  /** The block in which a contract was found to be created. */
  created(contract: Address, block: number): void {
    this.#creations.set(contract, { block })
    this.changed([contract])
  }

  /** History is being filled: that comes first. */
  historyBegan(): void {
    this.#filling = true
  }

  /** History is whole: what was judged on parts of it is looked at again. */
  historyEnded(): void {
    this.#filling = false
    this.#round = { after: undefined }
    this.#wake()
  }

  /** Resolves when the contract was looked at, or the time is over. */
  async ensure(contract: Address, waitMs: number): Promise<void> {
    if (this.#stopping.signal.aborted || !this.#queue.ask(contract)) return
    const over = new AbortController()
    const judged = new Promise<void>(resolve => {
      this.#waiting.set(contract, [...(this.#waiting.get(contract) ?? []), resolve])
    })
    this.#wake()
    await Promise.race([judged, pause(waitMs, over.signal)])
    over.abort()
  }

  /** Resolves when nothing is left to do but wait for changes: for tests and benchmarks. */
  async settled(): Promise<void> {
    while (!this.#stopping.signal.aborted && (this.#queue.length > 0 || this.#round !== undefined || this.#busy))
      await pause(10, this.#stopping.signal)
  }

  #busy = false
  #filling = true
  /** What the step at hand took of the thread, apart from waiting for nodes. */
  #workMs = 0

  async #run(signal: AbortSignal): Promise<void> {
    let delayMs = this.#pace.retryDelayMs.first
    while (!signal.aborted) {
      this.#workMs = 0
      this.#busy = true
      try {
        const worked = await this.#step(signal)
        delayMs = this.#pace.retryDelayMs.first
        this.#busy = false
        if (!worked) await this.#sleep(idleMs, signal)
        else if (!this.#queue.hasAsked) await pause(Math.min(restMsMax, this.#workMs * this.#restPerWork), signal)
      } catch (error) {
        this.#busy = false
        if (signal.aborted) return
        const { log, chain } = this.#options
        if (!(error instanceof AlmanacError)) log.error({ err: error, chain: chain.name }, 'Judging contracts failed.')
        await pause(delayMs, signal)
        delayMs = Math.min(delayMs * 2, this.#pace.retryDelayMs.max)
      }
    }
  }

  /** False where there is nothing to do. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const { metrics, chain } = this.#options
    const taken = this.#queue.take(contractsAtOnce)
    metrics.contractsWaiting.set({ chain: chain.name }, this.#queue.length)
    if (taken.length === 0) return await this.#roundStep()
    try {
      await this.#annotate(taken, signal)
    } catch (error) {
      for (const contract of taken) this.#queue.change(contract)
      throw error
    } finally {
      for (const contract of taken) this.#answer(contract)
    }
    return true
  }

  /** Puts the next contracts into the queue that a verdict is due for; a round goes over all of them. */
  async #roundStep(): Promise<boolean> {
    const { store, chain } = this.#options
    if (this.#round === undefined) {
      if (performance.now() - this.#roundEndedMs < this.#pace.roundEveryMs) return false
      this.#round = { after: undefined }
    }
    const contracts = await store.contractsOf(chain.id, this.#round.after, contractsPerRoundStep)
    for (const contract of contracts) this.#queue.change(contract)
    this.#round = contracts.length < contractsPerRoundStep ? undefined : { after: contracts.at(-1) }
    if (this.#round === undefined) this.#roundEndedMs = performance.now()
    return contracts.length > 0
  }

  async #annotate(contracts: readonly Address[], signal: AbortSignal): Promise<void> {
    const { store, chain } = this.#options
    const known = new Map<Address, ContractFacts | undefined>()
    for (const contract of contracts) known.set(contract, await store.contractFacts(chain.id, contract))
    const unread = contracts.filter(contract => this.#needsReading(known.get(contract)))
    const said: ReadonlyMap<Address, SaidOfItself> = unread.length === 0 ? new Map() : await this.#read(unread, signal)
    const written: ContractFacts[] = []
    for (const contract of contracts) {
      const before = known.get(contract)
      const after = await this.#judge(contract, before, said.get(contract), signal)
      if (after !== undefined && isWorthWriting(before, after)) written.push(after)
    }
    if (written.length > 0) await store.putContractFacts(written)
  }

  #needsReading(facts: ContractFacts | undefined): boolean {
    if (performance.now() < this.#endpointsRestUntilMs) return false
    return facts?.reading === undefined || Date.now() - facts.reading.readAtMs > this.#pace.readingAgeMsMax
  }

  /** What could be read. Where endpoints fail, the contracts are judged without it and come again. */
  async #read(contracts: readonly Address[], signal: AbortSignal): Promise<ReadonlyMap<Address, SaidOfItself>> {
    const { rpc, budget, metrics, chain, log } = this.#options
    try {
      const { said, slow } = await readContracts(contracts, { rpc, budget, signal })
      this.#endpointsRestMs = this.#pace.retryDelayMs.first
      metrics.contractReadings.inc({ chain: chain.name, outcome: 'read' }, said.size)
      for (const contract of slow) if (this.#isTooSlow(contract)) said.set(contract, saidNothing)
      this.#comeAgain(
        slow.filter(contract => !said.has(contract)),
        this.#pace.retryDelayMs.first,
        signal,
      )
      return said
    } catch (error) {
      if (signal.aborted || !(error instanceof AlmanacError)) throw error
      metrics.contractReadings.inc({ chain: chain.name, outcome: 'failed' }, contracts.length)
      log.debug({ chain: chain.name }, `Contracts could not be read: ${messageOf(error)}`)
      // The endpoints are left alone for a while, later for longer.
      const restMs = this.#endpointsRestMs
      this.#endpointsRestUntilMs = performance.now() + restMs
      this.#endpointsRestMs = Math.min(restMs * 2, this.#pace.retryDelayMs.max)
      this.#comeAgain(contracts, restMs, signal)
      return new Map()
    }
  }

  /** After some attempts a contract that never answers in time has said nothing. */
  #isTooSlow(contract: Address): boolean {
    const attempts = (this.#slow.get(contract) ?? 0) + 1
    if (attempts < attemptsMax) this.#slow.set(contract, attempts)
    else this.#slow.delete(contract)
    this.#options.metrics.contractReadings.inc({ chain: this.#options.chain.name, outcome: 'slow' })
    return attempts >= attemptsMax
  }

  #comeAgain(contracts: readonly Address[], afterMs: number, signal: AbortSignal): void {
    if (contracts.length > 0) void pause(afterMs + 1, signal).then(() => this.changed(contracts))
  }

  /** Undefined where there is nothing to say of it: no rows, and nothing read. */
  async #judge(
    contract: Address,
    before: ContractFacts | undefined,
    said: SaidOfItself | undefined,
    signal: AbortSignal,
  ): Promise<ContractFacts | undefined> {
    const { store, chain, metrics } = this.#options
    const startedMs = performance.now()
    const sample = await sampleContract(store, chain.id, contract)
    const distribution =
      sample === undefined
        ? noDistribution
        : distributionEvidence([...sample.newest, ...sample.oldest], sample.head.timestamp)
    this.#workMs += performance.now() - startedMs
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
    const verdict = { rulesVersion, score, reasons, basis: sample.basis, judgedAtMs: Date.now() }
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
    if (reading === undefined || performance.now() < this.#endpointsRestUntilMs) return noStateEvidence
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
    said: SaidOfItself | undefined,
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

  get #restPerWork(): number {
    return this.#filling ? this.#pace.restPerWorkFilling : this.#pace.restPerWork
  }

  #answer(contract: Address): void {
    const waiting = this.#waiting.get(contract)
    this.#waiting.delete(contract)
    for (const resolve of waiting ?? []) resolve()
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    return pause(ms, AbortSignal.any([signal, woken.signal]))
  }
}

/** Something that counts against it, or transfers that those who received them did not send for. */
function isSuspicious({ score }: Judgement, { solicitedShare, recipients }: DistributionEvidence): boolean {
  return score >= suspiciousScore || (solicitedShare <= 0.5 && recipients >= 3)
}

/** Every write makes other processes read anew, so numbers that moved a little are not worth one. */
function isWorthWriting(before: ContractFacts | undefined, after: ContractFacts): boolean {
  if (before === undefined || before.name !== after.name || before.symbol !== after.symbol) return true
  if (before.possibleSpam !== after.possibleSpam || before.reading?.readAtMs !== after.reading?.readAtMs) return true
  if (before.reading?.createdBlock !== after.reading?.createdBlock) return true
  const [old, now] = [before.verdict, after.verdict]
  if (old?.rulesVersion !== now?.rulesVersion || old?.score !== now?.score) return true
  const names = (facts: ContractFacts) => facts.verdict?.reasons.map(({ rule }) => rule).join()
  return names(before) !== names(after) || hasGrown(countIn(old), countIn(now))
}

/** The number of transfers that a verdict rests on. */
function countIn(verdict: SpamVerdict | undefined): number {
  return Number.parseInt(verdict?.basis ?? '0', 10)
}

/** By a tenth or more, or has shrunk as much. */
function hasGrown(before: number, after: number): boolean {
  return !(Math.abs(after - before) * 10 <= before)
}
