import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LabelTable, noLabel, unknownLabel } from './label-table.ts'

const textOf = (table: LabelTable, label: number) => {
  const out = Buffer.alloc(table.lengthOf(label) + 6)
  expect(table.put(out, 3, label)).toBe(out.length - 3)
  expect([...out.subarray(0, 3), ...out.subarray(-3)]).toEqual([0, 0, 0, 0, 0, 0])
  return JSON.parse(out.toString('utf8', 3, out.length - 3)) as string
}

test('knows what was added, and nothing of addresses that are alike', () => {
  // Few different bytes, so that many addresses share their ends and with them their hash.
  const address = fc
    .tuple(fc.nat(2), fc.nat(2), fc.nat(2))
    .map(([first, middle, last]) =>
      Buffer.concat([Buffer.alloc(4, first), Buffer.alloc(12, middle), Buffer.alloc(4, last)]),
    )
  const label = fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(fc.tuple(address, label)), fc.array(address), (added, asked) => {
      const table = new LabelTable()
      const expected = new Map<string, string | undefined>()
      for (const [bytes, text] of added) {
        table.add(bytes, 0, text)
        // The first one stays.
        if (!expected.has(bytes.toString('hex'))) expected.set(bytes.toString('hex'), text)
      }
      for (const bytes of [...asked, ...added.map(([bytes]) => bytes)]) {
        const number = table.numberOf(Buffer.concat([Buffer.alloc(5, 1), bytes]), 5)
        const text = expected.get(bytes.toString('hex'))
        if (text !== undefined) expect(textOf(table, number)).toBe(text)
        else expect(number).toBe(expected.has(bytes.toString('hex')) ? noLabel : unknownLabel)
      }
    }),
  )
})

test('grows, and gives equal texts equal checksums', () => {
  const table = new LabelTable()
  const addressOf = (index: number) => {
    const bytes = Buffer.alloc(20)
    bytes.writeUInt32BE(index, 16)
    return bytes
  }
  const bytesBefore = table.bytes
  for (let index = 0; index < 5_000; index++) table.add(addressOf(index), 0, `Label ${index % 2_500} ✓`)
  const numbers = Array.from({ length: 5_000 }, (_, index) => table.numberOf(addressOf(index), 0))
  expect(numbers.map(number => textOf(table, number))).toEqual(numbers.map((_, index) => `Label ${index % 2_500} ✓`))
  expect(table.checksumOf(numbers[7]!)).toBe(table.checksumOf(numbers[2_507]!))
  expect(new Set(numbers.map(number => table.checksumOf(number))).size).toBe(2_500)
  expect(table.numberOf(addressOf(5_000), 0)).toBe(unknownLabel)
  expect(table.bytes).toBeGreaterThan(bytesBefore + 5_000 * 20)
})
