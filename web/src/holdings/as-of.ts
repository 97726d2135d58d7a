// The moment that a list is asked for: after a block, at a date, or now, as it stands in the address. Pure.
import { countText } from '../quantities.ts'

/** The service reads the texts, and says what is wrong with them. Neither: now. */
export type AsOf = { at_block?: string | undefined; at_date?: string | undefined }

/** A block with its time, in seconds. */
export type TimedBlock = { block: number; seconds: number }

/** The first transfer and the head. */
export type Ends = { first: TimedBlock; head: TimedBlock }

export function readAsOf(query: URLSearchParams): AsOf {
  const [block, date] = [query.get('at_block'), query.get('at_date')]
  return block ? { at_block: block } : date ? { at_date: date } : {}
}

/** What a person typed: digits are a block, nothing is now. */
export function asOfText(text: string): AsOf {
  const given = text.trim()
  const digits = given.replaceAll(/[,_ ]/g, '')
  if (/^\d+$/.test(digits)) return { at_block: digits }
  return given === '' ? {} : { at_date: given }
}

export type Track = { min: number; max: number; step: number }

const day = 86_400

/** Where the slider can stand, in seconds: at midnights (UTC) of a long history, at full hours or minutes of a short one. */
export function trackOf({ first, head }: Ends): Track | undefined {
  const span = head.seconds - first.seconds
  const step = span >= 60 * day ? day : span >= 2 * day ? 3_600 : 60
  const [min, max] = [Math.floor(first.seconds / step) * step, Math.ceil(head.seconds / step) * step]
  return span < step ? undefined : { min, max, step }
}

/** The right end is now, the left one the first transfer. */
export function asOfPlace(seconds: number, { first, head }: Ends): AsOf {
  if (seconds >= head.seconds) return {}
  return { at_date: new Date(Math.max(seconds, first.seconds) * 1_000).toISOString().replace('.000', '') }
}

/** Where the slider stands. For a block that is a guess, which is never shown as a date. */
export function placeOf({ at_block, at_date }: AsOf, { first, head }: Ends, { min, max }: Track): number {
  const part = (Number(at_block) - first.block) / (head.block - first.block)
  const guess = first.seconds + part * (head.seconds - first.seconds)
  const seconds = at_block !== undefined ? guess : at_date !== undefined ? momentOf(at_date) / 1_000 : max
  if (Number.isNaN(seconds)) return max
  return seconds <= first.seconds ? min : seconds
}

/** A date without a zone is UTC, as the service reads it; NaN where only the service can tell. */
export function momentOf(date: string): number {
  return Date.parse(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(date) ? `${date.replace(' ', 'T')}Z` : date)
}

/** What is wrong with a text that was typed as a moment, in the words of its field. `head`: where it is known. */
export function refusalOfMoment(text: string, head?: number): string | undefined {
  const { at_block, at_date } = asOfText(text)
  if (head !== undefined && Number(at_block) > head)
    return `Block ${countText(Number(at_block))} is not there yet: the newest is ${countText(head)}.`
  const isDate = at_date === undefined || (/^\d{4}-\d\d(-\d\d|$)/.test(at_date) && !Number.isNaN(momentOf(at_date)))
  return isDate ? undefined : neitherText(at_date)
}

function neitherText(typed: string): string {
  return `“${typed}” is neither a date nor a block: type 2026-01-31, 2026-01-31 12:00 (UTC) or the number of a block.`
}

type Refused = { message: string; parameter: string | undefined; errors: readonly unknown[] }

/** A moment that was not accepted, in the words of the field that it was typed into. */
export function momentProblem<Problem extends Refused>(problem: Problem, typed: string | undefined): Problem {
  const { parameter = '', message } = problem
  if (!/^(to|at)_(block|date)$/.test(parameter) || typed === undefined) return problem
  const text = parameter.endsWith('_date') ? neitherText(typed) : message.replace(parameter, 'The block')
  return { ...problem, message: text, errors: [] }
}
