// The lists of transfers of a wallet, a token, a block and all contracts over HTTP, against the plain rows of a chain.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueKey } from '../src/keys/keys.ts'
import type { Address, TransferFacts } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import type { AskBlock } from '../src/query/freshen.ts'
import { fillListed, final, hot } from './listed-transfers.ts'
import { alice, apes, art, blockOf, bob, carol, coins, hashOf } from './plain-rows.ts'
import { seededAddress } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

type Shown = { contract: Address; place: string; id: string; facts: TransferFacts }

/** The rows of answers, newest first: a range has one for each id, the highest first. */
const shown: Shown[] = [...final, ...hot]
  .toSorted(
    (a, b) =>
      b.block - a.block ||
      b.transactionIndex - a.transactionIndex ||
      b.logIndex - a.logIndex ||
      b.batchIndex - a.batchIndex,
  )
  .flatMap(({ contract, facts, ...at }) =>
    Array.from({ length: facts.idCount }, (_, index) => ({
      ...{ contract, facts, place: `${at.block}.${at.transactionIndex}.${at.logIndex}` },
      id: `${facts.tokenId + BigInt(facts.idCount - 1 - index)}`,
    })),
  )

// biome-ignore lint/suspicious/noExplicitAny: pages as clients see them.
type Page = any

/** A node of the chain. It takes a hash for that of block 12 which the store has another one of. */
const askBlock: AskBlock = async (_, block) => {
  const number = typeof block === 'number' ? block : block === hashOf(0xdead) ? 12 : Number(block)
  return number > 21 ? undefined : { ...blockOf(number), parentHash: hashOf(number - 1), transactions: 3 }
}

let api: ServedApi
beforeAll(async () => {
  api = await serveApi({ fill: fillListed, parts: { freshen: { block: askBlock } } })
})
afterAll(() => api.close())

const json = async (target: string, headers?: Record<string, string>): Promise<Page> => {
  const response = await api.get(target, headers)
  expect(response.status, target).toBe(200)
  return await response.json()
}

/** Follows cursors to the end; every page but the last is full. */
async function wholeList(path: string, query: string, limit: number): Promise<string[]> {
  const rows: string[] = []
  for (let target = `${path}?limit=${limit}${query}`, page = 0; ; page++) {
    const answer = await json(target)
    expect(answer.page).toBe(page)
    expect(answer.page_size).toBe(limit)
    for (const each of answer.result) {
      const place = `${each.block_number}.${each.transaction_index}.${each.log_index}`
      rows.push(
        `${each.token_address} ${place} ${each.token_id} ${each.from_address} ${each.to_address} ${each.amount}`,
      )
    }
    if (answer.cursor === null) return rows
    expect(answer.result).toHaveLength(limit)
    target = `${path}?cursor=${answer.cursor}`
  }
}

function expected(isWanted: (row: Shown) => boolean, order = 'desc'): string[] {
  const rows = shown
    .filter(isWanted)
    .map(({ contract, place, id, facts }) => `${contract} ${place} ${id} ${facts.from} ${facts.to} ${facts.amount}`)
  return order === 'desc' ? rows : rows.reverse()
}

const isOf = (wallet: Address) => (row: Shown) => row.facts.from === wallet || row.facts.to === wallet
const v22 = '/api/v2.2'
const lists: [name: string, path: string, query: string, isWanted: (row: Shown) => boolean][] = [
  ['a wallet', `/${alice}/nft/transfers`, '', isOf(alice)],
  ['another wallet', `/${bob}/nft/transfers`, '', isOf(bob)],
  ['what a wallet gave', `/${bob}/nft/transfers`, '&direction=from', row => row.facts.from === bob],
  ['what a wallet received', `/${alice}/nft/transfers`, '&direction=to', row => row.facts.to === alice],
  [
    'some contracts of a wallet',
    `/${alice}/nft/transfers`,
    `&contract_addresses[]=${art}&contract_addresses[]=${coins.toUpperCase().replace('0X', '0x')}`,
    row => isOf(alice)(row) && row.contract !== apes,
  ],
  [
    'some blocks of a wallet',
    `/${alice}/nft/transfers`,
    '&from_block=12&to_block=13',
    row => isOf(alice)(row) && /^1[23]\./.test(row.place),
  ],
  ['a token that moved', `/nft/${apes}/1/transfers`, '', row => row.contract === apes && row.id === '1'],
  ['a token of a range', `/nft/${art}/101/transfers`, '', row => row.contract === art && row.id === '101'],
  ['a token that left a range', `/nft/${art}/103/transfers`, '', row => row.contract === art && row.id === '103'],
  ['a token twice in a batch', `/nft/${coins}/0x5/transfers`, '', row => row.contract === coins && row.id === '5'],
  ['a token that never moved', `/nft/${apes}/77/transfers`, '', () => false],
  ['a block', '/block/12/nft/transfers', '', row => row.place.startsWith('12.')],
  ['a block that is not final', '/block/20/nft/transfers', '', row => row.place.startsWith('20.')],
  ['everything', '/nft/transfers', '', () => true],
  ['some blocks', '/nft/transfers', '&from_block=11&to_block=20', row => !/^(10|21)\./.test(row.place)],
]

