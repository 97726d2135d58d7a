// Reads when a key is to expire: a span from now such as 90d, or a date. Pure.
import { AlmanacError } from '../errors.ts'

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Years have four digits wherever a moment is shown. */
const latestMoment = Date.parse('9999-12-31T23:59:59.999Z')

/** Unix milliseconds. A date without a time is its first moment in UTC. */
export function parseExpiry(text: string, nowMs: number): number {
  const span = /^(\d{1,6})([mhdw])$/.exec(text)
  const isDate =
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) && isDayOfItsMonth(text)
  const moment = span !== null ? nowMs + Number(span[1]) * unitMs[span[2]!]! : isDate ? Date.parse(text) : Number.NaN
  if (!(moment <= latestMoment)) {
    throw new AlmanacError('bad_request', `The expiry ${JSON.stringify(text)} is neither a span nor a date.`, {
      hint: 'write a span such as 12h, 90d or 8w, a date such as 2027-01-31, or a moment such as 2027-01-31T12:00:00Z.',
    })
  }
  if (moment <= nowMs) {
    throw new AlmanacError('bad_request', `The expiry ${text} has passed already.`, { hint: 'give a later moment.' })
  }
  return moment
}

/** `Date.parse` takes the 31st of February for a day in March. */
function isDayOfItsMonth(text: string): boolean {
  const day = text.slice(0, 10)
  const parsed = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day)
}
