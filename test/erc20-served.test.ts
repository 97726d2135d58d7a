// Operations on ERC-20 over HTTP where a chain keeps every token, and where its node does not have what is asked of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AlmanacError } from '../src/errors.ts'
import { IndexingLimits } from '../src/keys/indexing-limits.ts'
import { issueKey } from '../src/keys/keys.ts'
import { ledgerId } from '../src/ledgers.ts'
import { type Address, type Block, type ChainId, type Hash, type TransferRow, zeroAddress } from '../src/model.ts'
import type { Freshen } from '../src/query/freshen.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { packTransfer } from './pack-transfer.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const chain = 1 as ChainId
const ledger = ledgerId(chain, 'erc20')
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash
const [alice, bob, carol, plain, wrapped] = [11, 12, 13, 21, 22].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
const moved: Moved[] = [
  { block: 1, logIndex: 0, token: plain, from: zeroAddress, to: alice, amount: 100n },
  { block: 2, logIndex: 0, token: plain, from: alice, to: bob, amount: 30n },
  { block: 2, logIndex: 1, token: wrapped, from: zeroAddress, to: bob, amount: 7n },
  { block: 3, logIndex: 0, token: plain, from: alice, to: bob, amount: 1n },
]
const head: Block = { number: 3, hash: hashOf(3), timestamp: 36 }

/** What its node does: it keeps the state of the head alone, or it is away. */
let node: 'pruned' | 'away' | 'archive' = 'archive'
/** Contracts whose indexing was asked for, by ledger. */
const begun: [ChainId, Address][] = []
const freshen: Freshen = {
  contract: async (of, contract) => {
    begun.push([of, contract])
  },
  calls: async (asked, key) => {
    const { block = head.number, calls, about } = asked
    await limits.balances(key, { ...asked, wallets: about })
    if (node === 'away') throw new AlmanacError('upstream_failed', 'No node answers.')
    if (node === 'pruned' && block < head.number) throw new AlmanacError('not_configured', 'No node has the state.')
    const results = calls.map(({ to, data }) => saidBy(to, data, block))
    return { block, hash: hashOf(block), results }
  },
}

let limits: IndexingLimits
let api: ServedApi
beforeAll(async () => {
  api = await serveApi({
    parts: { freshen },
    fill: async store => {
      limits = new IndexingLimits(store)
      const blocks = [0, 1, 2].map(number => ({ ...head, number, hash: hashOf(number), timestamp: number * 12 }))
      for (const id of [chain, ledger]) {
        await store.commitCold({
          ...{ chain: id, activity: noActivity, blocks: [...blocks, head] },
          transfers: id === ledger ? moved.map(row) : [],
          covered: [{ scope: 'full', from: 0, to: head.number, evidence: 'bloom' }],
        })
        await store.putChainState(id, { head, finalized: head.number })
      }
    },
  })
})
afterAll(() => api.close())

// biome-ignore lint/suspicious/noExplicitAny: answers as clients see them.
async function json(target: string): Promise<any> {
  const response = await api.get(`/api/v2.2${target}`)
  expect([target, response.status]).toEqual([target, 200])
  return await response.json()
}

test('stats of a wallet count its transfers of every token, where the chain keeps them', async () => {
  for (const [wallet, total] of [
    [alice, '3'],
    [bob, '3'],
    [carol, '0'],
  ] as const)
    expect(await json(`/wallets/${wallet}/stats`)).toMatchObject({
      nft_transfers: { total: '0' },
      token_transfers: { total },
    })
})

type Owners = { balances: string; balances_block: number | null; total_supply: string | null; result: Row[] }
type Row = { owner_address: string; balance: string | null }

async function ownersOf(token: Address, query = ''): Promise<[Omit<Owners, 'result'>, ...(string | null)[]]> {
  const { balances, balances_block, total_supply, result } = (await json(`/erc20/${token}/owners${query}`)) as Owners
  return [{ balances, balances_block, total_supply }, ...result.flatMap(each => [each.owner_address, each.balance])]
}

