// Whole lists of who owns what over HTTP, from sheets and beyond what sheets may take.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, TransferFacts, TransferRow } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import { CsvRows } from '../src/tools/lists/csv-rows.ts'
import { alice, apes, art, bob, carol, chain, coins, fillFinal, plainRow } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'
import { lowBounds } from './whole-holdings.ts'

const row = (contract: Address, block: number, facts: Partial<TransferFacts>): TransferRow =>
  plainRow(contract, block, { sentBy: 'recipient', ...facts })
const coin = { standard: 'ERC1155', operator: carol, tokenId: 5n } as const
const rows = [
  row(apes, 10, { tokenId: 1n }),
  row(apes, 11, { tokenId: 2n, to: bob }),
  row(apes, 12, { tokenId: 2n ** 255n, to: bob }),
  row(apes, 13, { tokenId: 1n, from: alice, to: bob }),
  row(coins, 14, { ...coin, amount: 10n }),
  row(coins, 15, { ...coin, amount: 4n, from: alice, to: bob }),
  row(art, 16, { tokenId: 100n, idCount: 5, to: carol }),
  row(art, 17, { tokenId: 102n, from: carol, to: alice }),
]

async function fill(store: Store): Promise<void> {
  await fillFinal(store, rows)
  await store.annotate({
    facts: [{ chain, contract: apes, name: 'Apes, "the" first', symbol: 'APE', possibleSpam: false }],
  })
  const uri = 'data:application/json,{"name":"One","image":"ipfs://1"}'
  await store.annotate({ tokenUris: { chain, uris: [{ contract: apes, tokenId: 1n, uri, readAtMs: 5 }] } })
}

let [api, low]: [ServedApi, ServedApi] = [undefined as never, undefined as never]
beforeAll(async () => {
  api = await serveApi({ fill })
  low = await serveApi({ fill, parts: { holdingsBounds: lowBounds } })
})
afterAll(() => Promise.all([api.close(), low.close()]))

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
type Json = any
const lists: [path: string, query?: string][] = [
  [`/nft/${apes}/owners`],
  [`/nft/${apes}/owners`, 'at_block=12&format=hex&normalizeMetadata=true'],
  [`/nft/${art}/owners`],
  [`/nft/${coins}/5/owners`],
  [`/nft/${apes}/1/owners`, 'at_block=12'],
  [`/nft/${coins}/unique-owners`],
  [`/${alice}/nft`],
  [`/${bob}/nft`, `token_addresses[]=${apes}`],
  [`/${bob}/nft`, 'at_block=14'],
  [`/nft/${apes}`],
  [`/nft/${art}`, 'totalRanges=2&range=1'],
]

async function allPages(target: string): Promise<Json[]> {
  const found: Json[] = []
  for (let next = `${target}&limit=1`; ; ) {
    const { result, walletAddresses, cursor } = (await (await api.get(next)).json()) as Json
    found.push(...(result ?? walletAddresses.map((each: string) => ({ walletAddresses: each }))))
    if (!cursor) return found
    next = `${target}&cursor=${cursor}`
  }
}

test('a whole list has the rows of all pages, from a sheet and in parts', async () => {
  for (const [base, asked] of [['/api/v2', lists.slice(0, 2)] as const, ['/api/v2.2', lists] as const])
    for (const [path, query = ''] of asked) {
      const target = `${base}${path}?${query}`
      const expected = await allPages(target)
      expect(expected.length, target).toBeGreaterThan(0)
      const block = Number(/at_block=(\d+)/.exec(query)?.[1] ?? 19)
      for (const from of [api, low]) {
        const response = await from.get(target, { accept: 'application/x-ndjson' })
        const headers = {
          'x-block-number': `${block}`,
          'x-index-complete': 'true',
          'x-index-evidence': 'receipts-root',
        }
        expect(Object.fromEntries(response.headers), target).toMatchObject(headers)
        const lines = (await response.text()).split('\n')
        expect(lines.pop()).toBe('')
        expect(JSON.parse(lines.pop()!)).toEqual({ complete: true, rows: expected.length, block })
        const texts = expected.map(each => JSON.stringify(each))
        expect(from === api ? lines : lines.sort(), target).toEqual(from === api ? texts : texts.sort())
      }
      const text = await (await api.get(target, { accept: 'text/csv' })).text()
      const table = new CsvRows().push(text).map(each => ('fields' in each ? each.fields : []))
      const flat = expected.map(({ normalized_metadata: _, ...shown }) => shown)
      expect(table[0], target).toEqual(Object.keys(flat[0]!))
      expect(table.slice(1, -1)).toEqual(flat.map(each => Object.values(each).map(value => `${value ?? ''}`)))
    }
})

test('a page of what is too large names the whole list', async () => {
  const operations = {
    [`/nft/${apes}/owners`]: 'getNFTOwners',
    [`/nft/${coins}/5/owners`]: 'getNFTTokenIdOwners',
    [`/nft/${coins}/unique-owners`]: 'getUniqueOwnersByCollection',
    [`/${alice}/nft`]: 'getWalletNFTs',
    [`/nft/${apes}`]: 'getContractNFTs',
  }
  for (const [path, operation] of Object.entries(operations)) {
    const response = await low.get(`/api/v2.2${path}`)
    expect(response.status, path).toBe(422)
    const { code, message, details } = (await response.json()) as Json
    expect([code, details]).toEqual(['list_too_large', { operation, accept: ['text/csv', 'application/x-ndjson'] }])
    expect(message).toContain(`ask ${operation} with Accept: text/csv or application/x-ndjson`)
  }
})

test('counts and collections are answered however large they are', async () => {
  for (const path of [
    ...[`/nft/${apes}/stats`, `/nft/${coins}/stats`, `/nft/${art}/stats?at_block=16`, `/nft/${coins}/5/stats`],
    ...[`/wallets/${alice}/stats`, `/${bob}/nft/collections?token_counts=true`, `/${bob}/nft/collections?limit=1`],
  ]) {
    const [usual, large] = await Promise.all([api, low].map(async each => await each.get(`/api/v2.2${path}`)))
    const [{ cursor: _, ...expected }, { cursor: __, ...found }] = [
      (await usual!.json()) as Json,
      (await large!.json()) as Json,
    ]
    expect([path, found]).toEqual([path, expected])
    expect(large!.headers.get('x-index-complete')).toBe('true')
  }
})
