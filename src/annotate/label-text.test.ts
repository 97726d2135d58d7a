// Names are cleaned for display, and answers of contracts are read as what they mean, whatever nonsense they are. No
// list is read and no node is asked.
import * as fc from 'fast-check'
import * as AbiParameters from 'ox/AbiParameters'
import * as Hex from 'ox/Hex'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import {
  addressOfAnswer,
  cleanLabel,
  flagOfAnswer,
  labelCharactersMax,
  numberOfAnswer,
  textCharactersMax,
  textOfAnswer,
} from './label-text.ts'

test.each([
  ['OpenSea: Wallet', 'OpenSea: Wallet', []],
  ['  Two\t  words ', 'Two words', []],
  ['👩‍👩‍👧 family', '👩‍👩‍👧 family', []],
  ['line\nbreak', 'line break', ['control characters were removed']],
  ['bell\u0007', 'bell', ['control characters were removed']],
  ['evil\u202egnp', 'evilgnp', ['invisible characters were removed']],
  ['zero\u200bwidth', 'zerowidth', ['invisible characters were removed']],
  ['e\u0301', 'é', []],
])('%j becomes %j', (given, label, notes) => {
  expect(cleanLabel(given)).toEqual({ label, notes })
})

test.each([
  ['', 'the name is empty'],
  ['  ', 'nothing of the name can be seen'],
  ['\u200b\u202e', 'nothing of the name can be seen'],
  ['a\ufffdb', 'the name is not UTF-8 text'],
  ['\ud800', 'the name is not UTF-8 text'],
])('%j cannot be a label', (given, problem) => {
  expect(cleanLabel(given)).toEqual({ problem })
})

test('a long name is cut between characters', () => {
  const cut = cleanLabel('😀'.repeat(labelCharactersMax + 1))
  expect(cut).toEqual({ label: '😀'.repeat(labelCharactersMax), notes: ['cut to 200 characters'] })
})

test('what was cleaned once is clean', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), text => {
      const once = cleanLabel(text)
      if ('problem' in once) return
      expect(cleanLabel(once.label)).toEqual({ label: once.label, notes: [] })
      expect(once.label).not.toMatch(/\p{Cc}/u)
    }),
    { numRuns: propertyRuns(200) },
  )
})

const encoded = (text: string): string => AbiParameters.encode([{ type: 'string' }], [text])

describe('the text of an answer', () => {
  test('is what was encoded, up to its bound', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), text => {
        const whole = Buffer.from(text).toString().replace(/\0+$/, '')
        const read = textOfAnswer(encoded(text)) as string
        expect([...read].length).toBeLessThanOrEqual(textCharactersMax)
        if ([...whole].length <= textCharactersMax) expect(read).toBe(whole)
        else expect(whole.startsWith(read.replace(/\uFFFD+$/, ''))).toBe(true)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  test('may be a padded word, as early tokens answer', () => {
    expect(textOfAnswer(Hex.fromString('Maker', { size: 32 }))).toBe('Maker')
    expect(textOfAnswer(`0x${'00'.repeat(32)}`)).toBe('')
  })

  test('keeps what is readable of invalid UTF-8', () => {
    expect(textOfAnswer(`0x41ff42${'00'.repeat(29)}`)).toBe('A\uFFFDB')
  })

  test('is nothing where there is none', () => {
    const offset = (value: bigint) => value.toString(16).padStart(64, '0')
    for (const answer of [
      ...[undefined, null, 5, '', '0x', '0x1234', 'text', `0x${'zz'.repeat(32)}`],
      `0x${offset(32n)}${offset(5n)}`,
      `0x${offset(2n ** 255n)}${offset(5n)}`,
      `0x${offset(32n)}${offset(2n ** 31n)}${offset(1n)}`,
      `0x${offset(64n)}${offset(1n)}`,
    ])
      expect(textOfAnswer(answer), String(answer)).toBeUndefined()
  })

  test('is cut where megabytes come, without reading them', () => {
    expect(textOfAnswer(encoded('x'.repeat(3_000_000)))).toBe('x'.repeat(textCharactersMax))
  })

  test('no answer makes a reader throw', () => {
    const hex = fc.uint8Array({ maxLength: 300 }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`)
    const broken = fc
      .tuple(fc.string({ maxLength: 40 }).map(encoded), fc.nat(), fc.constantFrom('', '0', 'f', 'g', 'ffffffff'))
      .map(([answer, at, change]) => {
        const place = at % answer.length
        return `${answer.slice(0, place)}${change}${answer.slice(place + change.length)}`
      })
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string(), hex, broken), answer => {
        const text = textOfAnswer(answer)
        expect(text === undefined || [...text].length <= textCharactersMax).toBe(true)
        for (const read of [flagOfAnswer, numberOfAnswer, addressOfAnswer]) read(answer)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })
})

test('flags, numbers and addresses are read from the first word', () => {
  expect([flagOfAnswer(`0x${'0'.repeat(63)}1`), flagOfAnswer(`0x${'0'.repeat(64)}`)]).toEqual([true, false])
  expect([flagOfAnswer('0x'), flagOfAnswer(`0x${'0'.repeat(63)}2`)]).toEqual([undefined, undefined])
  expect(numberOfAnswer(`0x${'f'.repeat(64)}`)).toBe(2n ** 256n - 1n)
  expect(addressOfAnswer(`0x${'0'.repeat(24)}${'AB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
  expect(addressOfAnswer(`0x${'1'.repeat(64)}`)).toBeUndefined()
})
