// How the requests with each key ended within the last hour, and the last that were refused or failed. It is on the way
// of every request and bounded: the last keys, minutes as counts, a few refusals each.
import type { ErrorCode } from '../errors.ts'

/** `keyId`: of the key that was admitted. */
export type Answered = {
  atMs: number
  durationMs: number
  status: number
  keyId: string | undefined
  route?: string
  refusal?: { code: ErrorCode; keyId: string | undefined } | undefined
}

const outcomes = ['answered', 'limited', 'forbidden', 'refused', 'failed'] as const
type Outcome = (typeof outcomes)[number]

/** `limited`: with 429, `forbidden`: 403, `refused`: another 4xx or 501, `failed`: 5xx. */
export type KeyHour = {
  counts: Record<Outcome, number>
  /** `atMs`: by the clock of the meter. What was not found is left out: that is an answer. */
  refusals: readonly Refusal[]
}

type Refusal = { atMs: number; status: number; code: ErrorCode; route: string }

type KeyMinutes = { numbers: Int32Array; counts: Uint32Array; refusals: Refusal[] }

const minuteMs = 60_000
const minutesMax = 60
const keysMax = 200
const refusalsMax = 20

/** Of the most recently used keys: a new one takes the place of the one unused for longest. */
export class KeyHours {
  readonly #keys = new Map<string, KeyMinutes>()

  count(id: string, { atMs, status, route = '', refusal }: Answered): void {
    const key = this.#keys.get(id) ?? {
      numbers: new Int32Array(minutesMax).fill(-1),
      counts: new Uint32Array(minutesMax * outcomes.length),
      refusals: [],
    }
    this.#keys.delete(id)
    this.#keys.set(id, key)
    if (this.#keys.size > keysMax) this.#keys.delete(this.#keys.keys().next().value!)
    const minute = Math.floor(atMs / minuteMs)
    const at = minute % minutesMax
    const first = at * outcomes.length
    if (key.numbers[at] !== minute) key.counts.fill(0, first, first + outcomes.length)
    key.numbers[at] = minute
    key.counts[first + outcomes.indexOf(outcomeOf(status))]!++
    if (refusal === undefined || refusal.code === 'not_found') return
    key.refusals.unshift({ atMs, status, code: refusal.code, route })
    key.refusals.length = Math.min(key.refusals.length, refusalsMax)
  }

  ids(): string[] {
    return [...this.#keys.keys()]
  }

  hourOf(id: string, nowMs: number): KeyHour {
    const { numbers, counts, refusals } = this.#keys.get(id) ?? { numbers: [], counts: [], refusals: [] }
    const oldest = Math.floor(nowMs / minuteMs) - minutesMax + 1
    const sumOf = (outcome: number) =>
      Array.from(numbers).reduce(
        (sum, number, at) => (number < oldest ? sum : sum + counts[at * outcomes.length + outcome]!),
        0,
      )
    const sums = outcomes.map((name, outcome) => [name, sumOf(outcome)] as const)
    return { counts: Object.fromEntries(sums) as Record<Outcome, number>, refusals }
  }
}

function outcomeOf(status: number): Outcome {
  if (status === 429) return 'limited'
  if (status === 403) return 'forbidden'
  if (status >= 500 && status !== 501) return 'failed'
  return status >= 400 ? 'refused' : 'answered'
}
