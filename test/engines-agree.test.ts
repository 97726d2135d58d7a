// The same requests to the same data in both engines: every answer must be the same to the byte.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../src/api/app.ts'
import { defaultApiSettings } from '../src/api/context.ts'
import { serveApp } from '../src/api/serve.ts'
import { ChainTable } from '../src/chains.ts'
import { StoreGatekeeper } from '../src/keys/gatekeeper.ts'
import { issueKey, scopes } from '../src/keys/keys.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type SharedPostgres, sharedPostgres } from './postgres-server.ts'
import { seed, seeded, seededAddress } from './seed.ts'

type Subject = { store: Store; get(target: string): Promise<Response>; close(): Promise<void> }

let server: SharedPostgres
let folder: string
let subjects: Subject[] = []

beforeAll(async () => {
  server = await sharedPostgres()
  folder = await mkdtemp(join(tmpdir(), 'almanac-engines-'))
  const url = await server.createStore()
  const sqlite = await openStore(`file:${join(folder, 'almanac.db')}`, { role: 'owner' })
  await (await openStore(url, { role: 'owner' })).close()
  // Cursors are signed with the store's secret, so that the same answer needs the same one.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("UPDATE secrets SET value = $1 WHERE name = 'cursor'", [Buffer.from(sqlite.secret)])
  await client.end()
  const postgres = await openStore(url, { role: 'owner' })
  subjects = [await subjectOf(sqlite), await subjectOf(postgres)]
})

afterAll(async () => {
  for (const subject of subjects) await subject.close()
  await server.stop()
  await rm(folder, { recursive: true })
})

async function subjectOf(store: Store): Promise<Subject> {
  await seed(store)
  const { secret } = await issueKey(store, { name: 'test', scopes })
  const gatekeeper = await StoreGatekeeper.open(store)
  const app = createApp({
    store,
    chains: new ChainTable(),
    settings: defaultApiSettings,
    gatekeeper,
    log: createLog({ level: 'error', format: 'json', write: line => console.error(line) }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    status: async () => ({ chains: {}, solana: {} }),
  })
  const served = await serveApp(app, { host: '127.0.0.1', port: 0 })
  return {
    store,
    // Ids that are made differ, and sometimes in length, which Content-Length shows.
    get: target => fetch(served.url + target, { headers: { 'x-api-key': secret, 'x-request-id': 'engines-agree' } }),
    close: async () => {
      await served.close()
      await gatekeeper.close()
      await store.close()
    },
  }
}

const { collection, editions, range, deeds, silent, alice, bob, carol } = seeded
const contracts = fc.constantFrom(collection, editions, range, deeds, silent, alice, seededAddress('nobody'))
const wallets = fc.constantFrom(alice, bob, carol, collection, seededAddress('nobody'))
const chainNames = fc.constantFrom('eth', 'polygon', '0x1', 'arbitrum', 'palm', '0xA4B1', '137', 'nowhere')
const numbers = fc.oneof(
  fc.nat(seeded.head + 10),
  fc.integer({ min: seeded.finalized - 2, max: seeded.head + 2 }),
  fc.constantFrom(0, 1, 4_095, 4_096, 8_192, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1),
)
const dates = numbers.map(number => 1_600_000_000 + Math.min(number, 2 ** 31) * 12 - (number % 3))

const transferTargets = fc
  .record({
    version: fc.constantFrom('v2', 'v2.2', 'v2', 'v2.1'),
    contract: contracts,
    chain: fc.option(chainNames, { nil: undefined }),
    from_block: fc.option(numbers, { nil: undefined, freq: 2 }),
    to_block: fc.option(numbers, { nil: undefined, freq: 2 }),
    from_date: fc.option(dates, { nil: undefined, freq: 1 }),
    to_date: fc.option(dates, { nil: undefined, freq: 1 }),
    limit: fc.option(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: -1, max: 130 })), { nil: undefined }),
    order: fc.option(fc.constantFrom('ASC', 'DESC'), { nil: undefined }),
    format: fc.option(fc.constantFrom('hex', 'decimal', 'octal'), { nil: undefined, freq: 1 }),
    disable_total: fc.option(fc.boolean(), { nil: undefined }),
  })
  .map(({ version, contract, ...parameters }) => {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
    return `/api/${version}/nft/${contract}/transfers?${query}`
  })
const walletTargets = fc
  .tuple(fc.constantFrom('v2', 'v2.2'), wallets, fc.option(fc.array(chainNames, { maxLength: 4 }), { nil: undefined }))
  .map(
    ([version, wallet, names]) => `/api/${version}/wallets/${wallet}/chains${names ? `?chains=${names.join()}` : ''}`,
  )
const portfolioTargets = fc
  .tuple(
    fc.constantFrom('mainnet', 'devnet', 'testnet'),
    fc.constantFrom(seeded.solanaOwner, '11111111111111111111111111111111', 'x'),
  )
  .map(([network, owner]) => `/account/${network}/${owner}/portfolio`)

/** The moment of a request, and what a key has left, are its own. */
const ownHeaders = /^(date|age|ratelimit|x-ratelimit|x-head-age)/i

async function answerOf(subject: Subject, target: string): Promise<{ shown: unknown; cursor: string | undefined }> {
  const response = await subject.get(target)
  const text = await response.text()
  const headers = [...response.headers].filter(([name]) => !ownHeaders.test(name)).sort()
  return { shown: { status: response.status, headers, body: text }, cursor: JSON.parse(text).cursor || undefined }
}

const pagesMax = 6
const runs = Number(process.env.ENGINE_RUNS ?? 120)

test('random requests get the same answers from both engines', { timeout: 120_000 }, async () => {
  let requests = 0
  let furtherPages = 0
  const property = fc.asyncProperty(
    fc.oneof({ weight: 6, arbitrary: transferTargets }, { weight: 2, arbitrary: walletTargets }, portfolioTargets),
    async first => {
      let target: string | undefined = first
      for (let page = 0; target !== undefined && page < pagesMax; page++) {
        const [expected, answer] = await Promise.all(subjects.map(subject => answerOf(subject, target as string)))
        expect(answer?.shown, target).toEqual(expected?.shown)
        requests += 1
        if (expected?.cursor !== undefined) furtherPages += 1
        target = expected?.cursor === undefined ? undefined : `${first.split('?')[0]}?cursor=${expected.cursor}`
      }
    },
  )
  await fc.assert(property, { numRuns: runs })
  // The requests must have reached rows and pages, not only refusals.
  expect(requests).toBeGreaterThan(runs * 1.01)
  expect(furtherPages).toBeGreaterThan(runs * 0.02)
})
