// Bounds the work under way: how much runs at once, how much waits, how long each may take. Refuses the rest at once.
import { AsyncLocalStorage } from 'node:async_hooks'
import { AlmanacError } from '../errors.ts'

export function overloaded(message: string): AlmanacError {
  return new AlmanacError('overloaded', message, { retryable: true, retryAfterMs: 1_000 })
}

/** A turn that ends sooner keeps no request waiting, however many requests it has. */
const longTurnMs = 10
const overloadShare = 0.8

/**
 * Tells overload by the turns of the event loop. Work on a file is done within the turn that asks for it, so requests
 * wait in their sockets, where no queue sees them, about as long as a turn lasts. Clients that each wait for their
 * answer before they ask again bring one request a turn: a busy service answers all of them, as long as they are no
 * more than are allowed. A burst is answered in full; once a second was spent on turns of too many requests, each turn
 * answers as many as are allowed and refuses the rest.
 */
export class TurnLoad {
  readonly #requestsMax: number
  readonly #overloadMs: number
  #turnStartedMs: number | undefined
  #requests = 0
  #countedFromMs = 0
  #longTurnsMs = 0
  #overloadedUntilMs = 0

  constructor(requestsMax: number, overloadMs = 1_000) {
    this.#requestsMax = requestsMax
    this.#overloadMs = overloadMs
  }

  /** Whether the request that arrived now has to be refused. */
  isTooMuch(nowMs: number): boolean {
    if (this.#turnStartedMs === undefined) {
      this.#turnStartedMs = nowMs
      this.#requests = 0
      setImmediate(this.#endTurn)
    }
    if (this.#requests++ < this.#requestsMax) return false
    if (nowMs > this.#overloadedUntilMs || nowMs - this.#turnStartedMs < longTurnMs) return false
    this.#overloadedUntilMs = nowMs + this.#overloadMs
    return true
  }

  readonly #endTurn = (): void => {
    const nowMs = performance.now()
    const turnMs = nowMs - this.#turnStartedMs!
    this.#turnStartedMs = undefined
    if (this.#requests > this.#requestsMax && turnMs > longTurnMs) this.#longTurnsMs += turnMs
    const countedMs = nowMs - this.#countedFromMs
    if (countedMs < this.#overloadMs) return
    if (this.#longTurnsMs > countedMs * overloadShare) this.#overloadedUntilMs = nowMs + this.#overloadMs
    this.#countedFromMs = nowMs
    this.#longTurnsMs = 0
  }
}

export type AdmissionQueueOptions = { concurrencyMax: number; queueMax: number; timeoutMs: number; onShed?: () => void }

export class AdmissionQueue {
  readonly #options: AdmissionQueueOptions
  readonly #queue = new Set<() => void>()
  /** The slot of the work that is running, and how much of that work waits for something else. */
  readonly #slots = new AsyncLocalStorage<{ waiting: number }>()
  #running = 0
  #withoutSlot = 0

  constructor(options: AdmissionQueueOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  /**
   * Waiting counts towards the time. Work that timed out keeps its slot until it ends, so the bound holds: `onLate`
   * tells it, and its result goes to `discard`.
   */
  run<Result>(
    work: () => Promise<Result>,
    { discard, onLate }: { discard?: (result: Result) => void; onLate?: (error: AlmanacError) => void } = {},
  ): Promise<Result> {
    if (this.#running >= this.#options.concurrencyMax && this.#queue.size >= this.#options.queueMax) {
      this.#options.onShed?.()
      return Promise.reject(overloaded('Too many requests are being worked on'))
    }
    return new Promise((resolve, reject) => {
      let isLate = false
      const start = () => {
        this.#running++
        Promise.try(() => this.#slots.run({ waiting: 0 }, work))
          .then(result => (isLate ? discard?.(result) : resolve(result)), reject)
          .finally(() => {
            clearTimeout(timer)
            this.#running--
            this.#startNext()
          })
      }
      const timer = setTimeout(() => {
        isLate = true
        this.#queue.delete(start)
        const error = new AlmanacError('timeout', `The request took longer than ${this.#options.timeoutMs} ms`, {
          retryable: true,
        })
        reject(error)
        onLate?.(error)
      }, this.#options.timeoutMs)
      if (this.#running < this.#options.concurrencyMax) start()
      else this.#queue.add(start)
    })
  }

  /**
   * Frees the slot of running work while it waits for something else, such as an indexer, and takes it back afterwards;
   * for a moment more may then run than allowed. At most `queueMax` may wait like this. Work that waits for several
   * things at once has one slot to free.
   */
  async withoutSlot<Result>(wait: () => Promise<Result>): Promise<Result> {
    const slot = this.#slots.getStore()
    if (slot === undefined || (slot.waiting === 0 && this.#withoutSlot >= this.#options.queueMax)) return await wait()
    if (slot.waiting++ === 0) {
      this.#withoutSlot++
      this.#running--
      this.#startNext()
    }
    try {
      return await wait()
    } finally {
      if (--slot.waiting === 0) {
        this.#withoutSlot--
        this.#running++
      }
    }
  }

  #startNext(): void {
    const [next] = this.#queue
    if (next === undefined || this.#running >= this.#options.concurrencyMax) return
    this.#queue.delete(next)
    next()
  }
}
