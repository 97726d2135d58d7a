// Takes work that other processes asked for, as far as this one can do it, and says how it ended. What the work is, others know.
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { pause } from '../pause.ts'
import type { PortfolioFreshness } from '../query/freshen.ts'
import type { WorkRequest, WorkStore } from '../store/work-store.ts'
import { writeOutcome } from './outcome.ts'
import { type Subject, subjectOf } from './subjects.ts'

export type WorkTakerOptions = {
  store: WorkStore
  log: Log
  /** What this process can do at the moment. */
  topics: () => Promise<readonly string[]>
  /** Returns when it is done or `waitMs` have passed, whichever is first. */
  perform: (subject: Subject, waitMs: number) => Promise<PortfolioFreshness | undefined>
}

const pollMs = 25
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
      let restMs = pollMs
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