test('owners after a block whose state no node has: the last verdict stands, and says its block', async () => {
  node = 'away'
  const unknown = { balances: 'unchecked', balances_block: null, total_supply: null }
  expect(await ownersOf(plain, '?at_block=2')).toEqual([unknown, alice, '70', bob, '30'])
  node = 'pruned'
  // There is none yet: the token is asked at the head.
  const exact = { balances: 'exact', balances_block: 3, total_supply: null }
  expect(await ownersOf(plain, '?at_block=1')).toEqual([exact, alice, '100'])
  expect(await ownersOf(plain)).toEqual([{ ...exact, total_supply: '100' }, alice, '69', bob, '31'])
  // Sums that are known not to be balances are not shown as such.
  const read = { balances: 'read', balances_block: 3, total_supply: null }
  expect(await ownersOf(wrapped, '?at_block=2')).toEqual([read, bob, null])
  expect(await ownersOf(wrapped)).toEqual([{ ...read, total_supply: '14' }, bob, '14'])
  node = 'away'
  expect(await ownersOf(plain, '?at_block=2')).toEqual([exact, alice, '70', bob, '30'])
  expect(await ownersOf(wrapped, '?at_block=2')).toEqual([read, bob, null])
  expect(await json(`/erc20/${plain}/holders`)).toMatchObject({ totalHolders: 2, balances: 'exact', balancesBlock: 3 })
  // What was said while the node was away is not kept.
  node = 'archive'
  const atTwo = { balances: 'exact', balances_block: 2, total_supply: '100' }
  expect(await ownersOf(plain, '?at_block=2')).toEqual([atTwo, alice, '70', bob, '30'])
})

test('all owners in one answer, with their verdict in headers', async () => {
  node = 'archive'
  const whole = async (token: Address, query = '') => {
    const response = await api.get(`/api/v2.2/erc20/${token}/owners${query}`, { accept: 'application/x-ndjson' })
    const lines = (await response.text()).trim().split('\n')
    const header = (name: string) => response.headers.get(name)
    return { lines, headers: [header('x-balances'), header('x-balances-block'), header('x-index-complete')] }
  }
  const { lines, headers } = await whole(plain)
  expect(headers).toEqual(['exact', '3', 'true'])
  const { result } = await json(`/erc20/${plain}/owners`)
  expect(lines.slice(0, -1).map(line => JSON.parse(line))).toEqual(result)
  expect(JSON.parse(lines.at(-1)!)).toEqual({ complete: true, rows: 2, block: 3 })
  const reversed = await whole(plain, '?order=ASC&at_block=2')
  expect(reversed.lines.slice(0, -1).map(line => JSON.parse(line).owner_address)).toEqual([bob, alice])
  const read = await whole(wrapped)
  expect([read.headers, read.lines.length]).toEqual([['read', '3', 'true'], 2])
  expect(JSON.parse(read.lines[0]!)).toMatchObject({ owner_address: bob, balance: null })
  const csv = await (await api.get(`/api/v2.2/erc20/${plain}/owners`, { accept: 'text/csv' })).text()
  expect(csv.split('\n')[0]!.split(',')).toEqual(Object.keys(result[0]))
  const { status } = await api.get(`/api/v2.2/erc20/${plain}/owners?limit=1`, { accept: 'text/csv' })
  expect(status).toBe(400)
})

test('asking for a token starts its indexing, and naming it for a balance does not', async () => {
  node = 'archive'
  const token = addressOf(99)
  const moments = 'fromDate=10&toDate=20'
  const begins = ['transfers', 'owners', 'stats', 'holders', `holders/historical?${moments}`]
  const reads = [
    `/erc20/metadata?addresses=${token}`,
    `/erc20/${token}/allowance?owner_address=${alice}&spender_address=${bob}`,
    `/${alice}/erc20?token_addresses=${token}`,
    `/${alice}/erc20`,
    `/${alice}/erc20/transfers?contract_addresses=${token}`,
  ]
  const askedFor = async (path: string) => {
    begun.length = 0
    await api.get(`/api/v2.2${path}${path.includes('?') ? '&' : '?'}chain=polygon`)
    return begun
  }
  for (const path of begins)
    expect([path, (await askedFor(`/erc20/${token}/${path}`))[0]]).toEqual([
      path,
      [ledgerId(137 as ChainId, 'erc20'), token],
    ])
  for (const path of reads) expect([path, await askedFor(path)]).toEqual([path, []])
})

test('what a token says of itself is shown as far as it can be true', async () => {
  node = 'archive'
  const text = (said: string) =>
    `0x${[32, said.length].map(each => each.toString(16).padStart(64, '0')).join('')}${Buffer.from(said).toString('hex')}`
  const [long, odd] = [addressOf(51), addressOf(52)]
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  strange.set(long, {
    '0x95d89b41': text('S'.repeat(2 ** 20)),
    '0x313ce567': word(255n),
    '0x18160ddd': word(10n ** 70n),
  })
  strange.set(odd, { '0x95d89b41': text('<b>'), '0x313ce567': word(2n ** 256n - 1n), '0x18160ddd': word(5n) })
  const [first, second] = await json(`/erc20/metadata?addresses=${long},${odd}`)
  expect(first).toMatchObject({
    ...{ decimals: '255', total_supply: `1${'0'.repeat(70)}` },
    total_supply_formatted: `0.${'0'.repeat(184)}1`,
  })
  expect(JSON.stringify(first).length).toBeLessThan(2_000)
  expect(second).toMatchObject({ symbol: '<b>', decimals: null, total_supply: '5', total_supply_formatted: null })
})

