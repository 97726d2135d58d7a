// Reads the dates that clients send: what moment accepts, in UTC, and unix seconds. Nothing else in the house uses moment.
import moment from 'moment'

const dateLengthMax = 64

// Texts that are neither ISO 8601 nor RFC 2822 go to JavaScript's own Date, in UTC; the reference allows that, so no warning.
moment.suppressDeprecationWarnings = true

/** The moment in unix seconds, which may have a fraction; undefined when it is none. */
export function parseDate(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > dateLengthMax) return undefined
  return isNumber.test(trimmed) ? parseNumber(trimmed) : secondsOf(moment.utc(restorePlus(trimmed)))
}

const isNumber = /^[+-]?\d+(\.\d+)?$/

/** Up to eight digits may be a year, a month or a day of ISO 8601; every other number is unix seconds. */
function parseNumber(text: string): number | undefined {
  if (/^\d{4}$|^\d{6,8}$/.test(text)) {
    const date = secondsOf(moment.utc(text, moment.ISO_8601, true))
    if (date !== undefined) return date
  }
  return secondsOf(moment.unix(Number(text)))
}

/** A plus sign that was not percent-encoded arrives as a space: `T10:00:00 02:00` can only mean a zone. */
function restorePlus(text: string): string {
  return text.replace(/(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$/, '$1+$2')
}

function secondsOf(date: moment.Moment): number | undefined {
  return date.isValid() ? date.valueOf() / 1_000 : undefined
}
