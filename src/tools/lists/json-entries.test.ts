// Entries of a JSON document are reported as they come, however the text is cut. No file is read.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonEntries, type JsonEntry } from './json-entries.ts'

function read(text: string, cuts: readonly number[] = []): JsonEntry[] {
  const entries = new JsonEntries()
  const found: JsonEntry[] = []
  let from = 0
  for (const cut of [...cuts.map(at => at % (text.length + 1)).sort((a, b) => a - b), text.length]) {
    found.push(...entries.push(text.slice(from, cut)))
    from = cut
  }
  return [...found, ...entries.end()]
}

const cuts = fc.array(fc.nat(), { maxLength: 8 })
const indent = fc.constantFrom(undefined, 2, '\t')

test('a map and a list come back as JSON.parse reads them, in pieces cut anywhere', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), indent, cuts, (map, space, at) => {
      const { tokens: _, ...plain } = JSON.parse(JSON.stringify(map)) as Record<string, unknown>
      const found = read(JSON.stringify(plain, null, space), at)
      expect(found.map(entry => 'key' in entry && [entry.key, entry.value])).toEqual(Object.entries(plain))
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), indent, cuts, (list, space, at) => {
      const plain = JSON.parse(JSON.stringify(list)) as unknown[]
      const found = read(JSON.stringify(plain, null, space), at)
      expect(found.map(entry => 'key' in entry && [entry.key, entry.value])).toEqual(plain.map(v => [undefined, v]))
    }),
  )
})

test('the list of a token list is opened, and the members around it are reported too', () => {
  const text = '{\n "name": "List",\n "tokens": [\n  {"a": 1},\n  {"b": [2]}\n ],\n "version": {"major": 1}\n}'
  expect(read(text)).toEqual([
    { line: 2, key: 'name', value: 'List' },
    { line: 4, key: undefined, value: { a: 1 } },
    { line: 5, key: undefined, value: { b: [2] } },
    { line: 7, key: 'version', value: { major: 1 } },
  ])
})

test('a broken entry costs that entry, an unfinished document is reported', () => {
  expect(read('{"a": 1,\n"b": x,\n"c": 3}')).toMatchObject([
    { line: 1, key: 'a' },
    { line: 2, problem: expect.stringContaining('not JSON') },
    { line: 3, key: 'c', value: 3 },
  ])
  expect(read('[1,\n2').at(-1)).toEqual({ line: 2, problem: 'the document ends before it is closed' })
})

test('an entry of any size is passed over without being kept', () => {
  const large = JSON.stringify('x'.repeat(100_000))
  expect(read(`{"logo": ${large}, "b": 2}`)).toEqual([
    { line: 1, key: 'logo', value: undefined },
    { line: 1, key: 'b', value: 2 },
  ])
  expect(read(`[${large}, 2]`)).toMatchObject([{ line: 1, problem: expect.stringContaining('longer') }, { value: 2 }])
})