test('of a symbol that hundreds of contracts took, the known one comes first and spam last', async () => {
  const facts = (number: number, symbol: string, transfers: number, possibleSpam = false) => ({
    ...{ chain: ledger, contract: addressOf(number), name: `Name ${number}`, symbol, possibleSpam },
    verdict: { rulesVersion: 1, score: 0, reasons: [], basis: '', judgedAtMs: 9, transfers },
  })
  const [known, verified] = [addressOf(9_999), addressOf(9_998)]
  const mark = { chain, contract: verified, source: 'list', rank: 'imported', updatedAt: 1 } as const
  await api.store.annotate({
    facts: [
      ...Array.from({ length: 400 }, (_, at) => facts(1_000 + at, 'USDX', at % 50, at % 2 === 0)),
      ...[facts(9_999, 'usdx', 1e7), facts(9_998, 'USDX', 60), facts(9_997, 'USDX1', 1e8)],
    ],
    marks: [{ ...mark, verified: true, spam: undefined }],
  })
  const found = (await json('/erc20/metadata/symbols?symbols[]=UsdX')) as { address: string; possible_spam: boolean }[]
  expect(found.slice(0, 2).map(({ address }) => address)).toEqual([verified, known])
  expect(found.length).toBe(25)
  expect(found.some(each => each.possible_spam)).toBe(false)
})

test('a key asks about so many wallets and tokens a day, and what was said is not counted again', async () => {
  node = 'archive'
  const limit = { indexPerDay: 2, indexWaiting: undefined, ratePerSecond: undefined, quotaPerDay: undefined }
  const { secret } = await issueKey(api.store, { name: 'small', scopes: ['erc20'], ...limit })
  const ask = async (path: string) => {
    const response = await api.get(`/api/v2.2${path}`, { 'x-api-key': secret })
    return [response.status, response.status === 200 ? undefined : ((await response.json()) as object)]
  }
  const named = `token_addresses=${plain},${wrapped}`
  expect(await ask(`/${carol}/erc20?${named}`)).toEqual([200, undefined])
  expect(await ask(`/${addressOf(61)}/erc20?${named}`)).toEqual([200, undefined])
  expect(await ask(`/${addressOf(62)}/erc20?${named}`)).toMatchObject([429, { code: 'quota_exceeded' }])
  expect(await ask(`/${carol}/erc20?${named}`)).toEqual([200, undefined])
  expect(await ask(`/erc20/${plain}/owners?at_block=1`)).toEqual([200, undefined])
})

/** What some contracts say, by selector. */
const strange = new Map<Address, Readonly<Record<string, string>>>()

type Moved = { block: number; logIndex: number; token: Address; from: Address; to: Address; amount: bigint }

function saidBy(token: Address, data: string, upTo: number): string | null {
  const said = strange.get(token)
  if (said !== undefined) return said[data.slice(0, 10)] ?? null
  const sums = new Map<Address, bigint>()
  for (const { from, to, amount } of moved.filter(each => each.token === token && each.block <= upTo)) {
    sums.set(from, (sums.get(from) ?? 0n) - amount)
    sums.set(to, (sums.get(to) ?? 0n) + amount)
  }
  // What was wrapped had no event.
  const times = token === wrapped ? 2n : 1n
  const word = (value: bigint) => `0x${(value * times).toString(16).padStart(64, '0')}`
  if (data.startsWith('0x18160ddd')) return word(-(sums.get(zeroAddress) ?? 0n))
  if (data.startsWith('0x70a08231')) return word(sums.get(`0x${data.slice(-40)}` as Address) ?? 0n)
  return null
}

function row({ block, logIndex, token, from, to, amount }: Moved): TransferRow {
  const payload = packTransfer({
    ...{ standard: 'ERC1155', batch: false, from, to, operator: undefined, tokenId: 0n, amount, value: 0n },
    ...{ transactionHash: hashOf(logIndex), idCount: 1 },
  })
  return { block, transactionIndex: 0, logIndex, batchIndex: 0, contract: token, payload }
}
