// What a pasted command or address gives the form of its operation.
import { expect, test } from 'vitest'
import { valuesAt } from './paths.ts'

const path = '/api/v2.2/nft/{address}/owners'
const names = ['address', 'chain', 'limit', 'addresses']
const address = '0x8464135c8f25da09e49bc8782676a84730c318bc'

test.each([
  [`-d '{"a": [1]}' '/x'`, '{"a": [1]}'],
  [`--data '{"name": "Ada'\\''s"}'`, `{"name": "Ada's"}`],
  [`--data-raw "{\\"a\\": 1}"`, '{"a": 1}'],
  [`--json '{}'`, '{}'],
  // From a file, and without one.
  ['-d @body.json', undefined],
  ['', undefined],
])('the body of a command with %s', (flags, body) => {
  const text = `curl -X POST ${flags} 'https://host/api/v2.2/nft/getMultipleNFTs?chain=eth'`
  const given = { chain: 'eth', ...(body === undefined ? {} : { body }) }
  expect(valuesAt('/api/v2.2/nft/getMultipleNFTs', text, ['chain', 'body'])).toEqual(given)
  expect(valuesAt('/api/v2.2/nft/getMultipleNFTs', text, ['chain'])).toEqual({ chain: 'eth' })
})

test.each([
  [
    `curl --request GET --url 'https://deep-index.example/api/v2.2/nft/${address}/owners?chain=0x1&limit=7&key=secret' --header 'X-API-Key: k'`,
    { address, chain: '0x1', limit: '7' },
  ],
  [`https://host/api/v2/nft/${address}/owners`, { address }],
  [`GET /nft/${address}/owners?chain=eth&limit=`, { address, chain: 'eth', limit: '' }],
  [`/nft/${address}/owners?addresses[]=a&addresses%5B%5D=b&addresses[2]=c`, { address, addresses: 'a,b,c' }],
  [`/nft/${address}/owners?chain={chain}`, { address }],
  // What is still open is not asked.
  ['/nft/{address}/owners?chain=eth', {}],
  ['/nft/0x8464…/owners?chain=eth', {}],
  ['/nft/$CONTRACT/owners', {}],
  // Another operation, and no address at all.
  [`/nft/${address}/transfers?chain=eth`, {}],
  ['owners of a chain', {}],
])('%s', (text, values) => {
  expect(valuesAt(path, text, names)).toEqual(values)
})
