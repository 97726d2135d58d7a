// Tables hold what a map would. No store is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labelsInMemory, pageOfParties, textsOf, withFilter } from '../../test/labelled-page.ts'
import { bytesOfHex } from '../hex.ts'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'
import { findLabels, type LabelsInMemory } from './find-labels.ts'
import { addressHash } from './label-record.ts'
import { filterBits, LabelTableBuilder, tableCount, tableOf, unreadTable } from './label-table.ts'

// The last three differ in the higher word alone, or would be none without it.
const chains = [1, 0xffffffff, 0x2a15c308d, 0x1a15c308d, 0x100000000] as ChainId[]
const bytesPerTable = 256 / tableCount
// Few different bytes, so that many addresses share their ends and with them their hash, and the zero address is one.
const address = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)).map(([first, middle, last]) => {
  const parts = [Buffer.alloc(4, first * bytesPerTable), Buffer.alloc(12, middle), Buffer.alloc(4, last)]
  return `0x${Buffer.concat(parts).toString('hex')}` as Address
})
const labels = fc.array(
  fc.record({
    address,
    chain: fc.constantFrom(undefined, ...chains),
    label: fc.oneof(
      fc.constantFrom('a', 'b'),
      fc.string({ unit: 'grapheme' }),
      fc.string({ minLength: 300, maxLength: 400 }),
    ),
  }),
  { maxLength: 40 },
)

/** What pages show of the addresses, or that they have to be looked up. */
function shown(addresses: readonly Address[], chain: ChainId, labelsHeld: LabelsInMemory) {
  const page = pageOfParties(addresses)
  const { labels: found, unknown } = findLabels(page, chain, labelsHeld)
  const places = new Set([...unknown.values()].flat())
  for (const [one, itsPlaces] of unknown)
    for (const place of itsPlaces)
      expect(place % 2 === 0 ? addresses[place / 2] : (addresses[(place + 1) / 2] ?? zero)).toBe(one)
  const texts = textsOf(page, found)
  return addresses.map((_, index) => (places.has(index * 2) ? 'unknown' : { text: texts[index * 2] }))
}

const zero = `0x${'0'.repeat(40)}` as Address

function winner(given: readonly RankedLabel[], of: Address, on: ChainId) {
  return { text: given.find(one => one.address === of && (one.chain === undefined || one.chain === on))?.label }
}

test('shows on each chain the first label that holds there', () => {
  fc.assert(
    fc.property(labels, fc.array(address), (given, others) => {
      const held = labelsInMemory(given)
      const addresses = [...others, ...new Set(given.map(one => one.address))]
      for (const chain of chains)
        expect(shown(addresses, chain, held)).toEqual(addresses.map(one => winner(given, one, chain)))
    }),
  )
})

test('of labels that are not held the presence is known, and nothing is told of them', () => {
  fc.assert(
    fc.property(labels, fc.array(address), fc.nat(20), (given, others, addressesHeldMax) => {
      const inMemory = labelsInMemory(given, addressesHeldMax)
      const named = [...new Set(given.map(one => one.address))]
      const held = new Set(named.slice(0, addressesHeldMax))
      const hashes = new Set(named.slice(addressesHeldMax).map(hashOf))
      for (const chain of chains) {
        const found = shown([...named, ...others], chain, inMemory)
        for (const [index, one] of [...named, ...others].entries())
          if (held.has(one) || !hashes.has(hashOf(one))) expect(found[index]).toEqual(winner(given, one, chain))
          else expect(found[index]).toBe('unknown')
      }
    }),
  )
})

test('every address of a table that was not read is unknown, and of no other', () => {
  fc.assert(
    fc.property(labels, fc.array(address), fc.uniqueArray(fc.nat(2)), (given, others, unread) => {
      const { tables } = labelsInMemory(given)
      const partly = withFilter(tables.map((table, index) => (unread.includes(index) ? unreadTable : table)))
      const addresses = [...others, ...given.map(one => one.address)]
      expect(shown(addresses, chains[0]!, partly)).toEqual(
        addresses.map(one =>
          unread.includes(tableOf(Number.parseInt(one.slice(2, 4), 16))) ? 'unknown' : winner(given, one, chains[0]!),
        ),
      )
    }),
  )
})

/** Spread over all first bytes. */
const addressOf = (index: number) =>
  `0x${(Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0').repeat(5)}` as Address
const many = Array.from({ length: 5_000 }, (_, index) => ({
  ...{ address: addressOf(index), chain: undefined, label: `Label ${index % 2_500} ✓` },
}))

function hashOf(one: Address): number {
  return addressHash(new DataView(Uint8Array.from(bytesOfHex(one)).buffer), 0)
}

test('equal texts have equal checksums', () => {
  const page = pageOfParties(many.map(one => one.address))
  const { labels: found } = findLabels(page, chains[0]!, labelsInMemory(many))
  const byText = new Map(many.map((one, index) => [one.label, found!.checksumOf(found!.shown[index * 2]!)]))
  for (const [index, one] of many.entries())
    expect(found!.checksumOf(found!.shown[index * 2]!)).toBe(byText.get(one.label))
  expect(new Set(byText.values()).size).toBe(2_500)
  expect(found!.checksumOf(found!.addText(many[0]!.label))).toBe(byText.get(many[0]!.label))
})

function built(given: readonly RankedLabel[], isHeld: boolean) {
  const builder = new LabelTableBuilder()
  for (const label of given) builder.add([label], isHeld)
  const steps = builder.build()
  for (let count = 0; ; count++) {
    const step = steps.next()
    if (step.done) return { table: step.value, steps: count }
  }
}

test('a filter passes few that were not added, in at most three bytes for each', () => {
  const { filter } = labelsInMemory(many)
  const passes = (one: Address) => {
    const [table, bits] = [tableOf(Number.parseInt(one.slice(2, 4), 16)), filterBits(hashOf(one))]
    const word = filter.words[(table << filter.tableBits) | (hashOf(one) >>> (32 - filter.tableBits))]!
    return (word & bits) === bits
  }
  for (const one of many) expect(passes(one.address)).toBe(true)
  const strangers = Array.from({ length: 20_000 }, (_, index) => passes(addressOf(1_000_000 + index)))
  expect(strangers.filter(Boolean).length).toBeLessThan(1_200)
  expect(filter.words.byteLength).toBeLessThanOrEqual(many.length * 3)
})

test('a label with 24 characters takes at most 96 bytes, one that is not held 7, and a table without labels nothing', () => {
  const long = many.map(one => ({ ...one, label: 'x'.repeat(24) }))
  expect(built(long, true).table.bytes).toBeLessThanOrEqual(long.length * 96)
  expect(built(long, false).table.bytes).toBeLessThanOrEqual(long.length * 7 + 100)
  expect(built([], true).table.bytes).toBe(0)
})

test('a large table is built in steps', () => {
  const large = Array.from({ length: 50_000 }, (_, index) => ({ ...many[0]!, address: addressOf(index) }))
  expect(built(large, true).steps).toBe(3)
})
