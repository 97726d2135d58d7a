// Reads the names of a chain's contracts once, judges contracts by the spam rules when their rows change, and stores
// both. It yields to the index: it works in small steps, within a small call budget, and never within a commit.
//
// A verdict is a function of stored rows, so it follows blocks that arrive and blocks that are taken back without
// counters. A round over all contracts finds what was missed: a crash before a verdict, a new version of the rules,
// time that passed.
import { pause } from '../../abort.ts'
import { AlmanacError, isUsedUp, messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { EvmMetrics } from '../../metrics.ts'
import type { Address, ChainId } from '../../model.ts'
import { allRequests } from '../../rpc/daily-budget.ts'
import type { ContractFacts } from '../../store/annotation-store.ts'
import type { Store } from '../../store/store.ts'
import type { RateBudget } from '../rate-budget.ts'
import { paidBy, type RpcPort } from '../rpc/port.ts'
import { type Asking, ContractJudge, isWorthWriting } from './contract-judge.ts'
import { noDescription, readContracts, type SelfDescription } from './contract-reader.ts'

export type ContractAnnotatorOptions = {
  chain: { id: ChainId; name: string }
  store: Store
  rpc: RpcPort
  budget: RateBudget
  metrics: EvmMetrics
  log: Log
  pace?: Partial<AnnotatorPace>
}

export type AnnotatorPace = {
  /** Milliseconds of rest per millisecond of work: the index needs the thread. */
  restPerWork: number
  /** The same while history is filled. */
  restPerWorkFilling: number
  /** How often a round over all contracts begins. */
  roundEveryMs: number
  /** A proxy may change its name: it is read again when the contract changes after this time. */
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
const attemptsMax = 3

export class ContractAnnotator {
  readonly #options: ContractAnnotatorOptions
  readonly #pace: AnnotatorPace
  readonly #judge: ContractJudge
  readonly #queue = new ContractQueue()
  readonly #stopping = new AbortController()
  /** Callers that wait for the verdict on a contract. */
  readonly #waiting = new Map<Address, (() => void)[]>()
  /** How often reading a contract took too long. */
  readonly #slow = new Map<Address, number>()
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
    this.#judge = new ContractJudge({
      ...options,
      endpointsRest: () => this.#endpointsRest(),
      worked: ms => {
        this.#workMs += ms
      },
    })
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

  /** Queues contracts whose rows changed. */
  changed(contracts: Iterable<Address>): void {
    for (const contract of contracts) this.#queue.change(contract)
    this.#options.metrics.contractsWaiting.set({ chain: this.#options.chain.name }, this.#queue.length)
    this.#wake()
  }

  /** Notes the block in which a contract was created. */
  created(contract: Address, block: number): void {
    this.#judge.created(contract, block)
    this.changed([contract])
  }

  /** Slows down while history is filled. */
  historyBegan(): void {
    this.#filling = true
  }

  /** Starts a round: verdicts may rest on parts of the history. */
  historyEnded(): void {
    this.#filling = false
    this.#round = { after: undefined }
    this.#wake()
  }

  /** Resolves when the contract was judged, or the time is over. */
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

  #filling = true
  /** Thread time of the current step, without waiting for nodes. */
  #workMs = 0

  async #run(signal: AbortSignal): Promise<void> {
    let delayMs = this.#pace.retryDelayMs.first
    while (!signal.aborted) {
      this.#workMs = 0
      try {
        const worked = await this.#step(signal)
        delayMs = this.#pace.retryDelayMs.first
        if (!worked) await this.#sleep(signal)
        else if (!this.#queue.hasAsked) {
          const restPerWork = this.#filling ? this.#pace.restPerWorkFilling : this.#pace.restPerWork
          await pause(Math.min(restMsMax, this.#workMs * restPerWork), signal)
        }
      } catch (error) {
        if (signal.aborted) return
        const { log, chain } = this.#options
        if (!(error instanceof AlmanacError))
          log.error({ err: error, chain: chain.name }, 'Contract judging failed; retrying')
        await pause(delayMs, signal)
        delayMs = Math.min(delayMs * 2, this.#pace.retryDelayMs.max)
      }
    }
  }

  /** False if there was nothing to do. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const { metrics, chain } = this.#options
    // What no request asked for is paid for as history is.
    const rpc = this.#queue.hasAsked ? paidBy(this.#options.rpc, allRequests) : this.#options.rpc
    const taken = this.#queue.take(contractsAtOnce)
    metrics.contractsWaiting.set({ chain: chain.name }, this.#queue.length)
    if (taken.length === 0) return await this.#roundStep()
    try {
      await this.#annotate(taken, { rpc, signal })
    } catch (error) {
      for (const contract of taken) this.#queue.change(contract)
      throw error
    } finally {
      for (const contract of taken) this.#answer(contract)
    }
    return true
  }

  /** Queues the next contracts of the round. */
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

  async #annotate(contracts: readonly Address[], asking: Asking): Promise<void> {
    const { store, chain } = this.#options
    const known = new Map<Address, ContractFacts | undefined>()
    for (const contract of contracts) known.set(contract, (await store.annotationsOf(chain.id, contract)).facts)
    const needsReading = ({ reading }: Partial<ContractFacts>): boolean =>
      reading === undefined || Date.now() - reading.readAtMs > this.#pace.readingAgeMsMax
    const unread = this.#endpointsRest() ? [] : contracts.filter(contract => needsReading(known.get(contract) ?? {}))
    const said: ReadonlyMap<Address, SelfDescription> =
      unread.length === 0 ? new Map() : await this.#read(unread, asking)
    const written: ContractFacts[] = []
    for (const contract of contracts) {
      const before = known.get(contract)
      const after = await this.#judge.judge(contract, { before, said: said.get(contract) }, asking)
      if (after !== undefined && isWorthWriting(before, after)) written.push(after)
    }
    if (written.length > 0) await store.annotate({ facts: written })
  }

  #endpointsRest(): boolean {
    return performance.now() < this.#endpointsRestUntilMs
  }

  /** If endpoints fail, the contracts are judged without their names and queued again. */
  async #read(contracts: readonly Address[], asking: Asking): Promise<ReadonlyMap<Address, SelfDescription>> {
    const { budget, metrics, chain, log } = this.#options
    const { signal } = asking
    try {
      const { said, slow } = await readContracts(contracts, { ...asking, budget, chain: chain.id })
      this.#endpointsRestMs = this.#pace.retryDelayMs.first
      metrics.contractReadings.inc({ chain: chain.name, outcome: 'read' }, said.size)
      for (const contract of said.keys()) this.#slow.delete(contract)
      for (const contract of slow) if (this.#isTooSlow(contract)) said.set(contract, noDescription)
      const unread = slow.filter(contract => !said.has(contract))
      this.#queueAgain(unread, this.#pace.retryDelayMs.first, signal)
      return said
    } catch (error) {
      if (signal.aborted || !(error instanceof AlmanacError)) throw error
      metrics.contractReadings.inc({ chain: chain.name, outcome: 'failed' }, contracts.length)
      log.debug({ chain: chain.name, reason: messageOf(error) }, 'Contract reading failed; retrying')
      // Requests have used up their share of the day. The endpoints are well, and it is read in the background.
      if (isUsedUp(error)) {
        this.#queueAgain(contracts, this.#pace.retryDelayMs.first, signal)
        return new Map()
      }
      // The endpoints get a rest, each time a longer one.
      const restMs = this.#endpointsRestMs
      this.#endpointsRestUntilMs = performance.now() + restMs
      this.#endpointsRestMs = Math.min(restMs * 2, this.#pace.retryDelayMs.max)
      this.#queueAgain(contracts, restMs, signal)
      return new Map()
    }
  }

  /** After some attempts, a contract that never answers in time counts as silent. */
  #isTooSlow(contract: Address): boolean {
    const attempts = (this.#slow.get(contract) ?? 0) + 1
    if (attempts < attemptsMax) this.#slow.set(contract, attempts)
    else this.#slow.delete(contract)
    this.#options.metrics.contractReadings.inc({ chain: this.#options.chain.name, outcome: 'slow' })
    return attempts >= attemptsMax
  }

  #queueAgain(contracts: readonly Address[], afterMs: number, signal: AbortSignal): void {
    if (contracts.length > 0) void pause(afterMs + 1, signal).then(() => this.changed(contracts))
  }

  #answer(contract: Address): void {
    const waiting = this.#waiting.get(contract)
    this.#waiting.delete(contract)
    for (const resolve of waiting ?? []) resolve()
  }

  #sleep(signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    return pause(idleMs, AbortSignal.any([signal, woken.signal]))
  }
}

