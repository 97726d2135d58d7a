// The operations beside the first three, as the public SDK calls them: every list to its end, single objects, counts,
// and what it makes of the answers. Those that a generation of the SDK lacks are left out.
import { beforeAll, describe, expect, test } from 'vitest'
import { seeded, seededTransfers } from '../seed.ts'
import { drawn } from './world.ts'

type Row = Record<string, unknown>
type Page = {
  raw: { page: unknown; result: Row[] }
  result: readonly object[]
  toJSON(): unknown
  hasNext(): boolean
  next(): Promise<Page>
}
type Single = { raw: unknown; result: unknown; toJSON(): unknown }
type Group = Record<string, ((request: object) => Promise<unknown>) | undefined>

type Groups = Record<'nft' | 'block' | 'wallets' | 'utils', Group>

export function neighbours(evmApi: unknown, dialect: 'reference' | 'live'): void {
  const groups = evmApi as Groups
  const list = (name: string, request: object) => groups.nft[name]!(request) as Promise<Page>
  const [newest] = seededTransfers(seeded.collection)
  const { block, tokenId: id, to: wallet } = newest!
  const token = { address: seeded.collection, tokenId: id.toString() }

  const lists: [name: string, request: object, firstPage: number][] = [
    ['getWalletNFTTransfers', { address: wallet }, 0],
    ['getNFTTransfers', token, 0],
    ['getNFTTransfersByBlock', { blockNumberOrHash: block.toString() }, 0],
    ['getNFTTransfersFromToBlock', { fromBlock: block - 40, toBlock: block }, 0],
    ['getNFTOwners', { address: seeded.range }, 1],
    ['getNFTTokenIdOwners', token, 1],
    ['getWalletNFTs', { address: wallet }, 1],
    ['getWalletNFTCollections', { address: wallet }, 1],
    ['getContractNFTs', { address: seeded.editions }, 0],
  ]

  describe.each(lists)('%s', (name, request, firstPage) => {
    let whole: Page
    beforeAll(async () => {
      whole = await list(name, { ...request, limit: 100 })
    })

    test('result and toJSON() hold what raw does', () => {
      expect(whole.raw.result.length).toBeGreaterThan(0)
      expect(whole.raw.page).toEqual(dialect === 'live' ? firstPage : `${firstPage}`)
      expect(whole.toJSON()).toEqual(whole.raw)
      expect(whole.result).toHaveLength(whole.raw.result.length)
    })

    test.each([1, 7])('next() reaches the same rows in pages of %s', async limit => {
      const rows: Row[] = []
      const wanted = whole.raw.result.slice(0, limit * 12)
      for (let page = await list(name, { ...request, limit }); ; page = await page.next()) {
        rows.push(...page.raw.result)
        expect(page.result).toHaveLength(page.raw.result.length)
        if (!page.hasNext() || rows.length >= wanted.length) break
      }
      expect(rows.slice(0, wanted.length)).toEqual(wanted)
    })
  })

  test('one NFT, and null where there is none', async () => {
    const found = (await groups.nft.getNFTMetadata!(token)) as Single
    expect(found.raw).toMatchObject({ token_address: seeded.collection, token_id: token.tokenId, owner_of: wallet })
    expect(found.result).toBeDefined()
    expect(await groups.nft.getNFTMetadata!({ ...token, tokenId: '987654321' })).toBeNull()
  })

  test('several NFTs, null for those that do not exist', async () => {
    const tokens = [token.tokenId, '987654321'].map(tokenId => ({ tokenAddress: seeded.collection, tokenId }))
    const { raw, result } = (await groups.nft.getMultipleNFTs!({ tokens })) as Single
    expect(raw).toEqual([expect.objectContaining({ token_id: token.tokenId }), null])
    expect(result).toEqual([expect.anything(), null])
  })

  test('metadata and media of the chain, of one NFT, of several and of a wallet', async () => {
    const wishes = { normalizeMetadata: true, mediaItems: true }
    const [one, several, ofWallet] = await Promise.all([
      groups.nft.getNFTMetadata!({ ...token, ...wishes }) as Promise<Single>,
      groups.nft.getMultipleNFTs!({
        ...{ tokens: [{ tokenAddress: seeded.collection, tokenId: token.tokenId }], ...wishes },
      }) as Promise<Single>,
      list('getWalletNFTs', { address: wallet, tokenAddresses: [seeded.collection], ...wishes }),
    ])
    const rows = [one.raw, ...(several.raw as Row[]), ofWallet.raw.result.find(row => row.token_id === token.tokenId)]
    for (const row of rows as Row[]) {
      expect(JSON.parse(row.metadata as string)).toEqual(drawn)
      expect(row.normalized_metadata).toMatchObject({ name: 'Drawn', attributes: drawn.attributes })
      expect(row.last_metadata_sync).toBe('2026-09-21T14:13:20.000Z')
      expect(row.media).toMatchObject({ mimetype: 'image/svg+xml', category: 'image', status: 'success' })
    }
    const results = [one.result, ...(several.result as object[]), ...ofWallet.result] as {
      media?: { originalMediaUrl?: string; status?: string; result: { updatedAt?: Date } }
    }[]
    const media = results.flatMap(({ media: each }) => (each?.status === 'success' ? each : []))
    expect(media).toHaveLength(3)
    for (const each of media) {
      expect(each.result.updatedAt).toEqual(new Date(1_790_000_000_000))
      expect(await (await fetch(each.originalMediaUrl!)).text()).toContain('<svg')
    }
  })

  const counts: [group: keyof typeof groups, name: string, request: object][] = [
    ['nft', 'getNFTCollectionStats', { address: seeded.collection }],
    ['nft', 'getNFTTokenStats', token],
    ['wallets', 'getWalletStats', { address: wallet }],
    ['block', 'getBlockStats', { blockNumberOrHash: block.toString() }],
    ['block', 'getDateToBlock', { date: new Date(1_700_000_000_000) }],
    ['utils', 'web3ApiVersion', {}],
    ['utils', 'endpointWeights', {}],
  ]
  test.each(counts.filter(([group, name]) => groups[group]?.[name] !== undefined))(
    '%s.%s',
    async (group, name, request) => {
      const response = (await groups[group]![name]!(request)) as Single
      expect(response.raw).toBeDefined()
      expect(response.result).toBeDefined()
      expect(response.toJSON()).toEqual(response.raw)
    },
  )
}
