import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { parseDate } from './params.ts'

const second = (iso: string) => Date.parse(iso) / 1_000

describe('dates', () => {
  test.each([
    ['2022-12-10T00:00:00.000Z', '2022-12-10T00:00:00Z'],
    ['2023-01-08T22:20:11', '2023-01-08T22:20:11Z'],
    ['2023-03-24T15:33', '2023-03-24T15:33:00Z'],
    ['2022-12-10', '2022-12-10T00:00:00Z'],
    ['2022-12-10T01:00:00+02:00', '2022-12-09T23:00:00Z'],
    ['2022-12-10T01:00:00 02:00', '2022-12-09T23:00:00Z'],
    ['2022-12-10T01:00:00.250Z', '2022-12-10T01:00:00.250Z'],
    ['Sat, 10 Dec 2022 10:00:00 GMT', '2022-12-10T10:00:00Z'],
    ['Sat, 10 Dec 2022 10:00:00 +0100', '2022-12-10T09:00:00Z'],
    ['2022-W49-6', '2022-12-10T00:00:00Z'],
    ['2022-344', '2022-12-10T00:00:00Z'],
    ['20221210', '2022-12-10T00:00:00Z'],
    ['20221210T101112', '2022-12-10T10:11:12Z'],
    ['2022', '2022-01-01T00:00:00Z'],
    ['202212', '2022-12-01T00:00:00Z'],
    ['December 10, 2022 10:00', '2022-12-10T10:00:00Z'],
    ['12/10/2022', '2022-12-10T00:00:00Z'],
    ['1670630400', '2022-12-10T00:00:00Z'],
    ['1670630400.5', '2022-12-10T00:00:00.500Z'],
    [' 1670630400 ', '2022-12-10T00:00:00Z'],
    ['0', '1970-01-01T00:00:00Z'],
    ['999999', '1970-01-12T13:46:39Z'],
    ['-1', '1969-12-31T23:59:59Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseDate(text)).toBe(second(iso))
  })

  test.each([
    '',
    ' ',
    'yesterday',
    '2022-13-10',
    '2022-02-30',
    'NaN',
    '9'.repeat(30),
    '1'.repeat(400),
    '\0',
    '\ud800',
    "1' OR '1'='1",
  ])('%j is none', text => {
    expect(parseDate(text)).toBeUndefined()
  })

  test('never throw, never warn, and are numbers or nothing', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.date({ noInvalidDate: true }).map(String), fc.double().map(String)),
        text => {
          const date = parseDate(text)
          if (date !== undefined) expect(Number.isFinite(date)).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })
})
