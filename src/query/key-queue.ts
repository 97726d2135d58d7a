// Gives places to work in turns between API keys: a key with much to do does not delay another key's first piece. It
// knows nothing of the work.
import { AlmanacError } from '../errors.ts'

export type KeyQueueLimits = {
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
  /** Another key waits for the same piece: it begins when the first of their keys has its turn. */
  join(keyId: string): void
  /** Leaves the queue, or gives the place back. Safe to call again. */
  end(): void
}

type Waiting = { begin: (keyId: string) => void; keys: Set<string> }

export class KeyQueue {
  readonly #limits: KeyQueueLimits
  readonly #queues = new Map<string, Set<Waiting>>()
  readonly #runningOf = new Map<string, number>()
  /** When keys that have work last had a turn, counted in turns. */
  readonly #servedAt = new Map<string, number>()
  #turns = 0
  #running = 0
  #waiting = 0

  constructor(limits: KeyQueueLimits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Fails where too many wait already. */
  ask(keyId: string): Place {
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const { waiting, waitingOfKey, retryAfterMs } = this.#limits
    let runsFor: string | undefined
    const piece: Waiting = {
      keys: new Set(),
      begin: key => {
        runsFor = key
        resolve()
      },
    }
    if ((this.#queues.get(keyId)?.size ?? 0) >= waitingOfKey)
      throw new AlmanacError('rate_limited', `This key waits for ${waitingOfKey} large lists or counts already`, {
        ...{ retryable: true, retryAfterMs, details: { limit: `${waitingOfKey} lists or counts at once` } },
      })
    if (this.#waiting >= waiting)
      throw new AlmanacError('overloaded', `${waiting} lists and counts wait to be made already`, {
        ...{ retryable: true, retryAfterMs },
      })
    this.#waiting++
    this.#enqueue(piece, keyId)
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
      this.#forgetIfIdle(key)
    }
    piece.keys.clear()
    this.#waiting--
    return true
  }

  #beginNext(): void {
    const { places, placesOfKey } = this.#limits
    while (this.#running < places) {
      // Whose last turn is longest ago: one that had none comes first.
      let next: { key: string; servedAt: number } | undefined
      for (const key of this.#queues.keys()) {
        const servedAt = this.#servedAt.get(key) ?? 0
        const mayRun = (this.#runningOf.get(key) ?? 0) < placesOfKey
        if (mayRun && servedAt < (next?.servedAt ?? Number.POSITIVE_INFINITY)) next = { key, servedAt }
      }
      if (next === undefined) return
      const [piece] = this.#queues.get(next.key)!
      this.#leave(piece!)
      this.#servedAt.set(next.key, ++this.#turns)
      this.#count(next.key, 1)
      piece!.begin(next.key)
    }
  }

  #forgetIfIdle(keyId: string): void {
    if (!this.#queues.has(keyId) && !this.#runningOf.has(keyId)) this.#servedAt.delete(keyId)
  }

  #count(keyId: string, by: 1 | -1): void {
    this.#running += by
    const ofKey = (this.#runningOf.get(keyId) ?? 0) + by
    if (ofKey > 0) this.#runningOf.set(keyId, ofKey)
    else {
      this.#runningOf.delete(keyId)
      this.#forgetIfIdle(keyId)
    }
  }
}
