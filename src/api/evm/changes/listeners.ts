// Who waits for changes: how many at once, in all and with one key, and until when. One look at the revision of the
// store serves all of them; it knows no changes.
import { AlmanacError } from '../../../errors.ts'

/** A file has no other way to tell what another thread commits, and a look takes some microseconds. */
const lookMs = 100
const retryAfterMs = 10_000

const listenersMax = 256
const ofKeyMax = 64

export class Listeners {
  readonly #revisionNow: () => number
  readonly #byKey = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  #open = 0
  #timer: NodeJS.Timeout | undefined
  #revision = 0
  #isClosed = false

  /** `revision` changes after every commit. */
  constructor(revision: () => number) {
    this.#revisionNow = revision
  }

  /** Takes a place; the result gives it back, once. */
  open(keyId: string): () => void {
    if (this.#isClosed) throw new AlmanacError('interrupted', 'The service is stopping')
    if ((this.#byKey.get(keyId) ?? 0) >= ofKeyMax)
      throw new AlmanacError('rate_limited', `This key listens to changes ${ofKeyMax} times already`, {
        ...{ retryable: true, retryAfterMs, details: { limit: `${ofKeyMax} listeners at once` } },
      })
    if (this.#open >= listenersMax)
      throw new AlmanacError('overloaded', `${listenersMax} clients listen to changes already`, {
        ...{ retryable: true, retryAfterMs },
      })
    this.#count(keyId, 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#count(keyId, -1)
      isOpen = false
    }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Until a commit after `revision`, the end of the time, of the client or of the service. */
  async wait(revision: number, waitMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#isClosed || signal?.aborted || this.#revisionNow() !== revision) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    this.#waiting.add(resolve)
    if (this.#timer === undefined) this.#revision = revision
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
    await promise
    clearTimeout(timer)
    this.#waiting.delete(resolve)
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Before the servers: who waits would keep them. */
  close(): void {
    this.#isClosed = true
    this.#wakeAll()
  }

  #look(): void {
    const revision = this.#revisionNow()
    if (revision === this.#revision) return
    this.#revision = revision
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake()
  }

  #count(keyId: string, by: 1 | -1): void {
    this.#open += by
    const ofKey = (this.#byKey.get(keyId) ?? 0) + by
    if (ofKey === 0) this.#byKey.delete(keyId)
    else this.#byKey.set(keyId, ofKey)
  }
}
