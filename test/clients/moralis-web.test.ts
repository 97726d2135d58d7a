// Both generations of the public SDK on metadata and pictures that lie off chain, and on reading them again.
import Moralis22 from 'moralis-2.22'
import Moralis27 from 'moralis-2.27'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alice, apes, chain, fillFinal, plainRow } from '../plain-rows.ts'
import {
  fileContent,
  folderContent,
  type Gateway,
  gatewayOf,
  rawContent,
  startServer,
  startWebWorld,
  type WebWorld,
} from '../web-world.ts'

type Row = {
  metadata: { name: string }
  normalizedMetadata?: { name: string; attributes: { traitType: string; value: unknown }[] }
  media: { status: string; mimetype: string; originalMediaUrl: string; mediaCollection: { low: { url: string } } }
}
type Answer<Result> = { result: Result; raw: unknown }
type Sdk = {
  start(config: { apiKey: string; evmApiBaseUrl: string }): Promise<void>
  EvmApi: {
    nft: {
      getNFTMetadata(request: object): Promise<Answer<Row>>
      getWalletNFTs(request: object): Promise<Answer<Row[]>>
      reSyncMetadata(request: object): Promise<Answer<{ status: string }>>
    }
  }
}

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const picture = rawContent(gif)
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const attributes = [{ trait_type: 'Eyes', value: 'blue' }]
const one = fileContent(json({ name: 'One', image: `ipfs://${picture.id}`, attributes }))
const folder = folderContent({ '1.json': one })

let gateway: Gateway
let world: WebWorld
beforeAll(async () => {
  gateway = await startServer(gatewayOf([picture, one, folder]))
  world = await startWebWorld({
    settings: { ipfs: [gateway.url] },
    fill: async store => {
      await fillFinal(store, [plainRow(apes, 1, { tokenId: 1n })])
      const uris = [{ contract: apes, tokenId: 1n, uri: `ipfs://${folder.id}/1.json`, readAtMs: Date.now() }]
      await store.annotate({ tokenUris: { chain, uris } })
    },
  })
})
afterAll(async () => {
  await world?.close()
  await gateway?.close()
})

describe.each([
  ['2.22.4', Moralis22 as unknown as Sdk, '/api/v2'],
  ['2.27.2', Moralis27 as unknown as Sdk, '/api/v2.2'],
])('moralis %s', (_, sdk, base) => {
  const token = { address: apes, tokenId: '1', chain: '0x1' }
  beforeAll(() => sdk.start({ apiKey: world.api.key, evmApiBaseUrl: world.api.url + base }))

  function check({ metadata, normalizedMetadata, media }: Row): void {
    expect(metadata.name).toBe('One')
    if (normalizedMetadata !== undefined)
      expect(normalizedMetadata).toMatchObject({ name: 'One', attributes: [{ traitType: 'Eyes', value: 'blue' }] })
    expect(media).toMatchObject({ status: 'success', mimetype: 'image/gif', originalMediaUrl: `ipfs://${picture.id}` })
  }

  test('getNFTMetadata and getWalletNFTs with normalizeMetadata and mediaItems', async () => {
    const options = { normalizeMetadata: true, mediaItems: true }
    const ask = async () => (await sdk.EvmApi.nft.getNFTMetadata({ ...token, ...options })).result
    await expect.poll(async () => (await ask()).media.status).toBe('success')
    const shown = await ask()
    check(shown)
    const link = await fetch(shown.media.mediaCollection.low.url)
    expect(Buffer.from(await link.arrayBuffer())).toEqual(gif)
    const { result } = await sdk.EvmApi.nft.getWalletNFTs({ address: alice, chain: '0x1', ...options })
    expect(result).toHaveLength(1)
    check(result[0]!)
  })

  test('reSyncMetadata, at once and later', async () => {
    const sync = await sdk.EvmApi.nft.reSyncMetadata({ ...token, flag: 'metadata', mode: 'sync' })
    expect([sync.result, sync.raw]).toEqual([{ status: 'completed' }, { status: 'completed' }])
    const later = await sdk.EvmApi.nft.reSyncMetadata(token)
    expect(later.result).toEqual({ status: 'pending' })
    await expect(sdk.EvmApi.nft.reSyncMetadata({ ...token, tokenId: '7', mode: 'sync' })).rejects.toThrow('404')
  })
})
