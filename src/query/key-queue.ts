// Gives places to work in turns between API keys: each key with waiting work gets one piece before any key gets a
// second one. It knows nothing of the work.
import { AlmanacError } from '../errors.ts'

export type KeyQueueLimits = {
  /** What the work is, in words for clients. */
  of: string
  /** Pieces of work at once, in all and of one key. */
  places: number
  placesOfKey: number
  /** Pieces that wait for a place, in all and of one key. Any more are refused. */
  waiting: number
  waitingOfKey: number
  retryAfterMs: number
}

/** One piece of work: it waits for its place, has it, and gives it back. */
export type Place = {
  /** Once it has its place. */
  begun: Promise<void>
  hasBegun(): boolean
  /** Another key asks for the same piece. */
  join(keyId: string): void
  /** Leaves the queue, or gives the place back. Safe to call again. */
  end(): void
}

type Waiting = { begin: (keyId: string) => void; keys: Set<string> }

export class KeyQueue {
  readonly #limits: KeyQueueLimits
  /** The first key is next: a key that was served goes to the end. */
  readonly #queues = new Map<string, Set<Waiting>>()
  readonly #runningOf = new Map<string, number>()
  #running = 0
  #waiting = 0

  constructor(limits: KeyQueueLimits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * For one key or more: the piece begins when the first of them has its turn. Fails where too many wait already; what
   * several keys ask for does not fail for the limit of one.
   */
  ask(keyIds: readonly string[]): Place {
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const { of, waiting, waitingOfKey, retryAfterMs } = this.#limits
    let runsFor: string | undefined
    const piece: Waiting = {
      keys: new Set(),
      begin: key => {
        runsFor = key
        resolve()
      },
    }
    if (keyIds.length === 1 && (this.#queues.get(keyIds[0]!)?.size ?? 0) >= waitingOfKey)
      throw new AlmanacError('rate_limited', `This key's queue for ${of} is full (${waitingOfKey} waiting)`, {
        ...{ retryable: true, retryAfterMs, details: { limit: `${waitingOfKey} ${of} at once` } },
      })
    // A key that has nothing waiting finds a place: others may not fill the queue for it.
    const isFirst = keyIds.some(keyId => !this.#queues.has(keyId))
    if (this.#waiting >= (isFirst ? 2 * waiting : waiting))
      throw new AlmanacError('overloaded', `The queue for ${of} is full (${waiting} waiting)`, {
        ...{ retryable: true, retryAfterMs },
      })
    this.#waiting++
    for (const keyId of keyIds) this.#enqueue(piece, keyId)
    this.#beginNext()
    return {
      begun,
      hasBegun: () => runsFor !== undefined,
      join: key => {
        if (runsFor === undefined && piece.keys.size > 0) this.#enqueue(piece, key)
        this.#beginNext()
      },
      end: () => {
        if (this.#leave(piece)) return
        if (runsFor === undefined) return
        this.#count(runsFor, -1)
        runsFor = undefined
        this.#beginNext()
      },
    }
  }

  #enqueue(piece: Waiting, keyId: string): void {
    piece.keys.add(keyId)
    const queue = this.#queues.get(keyId)
    if (queue === undefined) this.#queues.set(keyId, new Set([piece]))
    else queue.add(piece)
  }

  /** False where it does not wait. */
  #leave(piece: Waiting): boolean {
    if (piece.keys.size === 0) return false
    for (const key of piece.keys) {
      const queue = this.#queues.get(key)!
      queue.delete(piece)
      if (queue.size === 0) this.#queues.delete(key)
    }
    piece.keys.clear()
    this.#waiting--
    return true
  }

  #beginNext(): void {
    const { places, placesOfKey } = this.#limits
    while (this.#running < places) {
      const next = this.#queues.entries().find(([key]) => (this.#runningOf.get(key) ?? 0) < placesOfKey)
      if (next === undefined) return
      const [key, queue] = next
      const [piece] = queue
      this.#leave(piece!)
      if (this.#queues.delete(key)) this.#queues.set(key, queue)
      this.#count(key, 1)
      piece!.begin(key)
    }
  }

  #count(keyId: string, by: 1 | -1): void {
    this.#running += by
    const ofKey = (this.#runningOf.get(keyId) ?? 0) + by
    if (ofKey > 0) this.#runningOf.set(keyId, ofKey)
    else this.#runningOf.delete(keyId)
  }
}
