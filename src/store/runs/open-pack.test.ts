// Single records of packs are found as a walk over all of them finds them.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { OpenPack, PackSearch } from './open-pack.ts'
import { compareKeys, PackReader, PackWriter } from './pack.ts'

const keyBytes = 11
/** Few values, so that keys and values have much in common, at both ends. */
const byte = fc.constantFrom(0, 1, 255)
const key = fc.array(byte, { minLength: keyBytes, maxLength: keyBytes }).map(bytes => Uint8Array.from(bytes))
const value = fc.array(byte, { maxLength: 20 }).map(bytes => Uint8Array.from(bytes))

test('the last record at or before any key, from either side', () => {
  const search = new PackSearch(keyBytes)
  const opened = new OpenPack(keyBytes)
  const packs = fc.uniqueArray(fc.tuple(key, value), { selector: ([each]) => each.join(), minLength: 1, maxLength: 60 })
  const property = fc.property(packs, fc.array(key, { maxLength: 20 }), (records, others) => {
    records.sort(([a], [b]) => compareKeys(a, b))
    const bytes = packOf(records)
    opened.open(bytes as Uint8Array<ArrayBuffer>)
    for (const wanted of [...records.map(([each]) => each), ...others]) {
      const at = records.findLastIndex(([each]) => compareKeys(each, wanted) <= 0)
      expect(opened.lastUpTo(wanted)).toBe(at)
      expect(search.lastUpTo(bytes, wanted)).toBe(at >= 0)
      if (at < 0) continue
      const [foundKey, foundValue] = records[at]!
      expect([search.keyFrom(0), search.keyFrom(7), search.value()]).toEqual([foundKey, foundKey.slice(7), foundValue])
      const alike = foundKey.findIndex((each, place) => each !== wanted[place])
      expect(search.isAlike()).toBe(alike < 0)
      if (alike >= 0) expect([search.isAlike(alike), search.isAlike(alike + 1)]).toEqual([true, false])
    }
    expect(walked(bytes)).toEqual(records)
  })
  fc.assert(property, { numRuns: 60 })
})

function packOf(records: readonly [Uint8Array, Uint8Array][]): Uint8Array {
  const packs: Uint8Array[] = []
  const writer = new PackWriter(keyBytes, pack => packs.push(pack.bytes))
  for (const [each, its] of records) writer.add(each, its, its.length)
  writer.flush()
  expect(packs).toHaveLength(1)
  return packs[0]!
}

function walked(bytes: Uint8Array): [Uint8Array, Uint8Array][] {
  const reader = new PackReader(keyBytes)
  reader.open(bytes)
  const found: [Uint8Array, Uint8Array][] = []
  while (reader.next()) found.push([reader.key.slice(), reader.value.slice(0, reader.valueLength)])
  return found
}
