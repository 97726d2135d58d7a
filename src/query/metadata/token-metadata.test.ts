// JSON within URIs: what contracts really write, and what hostile ones could.
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { metadataOf, normalizedMetadataOf } from './token-metadata.ts'

const json = '{"name":"Ünit #1 🐒","share":"50%"}'
const base64 = Buffer.from(json).toString('base64')

test.each([
  ['base64', `data:application/json;base64,${base64}`],
  ['base64 with a character set', `data:application/json;charset=utf-8;base64,${base64}`],
  ['base64 with escaped padding', `data:application/json;base64,${base64.replaceAll('=', '%3D')}`],
  ['escapes', `data:application/json,${encodeURIComponent(json)}`],
  ['plain text, as many contracts write it', `data:application/json;utf8,${json}`],
  ['a text without a type', `data:,${json}`],
  ['plain text by its type', `data:text/plain;charset=utf-8;base64,${base64}`],
  ['capitals and lines', `DATA:Application/JSON;UTF8,\n${json}\n`],
])('%s', (_, uri) => {
  expect(metadataOf(uri)).toBe(json)
})

test('other character sets, and a megabyte', () => {
  const latin = Buffer.from('{"name":"Caf\xe9"}', 'latin1').toString('base64')
  expect(metadataOf(`data:application/json;charset=ISO-8859-1;base64,${latin}`)).toBe('{"name":"Café"}')
  const large = `{"a":"${'x'.repeat(2 ** 20 - 8)}"}`
  expect(metadataOf(`data:application/json;base64,${Buffer.from(large).toString('base64')}`)).toBe(large)
})

test('a text that is JSON before it is decoded and not after stays as it is', () => {
  expect(metadataOf('data:application/json,{"a":"%22"}')).toBe('{"a":"%22"}')
})

test.each([
  ['another scheme', 'ipfs://QmHash/1.json'],
  ['a page', 'https://example.com/{"a":1}'],
  ['another type', `data:image/svg+xml;base64,${base64}`],
  ['a page by its type', `data:text/html,${json}`],
  ['an unknown character set', `data:application/json;charset=klingon;base64,${base64}`],
  ['no comma', 'data:application/json;base64'],
  ['a list', 'data:application/json,[1]'],
  ['a number', 'data:application/json,1'],
  ['null', 'data:application/json,null'],
  ['nothing', 'data:application/json,'],
  ['broken JSON', 'data:application/json,{"a":'],
  [
    'bytes that are not UTF-8',
    `data:application/json;base64,${Buffer.from('{"a":"\xff"}', 'latin1').toString('base64')}`,
  ],
  ['more than 1 MB', `data:application/json,{"a":"${'x'.repeat(2 ** 20)}"}`],
  [
    'more than 1 MB in base64',
    `data:application/json;base64,${Buffer.from(`{"a":"${'x'.repeat(2 ** 20)}"}`).toString('base64')}`,
  ],
])('nothing is read from %s', (_, uri) => {
  expect(metadataOf(uri)).toBeUndefined()
})

test('any object comes back, in base64 and in escapes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 }), value => {
      const text = JSON.stringify(value).toWellFormed()
      expect(metadataOf(`data:application/json;base64,${Buffer.from(text).toString('base64')}`)).toBe(text)
      expect(metadataOf(`data:application/json,${encodeURIComponent(text)}`)).toBe(text)
    }),
    { numRuns: 50 },
  )
})

test('the fields that clients know', () => {
  const given = {
    ...{ name: 'One', description: null, image_url: 'ipfs://image', external_url: 'https://example.com', extra: 1 },
    attributes: [{ trait_type: 'Eyes', value: 3, max_value: 5, display_type: 'number' }, 'nonsense', null, [1]],
  }
  const none = { order: null, trait_count: 0 }
  expect(normalizedMetadataOf(JSON.stringify(given))).toEqual({
    ...{ name: 'One', description: null, image: 'ipfs://image', animation_url: null },
    ...{ external_link: 'https://example.com', external_url: 'https://example.com' },
    attributes: [{ trait_type: 'Eyes', value: 3, max_value: 5, display_type: 'number', ...none }],
  })
})

test('fields of any shape cost nothing: nested without end, objects in place of text, attributes that are no list', () => {
  const deep = `{"name":${'['.repeat(30_000)}${']'.repeat(30_000)},"image":{"a":1},"attributes":{"length":9}}`
  const metadata = metadataOf(`data:application/json,${deep}`)!
  expect(JSON.stringify(normalizedMetadataOf(metadata))).toContain('"name":null,')
  expect(normalizedMetadataOf('{"__proto__":{"name":"x"}}').name).toBeNull()
  const many = `{"attributes":[${'{},'.repeat(300_000)}{}]}`
  expect(normalizedMetadataOf(many).attributes).toHaveLength(1_000)
})

test('escapes are read without a text for each: a page of foreign tokens may have a million of them', () => {
  const escaped = (text: string): string => Array.from(Buffer.from(text), byte => `%${byte.toString(16)}`).join('')
  const name = JSON.stringify({ name: 'ÅZ09az'.repeat(1_000) })
  const strange = `{"name":"${'%g0%0g%'.repeat(1_000)}"}`
  const matched = vi.spyOn(RegExp.prototype, 'exec')
  expect(metadataOf(`data:application/json,${escaped(name)}`)).toBe(name)
  expect(metadataOf(`data:application/json,${strange}`)).toBe(strange)
  expect(matched.mock.calls.length).toBeLessThan(10)
  matched.mockRestore()
})
