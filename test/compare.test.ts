// `almanac compare` between two real services on stores that are equal, or differ in one planted thing.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { builtInChains } from '../src/chains.ts'
import { ledgerId } from '../src/ledgers.ts'
import type { Address, Hash, TransferFacts, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import type { Freshen } from '../src/query/freshen.ts'
import type { ChainStatus, SolanaStatus, StatusReport } from '../src/status.ts'
import { packActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import type { Report } from '../src/tools/compare/report.ts'
import { runHere } from './command-here.ts'
import { packTransfer } from './pack-transfer.ts'
import { seededAddress } from './seed.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const [eth, polygon] = ['eth', 'polygon'].map(name => builtInChains.find(each => each.name === name)!.id)
const [apes, coins, alice, bob, carol, penny] = ['apes', 'coins', 'alice', 'bob', 'carol', 'penny'].map(
  seededAddress,
) as Address[]
const key32 = (byte: number) => new Uint8Array(32).fill(byte)
const account = base58.encode(key32(6))
const final = 390

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash
type Planned = Partial<TransferFacts> & { contract: Address; block: number; batchIndex?: number }

/** What a service knows. Tests change one thing of it. */
type World = {
  transfers: Planned[]
  name: string
  head: number
  timestampOf: (block: number) => number
  /** The first block in which a wallet is active on polygon. */
  onPolygon: Map<Address, number>
  lamports: bigint
  tokenAmount: bigint
  coveredFrom: number
  wei: string
  nonce: number
  /** Of an ERC-20 token: in each block from 101 on, from nobody to Alice and Bob in turn. */
  pennies: bigint[]
}

function world(): World {
  const mints = Array.from({ length: 130 }, (_, id) => ({ contract: apes!, block: 10 + id, tokenId: BigInt(id) }))
  const moves = mints.slice(0, 20).map(({ tokenId }, at) => ({
    ...{ contract: apes!, block: 200 + at, tokenId, from: alice!, to: bob!, value: 10n ** 17n },
  }))
  const edition = { contract: coins!, standard: 'ERC1155' as const, operator: carol! }
  const batch = [1n, 2n, 3n].map((tokenId, batchIndex) => ({
    ...{ ...edition, block: 300, batch: true, tokenId, batchIndex, amount: 10n * tokenId },
  }))
  const single = { ...edition, block: 301, tokenId: 1n, amount: 4n, from: alice!, to: bob! }
  return {
    transfers: [...mints, ...moves, ...batch, single],
    ...{ name: 'Apes', head: 400, lamports: 5_000n, tokenAmount: 1_234_500n, coveredFrom: 0 },
    ...{ wei: '12345678900000000000', nonce: 7, pennies: [5n, 10n ** 20n, 7n] },
    timestampOf: block => 1_600_000_000 + block * 12,
    onPolygon: new Map([alice!, bob!].map(wallet => [wallet, 50])),
  }
}

/** What nodes say. */
const freshenOf = (made: World): Freshen => ({
  balances: async ({ block = made.head }) => ({ block, timestamp: made.timestampOf(block), balances: [made.wei] }),
  nonce: async () => made.nonce,
  calls: async ({ block = made.head, calls }) => ({
    ...{ block, hash: hashOf(block) },
    results: calls.map(({ to, data }) => (to === penny ? saidByPenny(made, data) : null)),
  }),
  mint: async () => ({
    ...{ slot: 250_000_000, readAtMs: Date.now() },
    facts: {
      ...{ decimals: 6, supply: '1000000000000', displayedSupply: '1000000', name: 'Dollar', symbol: 'USD' },
      ...{ tokenStandard: null, mintAuthority: account, metaplex: null },
    },
  }),
  block: async (_, block) => {
    const number = typeof block === 'number' ? block : Number(block)
    return { ...blockOf(made, number), parentHash: hashOf(number - 1), transactions: 3 }
  },
})

function saidByPenny({ pennies }: World, data: string): string | null {
  const held = (wallet: Address) => pennies.reduce((sum, each, at) => sum + (holderOf(at) === wallet ? each : 0n), 0n)
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  if (data.startsWith('0x70a08231')) return word(held(`0x${data.slice(-40)}` as Address))
  return data.startsWith('0x18160ddd') ? word(held(alice!) + held(bob!)) : null
}

const holderOf = (at: number): Address => (at % 2 === 0 ? alice! : bob!)

const blockOf = ({ timestampOf }: World, number: number) => ({
  ...{ number, hash: hashOf(number), timestamp: timestampOf(number) },
})

function rowOf({ contract, block, batchIndex = 0, ...facts }: Planned): TransferRow {
  return {
    ...{ contract, block, transactionIndex: 1, logIndex: 3, batchIndex },
    payload: packTransfer({
      ...{ standard: 'ERC721', batch: false, operator: undefined, amount: 1n, value: 0n, idCount: 1, tokenId: 0n },
      ...{ from: zeroAddress, to: alice!, transactionHash: hashOf(block * 1_000) },
      ...facts,
    }),
  }
}

const fill = (made: World) => async (store: Store) => {
  const transactionAt = (block: number) => ({
    ...{ block, transactionIndex: 1, hash: hashOf(block * 1_000), timestamp: made.timestampOf(block) },
  })
  const blocks = [0, ...new Set(made.transfers.map(({ block }) => block)), made.head].sort((a, b) => a - b)
  const activity = [{ address: alice!, first: transactionAt(10), last: transactionAt(301) }]
  await store.commitCold({
    ...{ chain: eth!, transfers: made.transfers.map(rowOf), activity: packActivity(activity) },
    covered: [{ scope: 'full', from: made.coveredFrom, to: made.head, evidence: 'receipts-root' }],
    blocks: blocks.map(number => blockOf(made, number)),
  })
  await store.putChainState(eth!, { head: blockOf(made, made.head) })
  const wallets = [...made.onPolygon].map(([address, first]) => ({
    ...{ address, first: transactionAt(first), last: transactionAt(60) },
  }))
  await store.commitCold({
    ...{ chain: polygon!, transfers: [], activity: packActivity(wallets) },
    covered: [{ scope: 'full', from: 0, to: 400, evidence: 'receipts-root' }],
    blocks: [0, 400].map(number => blockOf(made, number)),
  })
  await store.putChainState(polygon!, { head: blockOf(made, 400) })
  const ledger = ledgerId(eth!, 'erc20')
  await store.commitCold({
    ...{
      chain: ledger,
      activity: packActivity([]),
      blocks: [0, 101, 102, 103, made.head].map(number => blockOf(made, number)),
    },
    transfers: made.pennies.map((amount, at) => {
      const facts = { standard: 'ERC1155', operator: undefined, amount, to: holderOf(at) } as const
      return rowOf({ contract: penny!, block: 101 + at, ...facts })
    }),
    covered: [{ scope: 'transfers', from: 0, to: made.head, evidence: 'receipts-root' }],
  })
  await store.putChainState(ledger, { head: blockOf(made, made.head) })
  const facts = { symbol: 'APE', possibleSpam: false }
  await store.annotate({ facts: [{ chain: eth!, contract: apes!, name: made.name, ...facts }] })
  await fillSolana(store, made)
}

async function fillSolana(store: Store, { lamports, tokenAmount: amount }: World): Promise<void> {
  const [readAtMs, slot] = [Date.now(), 250_000_000]
  const mint = { program: 'token' as const, decimals: 6, supply: 10n ** 12n, name: undefined, symbol: undefined }
  await store.updateAccounts('mainnet', {
    mints: [
      {
        ...{ mint: key32(8), slot, readAtMs, account: { ...mint, amountRule: undefined } },
        metadata: { name: 'Dollar', symbol: 'USD', tokenStandard: undefined },
      },
    ],
  })
  const held = { account: key32(9), owner: key32(6), mint: key32(8), amount, program: 'token' as const, slot }
  const owner = { owner: key32(6), lamports, slot, chainTime: Math.floor(readAtMs / 1_000), readAtMs }
  await store.updateAccounts('mainnet', { reading: { account: owner, holdings: [{ ...held, writeVersion: 0n }] } })
}

const chainStatus: ChainStatus = {
  ...{ state: 'live', head: 400, finalized: final, lag_seconds: 0, covered: [], complete: true, eta_seconds: 0 },
  rpc: [],
}
const network: SolanaStatus = { state: 'live', slot: 250_000_000, lag_seconds: 0, rpc: [] }
const status = async (): Promise<StatusReport> => ({
  ...{ chains: { eth: chainStatus, polygon: chainStatus }, solana: { mainnet: network, devnet: network } },
})

const folder = mkdtempSync(join(tmpdir(), 'almanac-compare-'))
const keyFile = join(folder, 'key')
const secret = 'the-Secret/of+the-other%side'
let here: ServedApi
/** Another service on an equal store. */
let equal: ServedApi
const opened: { close(): Promise<unknown> }[] = []
beforeAll(async () => {
  here = await serveApi({ fill: fill(world()), parts: { status, freshen: freshenOf(world()) } })
  equal = await serveApi({ fill: fill(world()), parts: { freshen: freshenOf(world()) } })
  writeFileSync(keyFile, `${secret}\n`)
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})
afterAll(async () => {
  await here.close()
  await equal.close()
  rmSync(folder, { recursive: true })
})

/** Another service, on a world that differs from this one's. */
async function serveThere(change: (made: World) => void): Promise<ServedApi> {
  const made = world()
  change(made)
  const there = await serveApi({ fill: fill(made), parts: { freshen: freshenOf(made) } })
  opened.push(there)
  return there
}

const everything = [
  ...['--contract', `eth=${apes},${coins}`, '--wallet', `eth=${alice}`, '--wallet', `eth=${bob}`],
  ...['--wallet', `polygon=${alice}`],
  ...['--account', `mainnet=${account}`, '--seed', '5', '--requests', '400'],
]

const little = ['--contract', `eth=${apes}`, '--seed', '5']

type Compared = { code: number | null; report: Report; stdout: string; stderr: string }

async function compare(url: string, key: string, ...parameters: string[]): Promise<Compared> {
  writeFileSync(keyFile, `${key}\n`)
  const sides = ['--url', here.url, '--key', here.key, '--against', url, '--against-key-file', keyFile]
  const { code, stdout, stderr } = await runHere(['compare', ...sides, ...parameters], folder)
  for (const hidden of [key, here.key]) expect(stdout + stderr).not.toContain(hidden)
  const report = stdout.startsWith('{') ? (JSON.parse(stdout) as Report) : ({} as Report)
  return { code, report, stdout, stderr }
}

const compareWith = ({ url, key }: ServedApi, ...parameters: string[]) =>
  compare(`${url}/api/v2.2`, key, '--json', ...parameters)

/** Each difference in a few words, once. */
function inWords({ differences }: Report): string[] {
  const words = differences.map(({ operation, kind, ...rest }) =>
    [operation, kind === 'value' ? (rest as { field?: string }).field : kind].join(' '),
  )
  return [...new Set(words)].sort()
}

test('equal services have no difference in any operation', async () => {
  const { code, report } = await compareWith(equal, ...everything)
  expect([report.differences, report.expected]).toEqual([[], []])
  expect(code).toBe(0)
  expect(report).toMatchObject({ same: true, stopped: null, chains: { eth: { block: final, head_there: 400 } } })
  const compared = report.operations.filter(({ questions }) => questions > 0).map(({ operation }) => operation)
  const skipped = report.operations.filter(({ questions }) => questions === 0).map(({ operation }) => operation)
  expect(compared.length).toBeGreaterThan(20)
  expect(skipped).toEqual([])
})

type Change = (made: World) => void
type Difference = Report['differences'][number]
const moveAt = (made: World, block: number) => made.transfers.findIndex(each => each.block === block)

/** Each with what tells its differences from those of the others. */
const planted: readonly [what: string, change: Change, isOfIt: (found: Difference) => boolean][] = [
  [
    'a missing transfer',
    made => made.transfers.splice(moveAt(made, 210), 1),
    ({ row, field }) => row?.token_id === '10' || /^(nfts|count|(nft_)?transfers.total)$/.test(`${field}`),
  ],
  [
    'another name',
    made => Object.assign(made, { name: 'Monkeys' }),
    ({ field, here, there }) => /^(token_)?name$/.test(`${field}`) && here === 'Apes' && there === 'Monkeys',
  ],
  [
    'another owner',
    made => Object.assign(made.transfers[moveAt(made, 207)]!, { to: carol }),
    ({ row, field, operation }) =>
      (row?.token_id === '7' && field !== 'token_name' && field !== 'name') ||
      field === 'owners.current' ||
      (operation === 'getUniqueOwnersByCollection' && row?.owner_of === carol),
  ],
  [
    'another amount',
    made => Object.assign(made.transfers.at(-1)!, { amount: 5n }),
    ({ row, field }) => row?.token_address === coins && field === 'amount',
  ],
  [
    'another block time',
    made =>
      Object.assign(made, { timestampOf: (block: number) => world().timestampOf(block) + (block === 205 ? 1 : 0) }),
    ({ row, field }) => row?.block_number === '205' && field === 'block_timestamp',
  ],
  [
    'a chain missing',
    made => made.onPolygon.delete(bob!),
    ({ address, field, there }) => address === bob && /^(first|last)_transaction$/.test(`${field}`) && there === null,
  ],
  [
    'another first transaction',
    made => made.onPolygon.set(alice!, 49),
    ({ address, field }) => address === alice && `${field}`.startsWith('first_transaction.'),
  ],
  [
    'another amount on Solana',
    made => Object.assign(made, { tokenAmount: 1_234_501n }),
    ({ network, field }) => network === 'mainnet' && /^amount(Raw)?$/.test(`${field}`),
  ],
  [
    'another balance on Solana',
    made => Object.assign(made, { lamports: 5_001n }),
    ({ network, field }) => network === 'mainnet' && /(lamports|solana)$/.test(`${field}`),
  ],
  [
    'another balance',
    made => Object.assign(made, { wei: '12345678900000000001' }),
    ({ operation }) => operation.startsWith('getNativeBalance'),
  ],
  [
    'another amount of a token',
    made => Object.assign(made, { pennies: [5n, 10n ** 20n + 1n, 7n] }),
    ({ operation, field }) =>
      /Token(Transfers|Balances|Owners|Metadata|Holders)$/.test(operation) &&
      /value|balance|supply|percentage/i.test(`${field}`),
  ],
  ['another nonce', made => Object.assign(made, { nonce: 8 }), ({ field }) => field === 'transactions.total'],
]

test('each planted difference is found, and nothing else', async () => {
  const there = await serveThere(made => {
    for (const [, change] of planted) change(made)
  })
  const { code, report } = await compareWith(there, ...everything)
  expect([code, report.same, report.expected]).toEqual([1, false, []])
  const causes = report.differences.map(found => planted.filter(([, , isOfIt]) => isOfIt(found)).map(([what]) => what))
  for (const [at, cause] of causes.entries())
    expect([report.differences[at], cause]).toMatchObject([{}, [expect.anything()]])
  expect([...new Set(causes.flat())].sort()).toEqual(planted.map(([what]) => what).sort())
  const missing = report.differences.find(({ kind, row }) => kind === 'missing_there' && row?.block_number === '210')
  expect(missing?.hint).toBe(`almanac explain eth ${apes} --transfer ${hashOf(210_000)}:3`)
  const total = report.differences_by_field.reduce((sum, { count }) => sum + count, 0)
  expect([total, total > report.differences.length]).toEqual([report.differences_total, true])
})

describe('what is known does not fail', () => {
  const reasonsIn = ({ expected }: Report) =>
    [...new Set(expected.map(({ field, reason }) => `${field} ${reason}`))].sort()

  test('a name that differs in case and spaces', async () => {
    const there = await serveThere(made => Object.assign(made, { name: ' aPES' }))
    const { code, report } = await compareWith(there, ...little)
    expect(report.differences).toEqual([])
    expect(code).toBe(0)
    expect(reasonsIn(report)).toEqual(['name spelling', 'token_name spelling'])
  })

  test('what came after the block that is final here', async () => {
    const later = { contract: apes!, block: 395, from: bob!, to: carol! }
    const there = await serveThere(made => {
      made.head = 410
      made.transfers.push({ ...later, tokenId: 3n }, { ...later, block: 396, tokenId: 200n, from: zeroAddress })
      made.transfers.push({ ...later, block: 397, tokenId: 129n, from: alice!, to: zeroAddress })
    })
    const { code, report } = await compareWith(there, ...everything)
    expect(inWords(report)).toEqual([])
    expect(code).toBe(0)
    expect(report.expected.length).toBeGreaterThan(0)
    expect(report.expected.filter(({ reason }) => reason !== 'changed')).toEqual([])
  })

  test('more tokens there: minted since, or burned here, and nothing where neither is so', async () => {
    const few = [...little, '--operations', 'getNFTCollectionStats']
    const mint = (block: number): Change => {
      return made => {
        made.head = 410
        made.transfers.push({ contract: apes!, block, tokenId: 200n })
      }
    }
    const tokens = ({ expected }: Report) => expected.filter(({ field }) => field === 'total_tokens')
    const since = await compareWith(await serveThere(mint(395)), ...few)
    expect([since.code, tokens(since.report)]).toMatchObject([0, [{ reason: 'changed' }]])
    // Nothing was burned here.
    const before = await compareWith(await serveThere(mint(250)), ...few)
    expect([before.code, tokens(before.report), inWords(before.report)]).toMatchObject([
      ...[1, []],
      expect.arrayContaining(['getNFTCollectionStats total_tokens']),
    ])
    const burnt = await serveThere(made => {
      made.transfers.push({ contract: apes!, block: 250, tokenId: 129n, from: alice!, to: zeroAddress })
    })
    const burned = await compareWith(equal, ...few, '--url', burnt.url, '--key', burnt.key)
    expect(tokens(burned.report)).toMatchObject([{ reason: 'burned' }])
  })

  test('what is not indexed here or there', async () => {
    const change: Change = made => {
      made.transfers = made.transfers.filter(({ block }) => block >= 100)
      made.coveredFrom = 100
    }
    const { code, report } = await compareWith(await serveThere(change), ...little)
    expect(inWords(report)).toEqual([])
    expect(code).toBe(0)
    expect(reasonsIn(report).join()).toContain('missing_there incomplete_there')
  })

  test('labels, types of another dialect, and operations that are not there', async () => {
    const there = await serveThere(() => undefined)
    const label = { chain: undefined, address: alice!, label: 'Alice', source: 'x', rank: 'operator' as const }
    await there.store.annotate({ labels: [{ ...label, updatedAt: 0 }] })
    const front = await serveFront(there, ({ url = '' }, outgoing) => {
      if (!/\/stats/.test(url)) return false
      outgoing.writeHead(410).end('{"message":"gone"}')
      return true
    })
    const { code, report } = await compare(`${front}/api/v2.2/`, there.key, '--json', ...little)
    expect(report.differences).toEqual([])
    expect(code).toBe(0)
    const labels = ['from_address_label own_lists', 'owner_address_label own_lists', 'to_address_label own_lists']
    expect(reasonsIn(report)).toEqual(labels)
    const stats = report.operations.filter(({ operation }) => operation.endsWith('Stats'))
    for (const each of stats) expect(each).toMatchObject({ questions: 0, not_compared: expect.anything() })
    expect(JSON.stringify(stats)).toContain('not served there (410: gone)')
  })
})

/** Stands before a service: `special` answers what it wants to itself. */
async function serveFront(
  { url }: Pick<ServedApi, 'url'>,
  special: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean,
): Promise<string> {
  const server: Server = createServer(async (incoming, outgoing) => {
    if (special(incoming, outgoing)) return
    const chunks = await Array.fromAsync(incoming)
    const { method = 'GET', headers } = incoming
    const answer = await fetch(url + incoming.url, {
      ...{ method, headers: { 'x-api-key': String(headers['x-api-key']) } },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    const complete = answer.headers.get('x-index-complete')
    outgoing.writeHead(answer.status, complete === null ? {} : { 'x-index-complete': complete })
    outgoing.end(await answer.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  opened.unshift({
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the other service', () => {
  test('is asked within the budget, and what was not asked is said', async () => {
    let requests = 0
    const front = await serveFront(equal, () => {
      requests++
      return false
    })
    const { code, report, stderr } = await compare(front, equal.key, '--json', ...everything, '--requests', '17')
    expect([requests, report.requests]).toEqual([17, { sent: 17, max: 17 }])
    expect(stderr).toMatch(/budget of 17 requests is used up.*\nTry: {3}pass a greater number with --requests/)
    expect(report.stopped).toContain('budget')
    expect(report.operations.some(({ not_asked }) => not_asked > 0)).toBe(true)
    expect(code).toBe(0)
  })

  test('is waited for as long as it says, and asked more slowly', async () => {
    const times: number[] = []
    const front = await serveFront(equal, (_, outgoing) => {
      if (times.push(performance.now()) !== 3) return false
      outgoing.writeHead(429, { 'retry-after': '1' }).end('{"message":"Rate limit exceeded"}')
      return true
    })
    const few = ['--operations', 'getNFTContractMetadata,getNFTCollectionStats', '--contract', apes!]
    const { code, report } = await compare(front, equal.key, '--json', ...few)
    expect([code, report.differences_total]).toEqual([0, 0])
    expect(times[3]! - times[2]!).toBeGreaterThan(990)
    expect(report.requests.sent).toBe(times.length)
  })

  test.each<[string, (outgoing: ServerResponse) => unknown, number, RegExp]>([
    [
      'a page',
      outgoing => outgoing.end('<html>hello</html>'),
      1,
      /answers with a page, not with JSON.*\nTry: .*--against/,
    ],
    [
      'another address',
      outgoing => outgoing.writeHead(302, { location: 'http://x.example/' }).end(),
      1,
      /sends elsewhere/,
    ],
    [
      'a refusal that repeats the key',
      outgoing => outgoing.writeHead(401).end(JSON.stringify({ message: `Invalid key ${secret}`, secret })),
      1,
      /refused the key\. \(401: Invalid key \*\*\*\)\nTry: .*ALMANAC_COMPARE_KEY or --against-key-file/,
    ],
    ['nothing', outgoing => outgoing.destroy(), 75, /cannot be reached/],
    ['a limit of the day', o => o.writeHead(429, { 'retry-after': '9999' }).end('{}'), 75, /asked too often/],
  ])('that answers with %s is named', async (_, answer, expected, words) => {
    const front = await serveFront(here, (__, outgoing) => {
      answer(outgoing)
      return true
    })
    const { code, stdout, stderr } = await compare(front, secret, '--contract', apes!)
    expect([code, stdout]).toEqual([expected, ''])
    expect(stderr).toMatch(words)
  })

  test('that needs a key, where none was given, is not said to refuse one', async () => {
    const sides = ['--url', here.url, '--against', `${equal.url}/api/v2.2`]
    const { code, stderr } = await runHere(['compare', ...sides, ...little], folder)
    expect(code).toBe(1)
    expect(stderr).toMatch(/ needs a key, and none was given\..*\nTry: {3}pass one: .*KEY/)
  })

  test('is no longer asked after an interruption, and what was compared is shown', async () => {
    let requests = 0
    const front = await serveFront(equal, () => {
      if (++requests === 9) process.emit('SIGINT', 'SIGINT')
      return false
    })
    const { code, report, stderr } = await compare(front, equal.key, '--json', ...little)
    expect([code, requests]).toEqual([130, 9])
    expect(stderr).toContain('Error: Interrupted by SIGINT.\n')
    expect(report.questions).toBeGreaterThan(0)
    expect(report.stopped).toBe('Interrupted by SIGINT.')
  })

  test('that repeats the key in its answers does not get it shown', async () => {
    const front = await serveFront(equal, ({ url = '', headers }, outgoing) => {
      if (!url.includes('/metadata')) return false
      const key = String(headers['x-api-key'])
      const told = [key, encodeURIComponent(key), JSON.stringify(key)].map(each => [`x${each}x`, `y${each}y`])
      outgoing.end(JSON.stringify({ name: key, ...Object.fromEntries(told) }))
      return true
    })
    for (const form of [[], ['--json']]) {
      const only = ['--operations', 'getNFTContractMetadata', '--contract', apes!, ...form]
      const { code, stdout } = await compare(front, equal.key, ...only)
      expect(code).toBe(1)
      expect(stdout).toContain('***')
      expect(stdout).toContain('Apes')
    }
  })
})

describe('random contracts and accounts', () => {
  const choice = ['--samples', '2', '--seed', '9', '--requests', '80', '--json']
  const run = async (url: string, ...parameters: string[]) => {
    const environment = { ALMANAC_URL: here.url, ALMANAC_KEY: here.key, ALMANAC_COMPARE_KEY: equal.key }
    const { code, stdout } = await runHere(['compare', '--against', url, ...choice, ...parameters], folder, environment)
    return { code, report: JSON.parse(stdout) as Report }
  }
  const onSolana = ({ operations }: Report) =>
    operations.flatMap(({ operation, questions }) => (operation.startsWith('solana.') ? [[operation, questions]] : []))

  test('are taken from this service, the same for the same seed', async () => {
    const [one, two] = [await run(equal.url), await run(equal.url)]
    expect([one.code, one.report.differences]).toEqual([0, []])
    expect(two.report).toEqual(one.report)
    expect(one.report.seed).toBe(9)
    expect(one.report.questions).toBeGreaterThan(10)
    expect(onSolana(one.report)).toEqual([
      ...['getPortfolio', 'balance', 'getSPL', 'getNFTs', 'getTokenMetadata'].map(id => [`solana.${id}`, 1]),
    ])
    expect(one.report.chains_left_out).toEqual({ 'solana devnet': 'no account of it was read here yet' })
  })

  test('of a network that is not served there are left out, with the reason', async () => {
    const answers: ((outgoing: ServerResponse) => unknown)[] = [
      outgoing => outgoing.writeHead(404).end('{"message":"no such route"}'),
      outgoing => outgoing.end('<html>hello</html>'),
    ]
    const reasons = [
      /^not served there \(404: no such route\); --against-solana/,
      /page, not with JSON.*--against-solana/,
    ]
    for (const [at, answer] of answers.entries()) {
      const front = await serveFront(equal, ({ url = '' }, outgoing) => {
        if (url.startsWith('/account/')) answer(outgoing)
        return url.startsWith('/account/')
      })
      const { code, report } = await run(front)
      expect([code, report.differences, onSolana(report)]).toEqual([0, [], []])
      expect(report.chains_left_out['solana mainnet']).toMatch(reasons[at]!)
    }
  })

  test('of Solana are not looked for where no operation asks about them', async () => {
    const { report } = await run(equal.url, '--operations', 'getNFTOwners')
    expect([report.questions, report.chains_left_out]).toEqual([2, {}])
  })
})
