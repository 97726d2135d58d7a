// A segment finds the winning label of each of its addresses on each chain, and none for others. No store is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/label-store.ts'
import { LabelSegment, noLabel, unknownLabel } from './label-segment.ts'

const textOf = (segment: LabelSegment, label: number) => {
  const out = Buffer.alloc(segment.lengthOf(label) + 6)
  expect(segment.put(out, 3, label)).toBe(out.length - 3)
  expect([...out.subarray(0, 3), ...out.subarray(-3)]).toEqual([0, 0, 0, 0, 0, 0])
  return JSON.parse(out.toString('utf8', 3, out.length - 3)) as string
}

// Few different bytes, so that many addresses share their ends and with them their hash.
const address = fc
  .tuple(fc.nat(2), fc.nat(2), fc.nat(2))
  .map(([first, middle, last]) =>
    Buffer.concat([Buffer.alloc(4, first), Buffer.alloc(12, middle), Buffer.alloc(4, last)]),
  )
const chains = [1, 2, 0xffffffff] as ChainId[]

test('gives the first label that holds on a chain, and nothing for addresses that are alike', () => {
  const label = fc.record({
    address: address.map(bytes => `0x${bytes.toString('hex')}` as Address),
    chain: fc.constantFrom(undefined, ...chains),
    label: fc.string({ unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(fc.array(label), fc.array(address), (given, asked) => {
      // A stable sort: those of one address stay in their order.
      const labels: RankedLabel[] = given.toSorted((a, b) =>
        a.address < b.address ? -1 : a.address > b.address ? 1 : 0,
      )
      const segment = new LabelSegment(labels, { withTexts: true })
      const presence = new LabelSegment(labels, { withTexts: false })
      expect(segment.isEmpty).toBe(labels.length === 0)
      for (const bytes of [...asked, ...labels.map(one => Buffer.from(one.address.slice(2), 'hex'))])
        for (const chain of chains) {
          const of = labels.filter(one => one.address === `0x${bytes.toString('hex')}`)
          const winner = of.find(one => one.chain === undefined || one.chain === chain)
          const shifted = Buffer.concat([Buffer.alloc(5, 1), bytes])
          const number = segment.numberOf(shifted, 5, chain)
          if (winner === undefined) expect(number).toBe(noLabel)
          else expect(textOf(segment, number)).toBe(winner.label)
          if (of.length > 0) expect(presence.numberOf(shifted, 5, chain)).toBe(unknownLabel)
        }
    }),
  )
})

test('without texts, addresses that have none are hardly ever let pass', () => {
  const bytesOf = (index: number) => {
    const bytes = Buffer.alloc(20)
    bytes.writeUInt32BE(index, 16)
    return bytes
  }
  const labels = Array.from({ length: 2_000 }, (_, index) => ({
    address: `0x${bytesOf(index).toString('hex')}` as Address,
    chain: undefined,
    label: 'x',
  }))
  const segment = new LabelSegment(labels, { withTexts: false })
  const passing = Array.from({ length: 20_000 }, (_, n) => segment.numberOf(bytesOf(10_000 + n), 0, chains[0]!))
  expect(passing.filter(number => number === unknownLabel).length).toBeLessThan(300)
  expect(segment.bytes).toBeLessThan(labels.length * 4)
})

test('equal texts have equal checksums', () => {
  const labels = Array.from({ length: 5_000 }, (_, index) => ({
    address: `0x${index.toString(16).padStart(40, '0')}` as Address,
    chain: undefined,
    label: `Label ${index % 2_500} ✓`,
  }))
  const segment = new LabelSegment(labels, { withTexts: true })
  const checksums = labels.map(({ address }) =>
    segment.checksumOf(segment.numberOf(Buffer.from(address.slice(2), 'hex'), 0, chains[0]!)),
  )
  expect(checksums[7]).toBe(checksums[2_507])
  expect(new Set(checksums).size).toBe(2_500)
})