/** Hands out contracts that requests ask for, then those that changed last. Bounded: a round finds what it drops. */
export class ContractQueue {
  readonly #askedMax: number
  readonly #changedMax: number
  readonly #asked = new Set<Address>()
  /** Latest change last. */
  readonly #changed = new Set<Address>()
  #stack: Address[] = []

  constructor({ askedMax = 1_000, changedMax = 50_000 } = {}) {
    this.#askedMax = askedMax
    this.#changedMax = changedMax
  }

  get length(): number {
    return this.#asked.size + this.#changed.size
  }

  get hasAsked(): boolean {
    return this.#asked.size > 0
  }

  /** False if too many wait. */
  ask(contract: Address): boolean {
    if (!this.#asked.has(contract) && this.#asked.size >= this.#askedMax) return false
    this.#asked.add(contract)
    return true
  }

  change(contract: Address): void {
    if (this.#changed.has(contract)) return
    this.#changed.add(contract)
    this.#stack.push(contract)
    if (this.#stack.length > 2 * this.#changedMax) this.#forgetOldest()
  }

  /** Never both at once: a request pays for what it asks for alone. */
  take(limit: number): Address[] {
    const taken: Address[] = []
    for (const contract of this.#asked) {
      if (taken.length === limit) return taken
      this.#asked.delete(contract)
      this.#changed.delete(contract)
      taken.push(contract)
    }
    if (taken.length > 0) return taken
    while (taken.length < limit) {
      const contract = this.#stack.pop()
      if (contract === undefined) break
      if (this.#changed.delete(contract) && !taken.includes(contract)) taken.push(contract)
    }
    return taken
  }

  #forgetOldest(): void {
    for (const contract of this.#stack.slice(0, -this.#changedMax)) this.#changed.delete(contract)
    this.#stack = this.#stack.slice(-this.#changedMax)
  }
}
