import { expect, test } from 'vitest'
import {
  asOfPlace,
  asOfText,
  type Ends,
  momentOf,
  momentProblem,
  placeOf,
  readAsOf,
  refusalOfMoment,
  trackOf,
} from './as-of.ts'

const secondsOf = (text: string) => Date.parse(text) / 1_000
const endsOf = (first: string, head: string): Ends => ({
  first: { block: 1_000, seconds: secondsOf(first) },
  head: { block: 2_000, seconds: secondsOf(head) },
})
const years = endsOf('2021-04-22T19:03:11Z', '2026-11-17T09:20:05Z')

test('a long history is slid through by midnights, a short one by hours or minutes', () => {
  expect(trackOf(years)).toEqual({ min: secondsOf('2021-04-22'), max: secondsOf('2026-11-18'), step: 86_400 })
  expect(trackOf(endsOf('2026-01-01T10:30:00Z', '2026-01-04T00:00:00Z'))?.step).toBe(3_600)
  expect(trackOf(endsOf('2026-01-01T10:30:00Z', '2026-01-01T11:00:00Z'))?.step).toBe(60)
  expect(trackOf(endsOf('2026-01-01T10:30:00Z', '2026-01-01T10:30:12Z'))).toBeUndefined()
})

test('the ends are the first transfer and now, and each place leads back to itself', () => {
  const track = trackOf(years)!
  expect(asOfPlace(track.min, years)).toEqual({ at_date: '2021-04-22T19:03:11Z' })
  expect(asOfPlace(track.max, years)).toEqual({})
  const middle = asOfPlace(secondsOf('2024-01-01'), years)
  expect(middle).toEqual({ at_date: '2024-01-01T00:00:00Z' })
  for (const place of [track.min, secondsOf('2024-01-01'), track.max])
    expect(placeOf(asOfPlace(place, years), years, track)).toBe(place)
  const halfway = (years.first.seconds + years.head.seconds) / 2
  expect(placeOf({ at_block: '1500' }, years, track)).toBe(halfway)
  expect(placeOf({ at_block: '7' }, years, track)).toBe(track.min)
  expect(placeOf({ at_date: 'yesterday' }, years, track)).toBe(track.max)
})

test('digits are a block, anything else a date, nothing is now', () => {
  expect(asOfText(' 17,000_000 ')).toEqual({ at_block: '17000000' })
  expect(asOfText('2026-01-01 12:00')).toEqual({ at_date: '2026-01-01 12:00' })
  expect(asOfText(' ')).toEqual({})
  expect(readAsOf(new URLSearchParams('at_date=2026-01-01&at_block=5'))).toEqual({ at_block: '5' })
  // As the service reads them: in UTC, whatever the zone of the browser.
  expect(momentOf('2026-01-01 12:00')).toBe(Date.parse('2026-01-01T12:00:00Z'))
  expect(momentOf('2026-01-01')).toBe(Date.parse('2026-01-01T00:00:00Z'))
})

test('what is neither a date nor a block is refused before it is asked', () => {
  for (const text of ['', '5,009', '2026-01-31', '2026-01', '2026-01-31 12:00', '2026-01-31T12:00:00+02:00'])
    expect(refusalOfMoment(text), text).toBeUndefined()
  for (const text of ['yesterday', 'May 5', '2026-13-01', '2026-01-31 noon'])
    expect(refusalOfMoment(text), text).toMatch(/is neither a date nor a block: type 2026-01-31/)
  expect(refusalOfMoment('20,001', 20_000)).toBe('Block 20,001 is not there yet: the newest is 20,000.')
  expect(refusalOfMoment('20,000', 20_000)).toBeUndefined()
})

test('a moment that was not accepted is told in the words of its field', () => {
  const refused = (parameter: string, message: string) => ({ parameter, message, errors: [{ parameter }] })
  expect(momentProblem(refused('to_date', 'to_date must be ISO 8601'), 'soon')).toMatchObject({
    message: expect.stringMatching(/^“soon” is neither a date nor a block: type 2026-01-31/),
    errors: [],
  })
  expect(momentProblem(refused('to_block', 'to_block must be small'), '9').message).toBe('The block must be small')
  const other = refused('cursor', 'cursor is not valid')
  expect(momentProblem(other, '9')).toBe(other)
})
