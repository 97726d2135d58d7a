import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redactMistyped, redactorOf, redactStore, redactText, redactUrl } from './redact.ts'

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

test.each([
  ['rpc.example/v2/S3CRET', 'rpc.example/…'],
  ['htp//rpc.example/v2/S3CRET', 'htp//rpc.example/…'],
  ['https:rpc.example?key=S3CRET', 'https://rpc.example/…'],
  ['ftp://rpc.example/S3CRET', 'ftp://rpc.example/…'],
  ['me:S3CRET@rpc.example', '…@rpc.example'],
  ['localhost:8545', 'localhost:8545'],
  ['127.0.0.1:8545/S3CRET', '127.0.0.1:8545/…'],
  ['perhaps', 'perhaps'],
  ['S3CRET', '(hidden)'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.S3CRET', '(hidden)'],
  ['http://', '(hidden)'],
])('what was mistyped as %s is shown as %s', (text, shown) => {
  expect(redactMistyped(text)).toBe(shown)
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
    `whsec_${secret}`,
  )
  const around = fc.constantFrom('', ' ', '"', "'", '(', ')', '<', '>', ', ')
  fc.assert(
    fc.property(fc.array(fc.tuple(around, url, around)), parts => {
      expect(redactText(parts.flat().join(''))).not.toContain(secret)
    }),
  )
})

test.each([
  ['a bracket in the path', 'https://a.example/x)S3CRET', 'https://a.example/…'],
  ['a bracket in the login', 'https://u:p)S3CRET@a.example/x', 'https://…@a.example/…'],
  ['a quote in the login', "https://u:p'S3CRET@a.example/x", 'https://…@a.example/…'],
  ['an IPv6 host', 'http://[::1]:8545/S3CRET', 'http://[::1]:8545/…'],
  ['no scheme', '//u:S3CRET@a.example', '//…@a.example'],
  ['another scheme', 'redis://u:S3CRET@a.example', 'redis://…@a.example'],
  ['slashes that JSON escaped', String.raw`https:\/\/u:S3CRET@a.example\/v2\/S3CRET`, 'https://…@a.example/…'],
  ['slashes that were escaped twice', String.raw`https:\\/\\/a.example\\/S3CRET`, 'https://a.example/…'],
  ['signs that JSON escaped', String.raw`https://a.example/?a=1\u0026key=S3CRET`, 'https://a.example/…'],
  ['an encoded address', 'https%3A%2F%2Fu%3AS3CRET%40a.example%2FS3CRET', 'https://…@a.example/…'],
  ['one encoded twice', 'wss%253a%252f%252fa.example%252fS3CRET', 'wss://a.example/…'],
  ['one that cannot be decoded', 'https%3A%2F%2Fa.example%2F%E0S3CRET', '(hidden)'],
])('%s hides nothing from the redactor', (_, text, shown) => {
  expect(redactText(text)).toBe(shown)
  expect(redactText(`(${text}), "${text}".`)).toBe(`(${shown}), "${shown}".`)
})

test('a text without an address stays, and what follows one too', () => {
  const said = 'at file:///srv/node_modules/@scope/a.js:1:2 // me@a.example, a/b//c (12:30)'
  expect(redactText(said)).toBe(said)
  expect(redactText(String.raw`{"a":"http://[::1]","b":"https://a.example/x\nnext"}`)).toBe(
    String.raw`{"a":"http://[::1]","b":"https://a.example/…\nnext"}`,
  )
})

test('a long text takes no longer than its length', () => {
  // Of this thread, whatever else the machine does.
  const before = process.threadCpuUsage()
  for (const part of ['http', 'http:\\/', '//', '//u', '%2F', '\\', "'", 'https%25', 'http://a', ')', '[a'])
    redactText(`http://${part.repeat(50_000)}x \\u0041${part.repeat(50_000)}`)
  expect(process.threadCpuUsage(before).user).toBeLessThan(2e6)
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
