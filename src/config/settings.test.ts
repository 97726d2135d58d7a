import { expect, test } from 'vitest'
import { parseListen } from './settings.ts'

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  [':0', { host: '0.0.0.0', port: 0 }],
  ['[::1]:65535', { host: '::1', port: 65_535 }],
  ['almanac.example:80', { host: 'almanac.example', port: 80 }],
])('%s', (text, address) => {
  expect(parseListen(text)).toEqual(address)
})

test.each(['', '8080', 'a:', ':65536', '::1:80', '[::1]', 'http://a:80', 'a b:80', 'a:80:90', 'a:-1', 'a:1e3'])(
  '%j is none',
  text => {
    expect(parseListen(text)).toBeUndefined()
  },
)
