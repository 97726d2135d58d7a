import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editDistance, nearestWord } from './nearest-word.ts'

describe('the nearest word', () => {
  const words = ['listen', 'store', 'requests_per_second', 'from', 'ALMANAC_LISTEN', 'polygon', 'eth']

  test.each([
    ['lisen', 'listen'],
    ['form', 'from'],
    ['requestsPerSecond', 'requests_per_second'],
    ['requests-per-second', 'requests_per_second'],
    ['STORE', 'store'],
    ['ALMANAC_LISTN', 'ALMANAC_LISTEN'],
    ['polgyon', 'polygon'],
    ['etth', 'eth'],
    ['eht', 'eth'],
  ])('%s means %s', (word, meant) => {
    expect(nearestWord(word, words)).toBe(meant)
  })

  test('a word that is far from all means none', () => {
    expect(nearestWord('xyzzy', words)).toBeUndefined()
    expect(nearestWord('listen', [])).toBeUndefined()
    expect(nearestWord('mychain', ['eth', 'unichain', 'apechain'])).toBeUndefined()
    expect(nearestWord('foo', ['eth', 'zora', 'op'])).toBeUndefined()
    expect(nearestWord('ALMANAC_FOO', ['ALMANAC_KEY', 'ALMANAC_STORE'])).toBeUndefined()
  })

  test('the distance is a metric', () => {
    const word = fc.string({ maxLength: 8 })
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        expect(editDistance(a, a)).toBe(0)
        expect(editDistance(a, b)).toBe(editDistance(b, a))
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c))
        expect(editDistance(a, b) === 0).toBe(a === b)
      }),
    )
  })
})
