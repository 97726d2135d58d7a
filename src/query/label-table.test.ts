// The table holds what a map would, whatever is put, changed and taken away. No store is asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labelsAtHand, pageOfParties, textsOf } from '../../test/labelled-page.ts'
import { bytesOfHex } from '../hex.ts'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'
import { addressHash, everyAddress } from '../store/label-changes.ts'
import { findLabels } from './find-labels.ts'
import { LabelStretches } from './label-stretches.ts'
import { filterBits, LabelFilter, LabelTable } from './label-table.ts'

// The last three differ in the higher word alone, or would be none without it.
const chains = [1, 0xffffffff, 0x2a15c308d, 0x1a15c308d, 0x100000000] as ChainId[]
// Few different bytes, so that many addresses share their ends and with them their hash, and the zero address is one.
const address = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)).map(([first, middle, last]) => {
  const parts = [Buffer.alloc(4, first), Buffer.alloc(12, middle), Buffer.alloc(4, last)]
  return `0x${Buffer.concat(parts).toString('hex')}` as Address
})
const label = fc.record({
  address,
  chain: fc.constantFrom(undefined, ...chains),
  label: fc.oneof(
    fc.constantFrom('a', 'b'),
    fc.string({ unit: 'grapheme' }),
    fc.string({ minLength: 300, maxLength: 400 }),
  ),
})
/** A stable sort: those of one address stay in their order. */
const labels = fc
  .array(label, { maxLength: 40 })
  .map(given => given.toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)))

/** What pages show of the addresses; undefined in the second place where that is not known. */
function shown(addresses: readonly Address[], chain: ChainId, atHand: ReturnType<typeof labelsAtHand>) {
  const page = pageOfParties(addresses)
  const { labels: found, unknown } = findLabels(page, chain, atHand)
  const places = new Set(unknown.flatMap(party => party.places))
  const texts = textsOf(page, found)
  return addresses.map((_, index) => (places.has(index * 2) ? 'unknown' : { text: texts[index * 2] }))
}

function winner(given: readonly RankedLabel[], of: Address, on: ChainId) {
  return { text: given.find(one => one.address === of && (one.chain === undefined || one.chain === on))?.label }
}

test('shows on each chain the first label that holds there, after any number of exchanges', () => {
  fc.assert(
    fc.property(fc.array(labels, { minLength: 1, maxLength: 5 }), fc.array(address), (readings, others) => {
      const table = new LabelTable(1_000_000)
      let records = new Uint32Array(0)
      for (const reading of readings) {
        for (const _ of table.growing(reading.length, []));
        const { bytes } = table.arena
        const held = table.exchange(records, reading)
        records = new Uint32Array(held.records)
        const stretches = new LabelStretches([{ ...everyAddress, isRead: true, ...held }])
        const addresses = [...others, ...new Set(readings.flat().map(one => one.address))]
        for (const chain of chains)
          expect(shown(addresses, chain, { table, stretches })).toEqual(
            addresses.map(one => winner(reading, one, chain)),
          )
        expect(table.slots.count).toBe(new Set(reading.map(one => one.address)).size)
        // The same once more leaves nothing behind.
        const after = table.arena.bytes
        expect(table.exchange(records, reading)).toEqual(held)
        expect(table.arena.bytes).toBe(after)
        expect(after).toBeGreaterThanOrEqual(bytes)
      }
      table.exchange(records, [])
      expect([table.slots.count, table.arena.bytes - table.arena.lostBytes]).toEqual([0, 4])
    }),
  )
})

test('of labels without room the presence is known, and nothing is told of them', () => {
  fc.assert(
    fc.property(labels, fc.array(address), fc.nat(2_000), (given, others, bytesMax) => {
      const atHand = labelsAtHand(given, bytesMax)
      const named = [...new Set(given.map(one => one.address))]
      expect(atHand.table.slots.count + atHand.stretches.hashCount).toBe(named.length)
      for (const chain of chains) {
        const found = shown([...named, ...others], chain, atHand)
        const hashes = new Set(named.map(one => addressHash(bytesOfHex(one), 0)))
        for (const [index, one] of [...named, ...others].entries())
          if (found[index] !== 'unknown') expect(found[index]).toEqual(winner(given, one, chain))
          else expect(hashes).toContain(addressHash(bytesOfHex(one), 0))
      }
    }),
  )
})