describe.each(lists)('%s', (_, path, query, isWanted) => {
  test.each(['DESC', 'ASC'])('has every row once, in order %s, whatever the page size', async order => {
    for (const limit of [1, 3, 100]) {
      const rows = await wholeList(v22 + path, `${query}&order=${order}`, limit)
      expect(rows, `limit ${limit}`).toEqual(expected(isWanted, order.toLowerCase()))
    }
  })

  test('counts its rows under /api/v2 alone', async () => {
    const total = shown.filter(isWanted).length
    const counted = await json(`/api/v2${path}?limit=2&disable_total=false${query}`, { 'x-moralis-platform': 'x' })
    expect(counted.total).toBe(total)
    expect(Object.keys(await json(`/api/v2.1${path}?limit=2&disable_total=false${query}`))).toEqual([
      ...['page', 'page_size', 'cursor', 'result', 'block_exists', 'index_complete'],
    ])
    const uncounted = await json(`/api/v2${path}?limit=2${query}`)
    expect(uncounted).toMatchObject({ total: null, page: '0', page_size: '2' })
    if (total <= 2) expect(uncounted.cursor).toBe('')
  })
})

test('rows have the names, flags and labels of their own contracts', async () => {
  const { result } = await json(`${v22}/block/12/nft/transfers`)
  expect(result.map((row: Page) => [row.token_address, row.token_name, row.token_symbol, row.possible_spam])).toEqual([
    [coins, null, null, true],
    [coins, null, null, true],
    [coins, null, null, true],
    [apes, 'Apes', 'APE', false],
  ])
  expect(result[3]).toMatchObject({ to_address: bob, to_address_label: 'Bob', from_address_label: null })
  expect(result[0]).toMatchObject({ contract_type: 'ERC1155', transaction_type: 'Batch', operator: carol })
  const reference = await json('/api/v2/block/12/nft/transfers')
  expect(reference.result[3]).toMatchObject({ possible_spam: 'false', block_timestamp: '2020-09-13T12:29:04' })
  expect(reference.result[3]).not.toHaveProperty('token_name')
})

test('ids are hex where that is asked for', async () => {
  const { result } = await json(`${v22}/nft/${art}/103/transfers?format=hex`)
  expect(result.map((row: Page) => row.token_id)).toEqual(['0x67', '0x67'])
})

describe('completeness', () => {
  test('of blocks that are covered whole, with the evidence', async () => {
    const response = await api.get(`${v22}/${alice}/nft/transfers`)
    expect(await response.json()).toMatchObject({ block_exists: true, index_complete: true })
    expect(response.headers.get('x-index-complete')).toBe('true')
    expect(response.headers.get('x-index-evidence')).toBe('receipts-root')
  })

  test('a block above the head does not exist', async () => {
    expect(await json(`${v22}/block/22/nft/transfers`)).toMatchObject({ block_exists: false, result: [], cursor: null })
  })

  test('a block is found by its hash, where it is final by a node', async () => {
    const rowsOf = (number: number, hash = hashOf(number)) => wholeList(`${v22}/block/${hash}/nft/transfers`, '', 3)
    for (const number of [20, 12])
      expect(await rowsOf(number)).toEqual(expected(row => row.place.startsWith(`${number}.`)))
    const [unknown, replaced] = [hashOf(0xbeef), hashOf(0xdead)]
    for (const hash of [unknown, replaced])
      expect(await json(`${v22}/block/${hash}/nft/transfers`)).toMatchObject({ block_exists: false, result: [] })
    expect(await json(`${v22}/block/${hashOf(12)}/stats`)).toEqual({
      ...{ transactions: { total: '3' }, nft_transfers: { total: '4' }, token_transfers: { total: null } },
    })
  })

  test('a chain without a head and the zero address are never complete', async () => {
    const none = await json(`${v22}/${alice}/nft/transfers?chain=polygon`)
    expect(none).toMatchObject({ block_exists: false, index_complete: false, result: [] })
    expect(await json(`${v22}/${zeroAddress}/nft/transfers`)).toMatchObject({ index_complete: false, result: [] })
  })
})

