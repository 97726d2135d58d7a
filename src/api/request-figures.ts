// What this process answered within the last minute: how many requests, how fast, how many failed, and for which keys
// (`keys/key-hours.ts` has the last hour of each). A request counts once a key is admitted to it, as in the use of a
// day that the store keeps; what is refused or fails before that is counted apart. It is on the way of every request,
// so it counts into typed arrays and works out nothing until it is asked.

import { type Answered, type KeyHour, KeyHours } from '../keys/key-hours.ts'

const slotMs = 5_000
const slotsMax = 12
/** Four to each doubling from a microsecond on: a quantile is right to a tenth. */
const bucketsPerDoubling = 4
const buckets = 24 * bucketsPerDoubling

/** One stretch of five seconds. */
type Slot = {
  /** Counted from the start of the clock. */
  number: number
  /** To which a key was admitted. */
  requests: number
  /** Answered with 5xx, but for 501. */
  errors: number
  /** Of them those to which no key was admitted, such as those that are too many. */
  errorsBefore: number
  /** Answered with 4xx, or with 501: what this service does not serve is not its failure. */
  refused: number
  /** Of them those with 501. */
  notServed: number
  durations: Uint32Array
  keys: Map<string, number>
}

export type RequestFigures = {
  requestsPerSecond: number
  errorsPerSecond: number
  /** Of everything that was asked and not refused, from 0 to 1. */
  errorShare: number
  refusedPerSecond: number
  notServedPerSecond: number
  /** Undefined while nothing was answered. */
  p50Ms: number | undefined
  p99Ms: number | undefined
  /** Requests a second, by the id of the key. */
  keys: ReadonlyMap<string, number>
}

export class RequestMeter {
  readonly #nowMs: () => number
  readonly #startedMs: number
  readonly #slots: Slot[]
  readonly #keys = new KeyHours()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#startedMs = nowMs()
    this.#slots = Array.from({ length: slotsMax + 1 }, () => emptySlot(-1))
  }

  /** `atMs` is when the answer was ready, by the clock of the meter. */
  count(answered: Answered): void {
    const { atMs, durationMs, status, keyId, refusal } = answered
    const slot = this.#slotAt(Math.floor(atMs / slotMs))
    const isError = status >= 500 && status !== 501
    if (isError) slot.errors++
    else if (status >= 400) slot.refused++
    if (status === 501) slot.notServed++
    if (keyId === undefined) {
      if (isError) slot.errorsBefore++
    } else {
      slot.requests++
      slot.durations[bucketOf(durationMs)]!++
      slot.keys.set(keyId, (slot.keys.get(keyId) ?? 0) + 1)
    }
    const ofKey = keyId ?? refusal?.keyId
    if (ofKey !== undefined) this.#keys.count(ofKey, answered)
  }

  /** How the requests with a key ended in the last hour, and the last that were refused or failed, newest first. */
  hourOf(keyId: string): KeyHour {
    return this.#keys.hourOf(keyId, this.#nowMs())
  }

  /** The keys of which a request was refused or failed in the last hour. */
  refusedKeys(): string[] {
    return this.#keys.ids().filter(id => {
      const { answered, ...others } = this.hourOf(id).counts
      return Object.values(others).some(count => count > 0)
    })
  }

  /** Of the last minute, or of the last complete five seconds for a moment of the history. */
  figures(span: 'minute' | 'moment' = 'minute'): RequestFigures {
    const nowMs = this.#nowMs()
    const number = Math.floor(nowMs / slotMs)
    const isWanted =
      span === 'moment'
        ? (slot: Slot) => slot.number === number - 1
        : (slot: Slot) => slot.number > number - slotsMax && slot.number <= number
    const slots = this.#slots.filter(isWanted)
    const sinceMs = span === 'moment' ? slotMs : nowMs - Math.max(this.#startedMs, (number - slotsMax + 1) * slotMs)
    return figuresOf(slots, Math.max(1, sinceMs / 1_000))
  }

  #slotAt(number: number): Slot {
    const at = number % this.#slots.length
    const slot = this.#slots[at]!
    if (slot.number === number) return slot
    const fresh = emptySlot(number)
    this.#slots[at] = fresh
    return fresh
  }
}

function emptySlot(number: number): Slot {
  return {
    number,
    requests: 0,
    errors: 0,
    errorsBefore: 0,
    refused: 0,
    notServed: 0,
    durations: new Uint32Array(buckets),
    keys: new Map(),
  }
}

function bucketOf(durationMs: number): number {
  const bucket = Math.floor(Math.log2(durationMs * 1_000) * bucketsPerDoubling)
  return bucket > 0 ? Math.min(bucket, buckets - 1) : 0
}

/** In the middle of the bucket. */
function millisecondsOf(bucket: number): number {
  return 2 ** ((bucket + 0.5) / bucketsPerDoubling) / 1_000
}

function figuresOf(slots: readonly Slot[], seconds: number): RequestFigures {
  const sum = (of: (slot: Slot) => number) => slots.reduce((total, slot) => total + of(slot), 0)
  const requests = sum(slot => slot.requests)
  const errors = sum(slot => slot.errors)
  const durations = new Uint32Array(buckets)
  const keys = new Map<string, number>()
  for (const slot of slots) {
    for (let bucket = 0; bucket < buckets; bucket++) durations[bucket]! += slot.durations[bucket]!
    for (const [id, count] of slot.keys) keys.set(id, (keys.get(id) ?? 0) + count / seconds)
  }
  return {
    requestsPerSecond: requests / seconds,
    errorsPerSecond: errors / seconds,
    errorShare: errors === 0 ? 0 : errors / (requests + sum(slot => slot.errorsBefore)),
    refusedPerSecond: sum(slot => slot.refused) / seconds,
    notServedPerSecond: sum(slot => slot.notServed) / seconds,
    p50Ms: quantileMs(durations, requests, 0.5),
    p99Ms: quantileMs(durations, requests, 0.99),
    keys,
  }
}

function quantileMs(durations: Uint32Array, total: number, share: number): number | undefined {
  let left = Math.ceil(total * share)
  if (left === 0) return undefined
  for (let bucket = 0; bucket < buckets; bucket++) {
    left -= durations[bucket]!
    if (left <= 0) return millisecondsOf(bucket)
  }
  return undefined
}
