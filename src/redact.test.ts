import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactStore, redactText, redactUrl } from './redact.ts'

test.each([
  ['https://rpc.example', 'https://rpc.example'],
  ['https://rpc.example:8545/', 'https://rpc.example:8545'],
  ['https://rpc.example/v2/abc', 'https://rpc.example/…'],
  ['https://rpc.example?key=abc', 'https://rpc.example/…'],
  ['wss://user:abc@rpc.example/', 'wss://…@rpc.example'],
  ['abc', '(hidden)'],
  ['http://', '(hidden)'],
])('%s is shown as %s', (url, shown) => {
  expect(redactUrl(url)).toBe(shown)
})

test('a store shows where it is, without the password', () => {
  expect(redactStore('file:./almanac.db')).toBe('file:./almanac.db')
  expect(redactStore('postgres://me:abc@db:5432/almanac?sslkey=abc')).toBe('postgres://me:…@db:5432/almanac?…')
  expect(redactStore('postgres://me:a b@[bad')).toBe('(hidden)')
})

test('no secret survives in a text, wherever it stands in the address', () => {
  const secret = 'S3cr3tS3cr3tS3cr3t'
  const url = fc.constantFrom(
    `https://${secret}@a.example/`,
    `https://u:${secret}@a.example/x`,
    `http://a.example/${secret}`,
    `http://a.example/x?apikey=${secret}&b=1`,
    `WSS://a.example/x#${secret}`,
    `postgres://u:${secret}@a.example/x`,
    `alm_${secret}`,
  )
  const around = fc.constantFrom('', ' ', '"', "'", '(', ')', '<', '>', ', ')
  fc.assert(
    fc.property(fc.array(fc.tuple(around, url, around)), parts => {
      expect(redactText(parts.flat().join(''))).not.toContain(secret)
    }),
  )
})