describe('cursors', () => {
  test('are for their own list, subject and chain alone', async () => {
    const first = await json(`${v22}/${alice}/nft/transfers?limit=1`)
    const ofToken = await json(`${v22}/nft/${apes}/1/transfers?limit=1`)
    const refused = [
      `/${bob}/nft/transfers?cursor=${first.cursor}`,
      `/nft/transfers?cursor=${first.cursor}`,
      `/nft/${alice}/transfers?cursor=${first.cursor}`,
      `/${alice}/nft/transfers?chain=polygon&cursor=${first.cursor}`,
      `/nft/${apes}/2/transfers?cursor=${ofToken.cursor}`,
      `/nft/${apes}/transfers?cursor=${ofToken.cursor}`,
      `/block/1/nft/transfers?cursor=${ofToken.cursor}`,
    ]
    for (const target of refused) {
      const response = await api.get(v22 + target)
      expect(response.status, target).toBe(400)
      expect(await response.json()).toMatchObject({ message: 'cursor is not valid', details: { parameter: 'cursor' } })
    }
    const other = await json(`${v22}/nft/${apes}/0x1/transfers?limit=9&order=ASC&cursor=${ofToken.cursor}`)
    expect(other).toMatchObject({ page: 1, page_size: 1 })
  })

  test('carry the filters', async () => {
    const query = `direction=to&contract_addresses=${coins}&limit=2`
    const first = await json(`${v22}/${alice}/nft/transfers?${query}`)
    const second = await json(`${v22}/${alice}/nft/transfers?cursor=${first.cursor}`)
    expect(second.result).toHaveLength(1)
    expect(second).toMatchObject({ cursor: null, result: [{ token_address: coins, token_id: '5' }] })
  })
})

test.each([
  ['/nft/{apes}/01/transfers', 'token_id'],
  ['/nft/{apes}/0x01/transfers', 'token_id'],
  ['/nft/{apes}/0x/transfers', 'token_id'],
  ['/nft/{apes}/-1/transfers', 'token_id'],
  ['/nft/{apes}/one/transfers', 'token_id'],
  [`/nft/{apes}/${2n ** 256n}/transfers`, 'token_id'],
  [`/nft/{apes}/0x1${'0'.repeat(64)}/transfers`, 'token_id'],
  ['/nft/bayc/1/transfers', 'address'],
  ['/wallets/nft/transfers', 'address'],
  ['/block/-1/nft/transfers', 'block_number_or_hash'],
  ['/block/0x12/nft/transfers', 'block_number_or_hash'],
  ['/block/latest/nft/transfers', 'block_number_or_hash'],
  ['/{alice}/nft/transfers?direction=up', 'direction'],
  ['/{alice}/nft/transfers?contract_addresses=0x1', 'contract_addresses'],
  ['/{alice}/nft/transfers?include_prices=maybe', 'include_prices'],
  [
    `/{alice}/nft/transfers?contract_addresses=${Array.from({ length: 26 }, (_, at) => seededAddress(`${at}`)).join()}`,
    'contract_addresses',
  ],
  ['/nft/transfers?order=up', 'order'],
  ['/nft/transfers?limit=0', 'limit'],
])('%s is refused by its parameter', async (path, parameter) => {
  const response = await api.get(v22 + path.replace('{apes}', apes).replace('{alice}', alice))
  expect(response.status).toBe(400)
  const body = (await response.json()) as Page
  expect(body).toMatchObject({ code: 'bad_request', details: { parameter } })
  expect(body.message).toContain(parameter)
})

test('the greatest id is found in both spellings', async () => {
  for (const id of [`${2n ** 256n - 1n}`, `0x${'f'.repeat(64)}`, `0x${'F'.repeat(64)}`])
    expect((await json(`${v22}/nft/${apes}/${id}/transfers`)).result).toHaveLength(1)
})

test('lists take the scope of transfers', async () => {
  const { secret } = await issueKey(api.store, { name: 'other', scopes: ['portfolio'] })
  for (const path of ['/nft/transfers', `/${alice}/nft/transfers`])
    expect((await api.get(v22 + path, { 'x-api-key': secret })).status).toBe(403)
})

test('an unchanged page is not sent again', async () => {
  const first = await api.get(`${v22}/nft/transfers`)
  const again = await api.get(`${v22}/nft/transfers`, { 'if-none-match': first.headers.get('etag')! })
  expect(again.status).toBe(304)
})

test('a date leads to the last block at or before it', async () => {
  const { timestamp } = blockOf(12)
  const date = `${new Date((timestamp + 11) * 1_000).toISOString().slice(0, 19)}`
  const response = await api.get(`${v22}/dateToBlock?date=${date}`)
  expect(response.headers.get('x-index-complete')).toBe('true')
  expect(await response.json()).toEqual({
    ...{ date: `${date}+00:00`, block: 12, timestamp: timestamp + 11, hash: hashOf(12), parent_hash: hashOf(11) },
    block_timestamp: new Date(timestamp * 1_000).toISOString(),
  })
  for (const query of ['', '?date=', '?date=soon'])
    expect(await (await api.get(`${v22}/dateToBlock${query}`)).json()).toMatchObject({ details: { parameter: 'date' } })
})