const addressOf = (index: number) => `0x${index.toString(16).padStart(8, '0').repeat(5)}` as Address
const many = Array.from({ length: 5_000 }, (_, index) => ({
  ...{ address: addressOf(index * 0xabcd), chain: undefined, label: `Label ${index % 2_500} ✓` },
})).sort((a, b) => (a.address < b.address ? -1 : 1))

test('grows between exchanges, and a page goes on reading what it found', () => {
  const table = new LabelTable(1_000_000)
  const page = pageOfParties(many.slice(0, 50).map(one => one.address))
  let early: ReturnType<typeof findLabels> | undefined
  const records: number[] = []
  for (let from = 0; from < many.length; from += 100) {
    const part = many.slice(from, from + 100)
    for (const _ of table.growing(part.length, []));
    records.push(...table.exchange(new Uint32Array(0), part).records)
    const held = { records: Uint32Array.from(records), hashes: new Uint32Array(0) }
    const atHand = { table, stretches: new LabelStretches([{ ...everyAddress, isRead: true, ...held }]) }
    early ??= findLabels(page, chains[0]!, atHand)
    expect(shown([part[7]!.address, addressOf(1)], chains[0]!, atHand)).toEqual([
      { text: part[7]!.label },
      { text: undefined },
    ])
  }
  table.exchange(Uint32Array.from(records), [])
  expect(textsOf(page, early!.labels)[0]).toBe(many[0]!.label)
  expect(table.isWorn).toBe(false)
})

test('is worn once most of many records are lost', () => {
  const table = new LabelTable(10_000_000)
  const long = (text: string) => many.map(one => ({ ...one, label: text.repeat(200) }))
  for (const _ of table.growing(many.length, []));
  const { records } = table.exchange(new Uint32Array(0), long('a'))
  const { records: changed } = table.exchange(records, [...long('b').slice(0, 4_900), ...long('a').slice(4_900)])
  expect(changed.slice(4_900)).toEqual(records.slice(4_900))
  expect(table.isWorn).toBe(false)
  table.exchange(changed, long('c'))
  expect(table.isWorn).toBe(true)
})

test('equal texts have equal checksums', () => {
  const page = pageOfParties(many.map(one => one.address))
  const { labels: found } = findLabels(page, chains[0]!, labelsAtHand(many))
  const byText = new Map(many.map((one, index) => [one.label, found!.checksumOf(found!.shown[index * 2]!)]))
  for (const [index, one] of many.entries())
    expect(found!.checksumOf(found!.shown[index * 2]!)).toBe(byText.get(one.label))
  expect(new Set(byText.values()).size).toBe(2_500)
  const looked = found!.add(many[0]!.label)
  expect(found!.checksumOf(looked)).toBe(byText.get(many[0]!.label))
})

test('a full filter passes few that were not added', () => {
  const filter = new LabelFilter(2_000)
  const hashOf = (index: number) => addressHash(bytesOfHex(addressOf(index)), 0)
  const passes = (hash: number) => (filter.words[hash >>> filter.shift]! & filterBits(hash)) === filterBits(hash)
  for (let index = 0; filter.hasRoomFor(1); index++) filter.add(hashOf(index))
  for (let index = 0; index < 2_000; index++) expect(passes(hashOf(index))).toBe(true)
  const strangers = Array.from({ length: 20_000 }, (_, index) => passes(hashOf(1_000_000 + index)))
  expect(strangers.filter(Boolean).length).toBeLessThan(1_200)
  expect(filter.words.byteLength).toBeLessThanOrEqual(2_000 * 3)
})
