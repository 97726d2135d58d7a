import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isWithinHours, msUntilWorked, nextOpening, parseHours } from './daily-hours.ts'

const minuteMs = 60_000
const at = (time: string) => Date.parse(`2026-11-17T${time}:00Z`)

test('hours may pass midnight', () => {
  const night = parseHours('22:00-06:00')!
  expect(['21:59', '22:00', '05:59', '06:00'].map(time => isWithinHours(night, at(time)))).toEqual([
    ...[false, true, true, false],
  ])
  expect(new Date(nextOpening(night, at('06:00'))).toISOString()).toBe('2026-11-17T22:00:00.000Z')
  expect(new Date(nextOpening(night, at('23:00'))).toISOString()).toBe('2026-11-18T22:00:00.000Z')
  const noon = parseHours('9:30-24:00')!
  expect([isWithinHours(noon, at('23:59')), isWithinHours(noon, at('00:00'))]).toEqual([true, false])
})

test.each([
  '',
  '22:00',
  '22-06',
  '22:00-22:00',
  '00:00-24:00',
  '24:00-06:00',
  '25:00-06:00',
  '22:60-06:00',
  '1:00-2:00-3:00',
])('not hours: %s', text => expect(parseHours(text)).toBeUndefined())

test('work is done when so many minutes within the hours have passed', () => {
  const time = fc.integer({ min: 0, max: 1_439 })
  const clock = (minutes: number) => `${Math.floor(minutes / 60)}:${`${minutes % 60}`.padStart(2, '0')}`
  fc.assert(
    fc.property(time, time, time, fc.integer({ min: 1, max: 3_000 }), (from, to, now, work) => {
      fc.pre(from !== to)
      const hours = parseHours(`${clock(from)}-${clock(to)}`)!
      let worked = 0
      let minutes = 0
      for (; worked < work; minutes++) if (isWithinHours(hours, (now + minutes) * minuteMs)) worked++
      expect(msUntilWorked(hours, now * minuteMs, work * minuteMs)).toBe(minutes * minuteMs)
    }),
    { numRuns: 50 },
  )
})
