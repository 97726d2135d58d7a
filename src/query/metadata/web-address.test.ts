// Where URIs point: as contracts really write them, and what no wallet would load.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { webAddressOf } from './web-address.ts'

const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const cid1 = 'bafkreidlp6sdj6jkroakvmbntpy2clsj77foijheae5byt3iwz7d2k542a'
const onArweave = 'a'.repeat(43)

test.each([
  [`ipfs://${cid}/1.json`, `ipfs://${cid}/1.json`],
  [`IPFS://${cid}/1.json`, `ipfs://${cid}/1.json`],
  [`ipfs:/${cid}`, `ipfs://${cid}`],
  [`ipfs://ipfs/${cid}/1.json`, `ipfs://${cid}/1.json`],
  [`ipfs://${cid}//a/./My Art #1.png`, `ipfs://${cid}/a/My%20Art%20%231.png`],
  [`ipfs://${cid}/My%20Art.png?x=1`, `ipfs://${cid}/My%20Art.png`],
  [`  ${cid}/1.json\n`, `ipfs://${cid}/1.json`],
  [cid1, `ipfs://${cid1}`],
  [`/ipfs/${cid}`, `ipfs://${cid}`],
  [`https://gateway.example/ipfs/${cid}/a%20b`, `ipfs://${cid}/a%20b`],
  [`https://${cid1}.ipfs.dweb.link/1.json`, `ipfs://${cid1}/1.json`],
  ['ipns://name.example/1', 'ipns://name.example/1'],
  [`ar://${onArweave}/1.json`, `ar://${onArweave}/1.json`],
  [`https://arweave.net/${onArweave}`, `ar://${onArweave}`],
  ['https://arweave.net/graphql', 'https://arweave.net/graphql'],
  ['http://host.example/1.json#a', 'https://host.example/1.json'],
  ['https://Host.example/a b?c=d', 'https://host.example/a%20b?c=d'],
])('%s', (uri, name) => {
  expect(webAddressOf(uri)?.name).toBe(name)
})

test.each([
  ...['', ' ', 'ipfs://', 'ipfs://short', `ipfs://${cid}/../../etc`, `ipfs://${cid}/%2e%2e/a`, `ipfs://${cid}/%zz%00`],
  ...['ar://short', 'https://', 'javascript:alert(1)', 'file:///etc/passwd', 'data:,x', 'ftp://a.example/', '1.json'],
  ...['//host.example/a', 'blob:https://a.example/1', `https://a.example/${'x'.repeat(3_000)}`],
])('%s leads nowhere', uri => {
  expect(webAddressOf(uri)).toBeUndefined()
})

test('an id goes into an address as ERC-1155 says, and what is relative is beside its metadata', () => {
  expect(webAddressOf('https://a.example/{id}.png', { tokenId: 255n })?.name).toBe(
    `https://a.example/${'ff'.padStart(64, '0')}.png`,
  )
  const within = webAddressOf(`ipfs://${cid}/meta/1.json`)!
  const beside = (text: string) => webAddressOf(text, { within })?.name
  expect(beside('1.png')).toBe(`ipfs://${cid}/meta/1.png`)
  expect(beside('../art/1.png')).toBe(`ipfs://${cid}/art/1.png`)
  for (const outside of ['../../1.png', '/1.png', '//a.example/1.png', 'x:y', '<svg>'])
    expect(beside(outside)).toBeUndefined()
  const onWeb = webAddressOf('https://a.example/meta/1.json')!
  expect(webAddressOf('../1.png', { within: onWeb })?.name).toBe('https://a.example/1.png')
})

test('any text is an address or none, and the same place has one name', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.webUrl(),
        fc.string().map(text => `ipfs://${cid}/${text}`),
      ),
      text => {
        const address = webAddressOf(text)
        if (address !== undefined) expect(webAddressOf(address.name)?.name).toBe(address.name)
      },
    ),
    { numRuns: 300 },
  )
})
