// Takes work that other processes asked for, as far as this one can do it, and says how it ended. What the work is, others know.

import { setTimeout as delay } from 'node:timers/promises'
import { pause } from '../abort.ts'
import { type AlmanacError, fromPlain, messageOf, type PlainError, toPlain } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Address, ChainId, SolanaNetwork } from '../model.ts'
import type { PortfolioFreshness } from '../query/freshen.ts'
import type { WorkRequest, WorkStore } from '../store/store.ts'

export type WorkTakerOptions = {
  store: WorkStore
  log: Log
  /** What this process can do at the moment. */
  topics: () => Promise<readonly string[]>
  /** Returns when it is done or `waitMs` have passed, whichever is first. */
  perform: (subject: Subject, waitMs: number) => Promise<PortfolioFreshness | undefined>
}

const takePollMs = 25
const retryMs = 1_000
const atOnceMax = 256
/** After this time others may take it too: whoever took it may be gone. Doing it twice changes nothing. */
const holdMs = 5_000

export class WorkTaker {
  readonly #options: WorkTakerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #underWay = 0

  constructor(options: WorkTakerOptions) {
    this.#options = options
    this.#running = this.#take()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #take(): Promise<void> {
    const { store, log, topics } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let restMs = takePollMs
      try {
        const limit = atOnceMax - this.#underWay
        const own = limit > 0 ? await topics() : []
        const taken = own.length > 0 ? await store.takeWork({ topics: own, holdMs, limit }) : []
        for (const request of taken) void this.#perform(request)
      } catch (error) {
        log.debug(`Work of other processes cannot be looked for: ${messageOf(error)}`)
        restMs = retryMs
      }
      await pause(restMs, signal)
    }
  }

  async #perform({ name, waitMs }: WorkRequest): Promise<void> {
    this.#underWay += 1
    try {
      await this.#options.store.finishWork(name, await this.#outcome(name, waitMs))
    } catch (error) {
      // Whoever waits answers without it, and asks again with the next request.
      this.#options.log.debug(`The outcome of ${name} could not be told: ${messageOf(error)}`)
    } finally {
      this.#underWay -= 1
    }
  }

  async #outcome(name: string, waitMs: number): Promise<string> {
    const subject = subjectOf(name)
    if (subject === undefined) return writeOutcome({})
    try {
      return writeOutcome({ freshness: await this.#options.perform(subject, waitMs) })
    } catch (failure) {
      return writeOutcome({ failure })
    }
  }
}

// Asks other processes for work through the store, and waits for it. One question to the store stands for all who wait.

const askPollMs = { first: 10, max: 100 }
const growth = 1.3

type Waiter = { waiting: number; outcome: Outcome | undefined }

export class WorkDesk {
  readonly #store: WorkStore
  readonly #waiters = new Map<string, Waiter>()
  #looking: Promise<void> | undefined

  constructor(store: WorkStore) {
    this.#store = store
  }

  /** Undefined where nobody was done with it in time; whoever has it goes on. */
  async ask(subject: Subject, waitMs: number): Promise<Outcome | undefined> {
    const name = nameOf(subject)
    await this.#store.requestWork({ name, topic: topicOf(subject), waitMs })
    const waiter = this.#waiters.get(name) ?? { waiting: 0, outcome: undefined }
    waiter.waiting += 1
    waiter.outcome = undefined
    this.#waiters.set(name, waiter)
    const deadline = performance.now() + waitMs
    try {
      for (
        let restMs = askPollMs.first;
        waiter.outcome === undefined;
        restMs = Math.min(restMs * growth, askPollMs.max)
      ) {
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) return undefined
        await delay(Math.min(restMs, leftMs))
        await this.#look()
      }
      return waiter.outcome
    } finally {
      waiter.waiting -= 1
      if (waiter.waiting === 0) this.#waiters.delete(name)
    }
  }

  /** Those who look at the same time share one look. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const names = [...this.#waiters].filter(([, { outcome }]) => outcome === undefined).map(([name]) => name)
    if (names.length === 0) return
    for (const [name, outcome] of await this.#store.workOutcomes(names)) {
      const waiter = this.#waiters.get(name)
      if (waiter !== undefined) waiter.outcome = readOutcome(outcome)
    }
  }
}

// How work ended, as text in the store: what it answers with, or why it failed.

export type Outcome = { freshness?: PortfolioFreshness | undefined } | { error: AlmanacError }

type Written = { freshness?: PortfolioFreshness; error?: PlainError }

export function writeOutcome(outcome: { freshness?: PortfolioFreshness | undefined } | { failure: unknown }): string {
  return JSON.stringify('failure' in outcome ? { error: toPlain(outcome.failure) } : outcome)
}

export function readOutcome(text: string): Outcome {
  const { freshness, error } = JSON.parse(text) as Written
  return error === undefined ? { freshness } : { error: fromPlain(error) }
}

// What one process can ask another one for, as a name in the store and back. Nothing is asked or done here.

export type Subject =
  | { kind: 'contract'; chain: ChainId; contract: Address }
  | { kind: 'wallet'; chain: ChainId; wallet: Address }
  | { kind: 'portfolio'; network: SolanaNetwork; owner: Uint8Array }

export function evmTopic(chain: ChainId): string {
  return `evm/${chain}`
}

export function solanaTopic(network: SolanaNetwork): string {
  return `solana/${network}`
}

export function topicOf(subject: Subject): string {
  return subject.kind === 'portfolio' ? solanaTopic(subject.network) : evmTopic(subject.chain)
}

export function nameOf(subject: Subject): string {
  if (subject.kind === 'contract') return `contract/${subject.chain}/${subject.contract}`
  if (subject.kind === 'wallet') return `wallet/${subject.chain}/${subject.wallet}`
  return `portfolio/${subject.network}/${Buffer.from(subject.owner).toString('hex')}`
}

/** Undefined for a name that another version wrote. */
export function subjectOf(name: string): Subject | undefined {
  const [kind, where, what] = name.split('/') as [string, string, string]
  if (kind === 'contract') return { kind, chain: Number(where) as ChainId, contract: what as Address }
  if (kind === 'wallet') return { kind, chain: Number(where) as ChainId, wallet: what as Address }
  if (kind === 'portfolio') return { kind, network: where as SolanaNetwork, owner: Buffer.from(what, 'hex') }
  return undefined
}
