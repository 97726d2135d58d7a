import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactorOf, redactStore, redactText, redactUrl } from './redact.ts'

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
  expect(redactStore('./almanac.db')).toBe('./almanac.db')
})

test.each([
  ['postgress://me:abc@db/almanac', 'postgress://me:…@db/almanac'],
  [' postgres://me:abc@db/almanac', 'postgres://me:…@db/almanac'],
  ['mysql://me:abc@db', 'mysql://me:…@db'],
  ['postgres:me:abc@db', '(hidden)'],
  ['me:abc@db/almanac', '(hidden)'],
  ['postgres://me:12/abc@db/almanac', '(hidden)'],
])('a store that was mistyped as %s is shown as %s', (store, shown) => {
  expect(redactStore(store)).toBe(shown)
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

const said = 'over the limit of mainnet at status 429, see v2'
const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each([
  ['a long key in the path', 'https://a.example/v2/mainnet/SECRETAPIKEY1234567890', ['SECRETAPIKEY1234567890']],
  ['a short key in the path', 'https://a.example/v2/k3y4567/', ['k3y4567', 'K3Y4567']],
  ['a key of a letter', 'https://a.example/q', ['q']],
  ['an encoded key in the path', 'https://a.example/a%2Fb%20c1', ['a%2Fb%20c1', 'a/b c1']],
  ['a value of the query', 'https://a.example/?tok=qwerty7&x=z9', ['qwerty7', 'z9']],
  ['a query without a name', 'https://a.example/?qwerty7', ['qwerty7']],
  [
    'a login',
    'https://u5er:p4%22ss%3Aw0rd@a.example/',
    [
      'u5er',
      'p4"ss:w0rd',
      'p4\\"ss:w0rd',
      'p4%22ss%3Aw0rd',
      base64('u5er:p4"ss:w0rd'),
      base64('u5er:p4"ss:w0rd').replace(/=+$/, ''),
    ],
  ],
  ['a user alone', 'https://u5er@a.example/', ['u5er', base64('u5er:')]],
])('%s is taken out of what the node says, and nothing else', (_, url, secrets) => {
  const redact = redactorOf(url)
  expect(redact(said)).toBe(said)
  for (const secret of secrets) expect(redact(`<${secret}> ${said}`)).toBe(`<***> ${said}`)
})

test('a secret beside the URL is taken out, and with it what a terminal would obey', () => {
  const redact = redactorOf('https://a.example/', ['t0ken'])
  expect(redact('Bearer t0ken\u202e\nis \u001b[31mwrong at http://b.example/x')).toBe(
    'Bearer ***  is  [31mwrong at http://b.example/…',
  )
})
