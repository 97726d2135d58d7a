// Asks other processes for work through the store, and waits for it. One question to the store stands for all who wait.
import { setTimeout as delay } from 'node:timers/promises'
import type { WorkStore } from '../store/work-store.ts'
import { type Outcome, readOutcome } from './outcome.ts'
import { nameOf, type Subject, topicOf } from './subjects.ts'

const pollMs = { first: 10, max: 100 }
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
      for (let restMs = pollMs.first; waiter.outcome === undefined; restMs = Math.min(restMs * growth, pollMs.max)) {
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
