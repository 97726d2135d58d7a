// A base holds what a map would. No store is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { builtBy, labelsInMemory, pageOfParties, textsOf } from '../../test/labelled-page.ts'
import { propertyRuns } from '../../test/release-runs.ts'
import { bytesOfHex } from '../hex.ts'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'
import { findLabels, type LabelsInMemory } from './find-labels.ts'
import {
  emptyBase,
  hashOf,
  isCrowded,
  type LabelBase,
  LabelBaseBuilder,
  passesFilter,
  prefixCount,
} from './label-base.ts'

// The last three differ in the higher word alone, or would be none without it.
const chains = [1, 0xffffffff, 0x2a15c308d, 0x1a15c308d, 0x100000000] as ChainId[]
// Few different bytes, so that many addresses share their ends and with them their hash, and the zero address is one.
const address = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)).map(([first, middle, last]) => {
  const parts = [Buffer.alloc(4, first), Buffer.alloc(12, middle), Buffer.alloc(4, last)]
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
    { numRuns: propertyRuns(200) },
  )
})

const passes = (one: Address, base: LabelBase) => passesFilter(base, hashOfText(one))

test('of labels that are not held the presence is known, and nothing is told of them', () => {
  fc.assert(
    fc.property(labels, fc.array(address), fc.nat(20), (given, others, addressesHeldMax) => {
      const inMemory = labelsInMemory(given, addressesHeldMax)
      const named = [...new Set(given.map(one => one.address))]
      const held = new Set(named.slice(0, addressesHeldMax))
      for (const one of named) expect(passes(one, inMemory.base)).toBe(true)
      for (const chain of chains) {
        const found = shown([...named, ...others], chain, inMemory)
        for (const [index, one] of [...named, ...others].entries())
          if (held.has(one) || held.size === named.length || !passes(one, inMemory.base))
            expect(found[index]).toEqual(winner(given, one, chain))
          else expect(found[index]).toBe('unknown')
      }
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('addresses that are not held stay known to the bases that are built from one', () => {
  const [held, notHeld, added] = [many.slice(0, 100), many.slice(100, 200), many.slice(200, 300)]
  const { base: old } = labelsInMemory([...held, ...notHeld], held.length)
  const builder = new LabelBaseBuilder(old)
  builder.add(added, 2 ** 24)
  const base = builtBy(builder).base
  const addresses = many.slice(0, 300).map(one => one.address)
  const expected = [...held, ...notHeld.map(() => undefined), ...added].map(one =>
    one ? { text: one.label } : 'unknown',
  )
  expect(shown(addresses, chains[0]!, { base, changed: undefined })).toEqual(expected)
  expect(isCrowded(base)).toBe(false)
  const more = new LabelBaseBuilder(base)
  more.add(many.slice(300), 2 ** 24)
  expect(isCrowded(builtBy(more).base)).toBe(true)
})

const prefixOfText = (one: Address) => Number.parseInt(one.slice(2, 6), 16)
/** Of the first bytes that addresses begin with. */
const somePrefixes = fc.uniqueArray(fc.nat(2)).map(firsts => {
  const prefixes = new Uint8Array(prefixCount)
  for (const first of firsts) prefixes[first * 0x101] = 1
  return prefixes
})

test('every address with a changed prefix is unknown, and no other', () => {
  fc.assert(
    fc.property(labels, fc.array(address), somePrefixes, (given, others, changed) => {
      const addresses = [...others, ...given.map(one => one.address)]
      expect(shown(addresses, chains[0]!, { ...labelsInMemory(given), changed })).toEqual(
        addresses.map(one => (changed[prefixOfText(one)] === 1 ? 'unknown' : winner(given, one, chains[0]!))),
      )
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('a base that is built from another one has the new labels of replaced prefixes, and the other keeps its own', () => {
  fc.assert(
    fc.property(
      labels,
      labels,
      fc.array(somePrefixes, { minLength: 1, maxLength: 4 }),
      (before, after, replacements) => {
        const addresses = [...before, ...after].map(one => one.address)
        const all = (given: readonly RankedLabel[]) => addresses.map(one => winner(given, one, chains[0]!))
        let [base, expected] = [labelsInMemory(before).base, before]
        for (const replaced of replacements) {
          const [isReplaced, old, oldExpected] = [
            (one: RankedLabel) => replaced[prefixOfText(one.address)] === 1,
            base,
            expected,
          ]
          const builder = new LabelBaseBuilder(old)
          builder.add(after.filter(isReplaced), 2 ** 24)
          base = builtBy(builder, replaced).base
          expected = [...after.filter(isReplaced), ...oldExpected.filter(one => !isReplaced(one))]
          expect(base.count).toBe(new Set(expected.map(one => one.address)).size)
          expect(shown(addresses, chains[0]!, { base, changed: undefined })).toEqual(all(expected))
          expect(shown(addresses, chains[0]!, { base: old, changed: undefined })).toEqual(all(oldExpected))
        }
      },
    ),
    { numRuns: propertyRuns(200) },
  )
})

/** Spread over all first bytes. */
const addressOf = (index: number) =>
  `0x${(Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0').repeat(5)}` as Address
const many = Array.from({ length: 5_000 }, (_, index) => ({
  ...{ address: addressOf(index), chain: undefined, label: `Label ${index % 2_500} ✓` },
}))

function hashOfText(one: Address): number {
  return hashOf(new DataView(Uint8Array.from(bytesOfHex(one)).buffer), 0)
}

test('equal texts have equal checksums', () => {
  const page = pageOfParties(many.map(one => one.address))
  const { labels: found } = findLabels(page, chains[0]!, labelsInMemory(many))
  const byText = new Map(many.map((one, index) => [one.label, found.checksumOf(found.shown[index * 2]!)]))
  for (const [index, one] of many.entries())
    expect(found.checksumOf(found.shown[index * 2]!)).toBe(byText.get(one.label))
  expect(new Set(byText.values()).size).toBe(2_500)
  expect(found.checksumOf(found.add(many[0]!.label))).toBe(byText.get(many[0]!.label))
})

function built(given: readonly RankedLabel[], isHeld: boolean) {
  const builder = new LabelBaseBuilder(emptyBase)
  builder.add(given, isHeld ? 2 ** 24 : 0)
  return builtBy(builder)
}

test('a filter passes few that were not added, in at most three bytes for each', () => {
  const { base } = labelsInMemory(many)
  for (const one of many) expect(passes(one.address, base)).toBe(true)
  const strangers = Array.from({ length: 20_000 }, (_, index) => passes(addressOf(1_000_000 + index), base))
  expect(strangers.filter(Boolean).length).toBeLessThan(1_200)
  expect(base.filter.byteLength).toBeLessThanOrEqual(many.length * 3)
})

test('a label with 24 characters takes at most 99 bytes, one that is not held 3, and none at all nothing', () => {
  const long = many.map(one => ({ ...one, label: 'x'.repeat(24) }))
  expect(built(long, true).base.bytes).toBeLessThanOrEqual(long.length * 99)
  expect(built(long, false).base.bytes).toBeLessThanOrEqual(long.length * 3 + 100)
  expect(built([], true).base.bytes).toBe(0)
})

test('a large base is built in steps', () => {
  const large = Array.from({ length: 50_000 }, (_, index) => ({ ...many[0]!, address: addressOf(index) }))
  expect(built(large, true).steps).toBe(3)
})
