// A real streaming replica: answers come from it while it is close behind, from the store when it is not or is gone, and no run of pages
// goes back in time.
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Address, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { openReplica, openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { ReadReplica, Store } from '../src/store/store.ts'
import { packTransfer } from './pack-transfer.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { type ServedApi, serveApi } from './served-api.ts'

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
/** Generous, because a busy machine may look at both servers late. */
const lagMsMax = 3_000
const patience = { timeout: 60_000, interval: 50 }

let server: PostgresServer
let standby: PostgresServer
let store: Store
let replica: ReadReplica
let api: ServedApi
let replicaUrl: string

beforeAll(async () => {
  server = await startPostgres()
  const url = await server.createDatabase()
  store = await openStore(url, { role: 'reader' })
  standby = await server.startCopy('standby')
  replicaUrl = standby.url(new URL(url).pathname.slice(1))
  replica = await openReplica(store, replicaUrl, lagMsMax)
  api = await serveApi({ parts: { store, replica } })
}, 60_000)
afterAll(async () => {
  await api.close()
  await replica.close()
  await store.close()
  await standby.stop()
  await server.stop()
})

/** Block by block, one row in each. */
async function commit(from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const payload = packTransfer({
    ...{ standard: 'ERC721', batch: false, from: zeroAddress, to: contract, operator: undefined, tokenId: 1n },
    ...{ amount: 1n, value: 0n, transactionHash: hashOf(1), idCount: 1 },
  })
  const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload }
  const head = { number: to, hash: hashOf(to), timestamp: to }
  await store.commitCold({
    chain,
    covered: [{ from: 0, to, evidence: 'bloom', scope: 'full' }],
    blocks: numbers.map(number => ({ number, hash: hashOf(number), timestamp: number })),
    transfers: numbers.map(block => ({ ...place, block })),
    activity: noActivity,
  })
  await store.putChainState(chain, { head })
}

type Page = { result: { block_number: string }[]; cursor: string; index_complete: boolean }
async function page(query: string): Promise<Page> {
  const response = await api.get(`/api/v2/nft/${contract}/transfers?chain=eth&${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

async function replay(action: 'pause' | 'resume'): Promise<void> {
  const client = new pg.Client({ connectionString: replicaUrl })
  await client.connect()
  await client.query(`SELECT pg_wal_replay_${action}()`)
  await client.end()
}

test('a replica is read while it follows, and is left while it lags or is gone', { timeout: 90_000 }, async () => {
  await commit(0, 9)
  await vi.waitFor(() => expect(replica.current()).toBeDefined(), patience)
  const copy = replica.current()!
  const fromCopy = vi.spyOn(copy, 'transferPage')
  const fromStore = vi.spyOn(store, 'transferPage')

  // The first page comes from the replica, what follows from the store: it can only be newer.
  const first = await vi.waitFor(async () => {
    const answer = await page('limit=4')
    expect(answer.result[0]?.block_number).toBe('9')
    expect(answer.index_complete).toBe(true)
    expect(fromCopy).toHaveBeenCalled()
    return answer
  }, patience)
  const second = await page(`cursor=${first.cursor}`)
  expect(second.result.map(row => row.block_number)).toEqual(['5', '4', '3', '2'])
  expect(fromStore).toHaveBeenLastCalledWith(expect.objectContaining({ after: expect.anything() }))

  expect(fromCopy.mock.calls.every(([query]) => query.after === undefined)).toBe(true)

  // Labels are held once, those of the store, also for pages of the replica.
  const looks = (['labelsOf', 'labelsWithin', 'labelChanges'] as const).map(method => vi.spyOn(copy, method))
  const rank = { source: 'test', rank: 'operator', updatedAt: 1 } as const
  await store.annotate({ labels: [{ ...rank, chain: undefined, address: contract, label: 'Harbour' }] })
  fromCopy.mockClear()
  await vi.waitFor(async () => {
    const { result } = await page(`limit=${Math.floor(Math.random() * 1_000) + 100}`)
    expect(result[0]).toMatchObject({ to_address_label: 'Harbour' })
    expect(fromCopy).toHaveBeenCalled()
  }, patience)
  for (const look of looks) expect(look).not.toHaveBeenCalled()

  // While it lags within the bound its answer is of one moment: whole, whatever the store has by then.
  await replay('pause')
  await commit(10, 19)
  for (;;) {
    const answer = await page(`limit=${Math.floor(Math.random() * 1_000) + 100}`)
    const blocks = answer.result.map(row => Number(row.block_number))
    expect(blocks).toEqual(blocks.map((_, at) => blocks[0]! - at))
    expect([9, 19]).toContain(blocks[0])
    expect(answer.index_complete).toBe(true)
    // Beyond the bound the store is read.
    if (replica.current() === undefined) break
  }
  expect((await page('limit=3')).result[0]?.block_number).toBe('19')
  await replay('resume')
  await vi.waitFor(() => expect(replica.current()).toBeDefined(), patience)
  fromCopy.mockClear()
  await vi.waitFor(async () => {
    expect((await page(`limit=${Math.floor(Math.random() * 1_000) + 100}`)).result[0]?.block_number).toBe('19')
    expect(fromCopy).toHaveBeenCalled()
  }, patience)

  // Gone in the middle of it all: no request fails, and it is used again once it is back.
  await standby.kill()
  for (let request = 0; request < 20; request++)
    expect((await page(`limit=${request + 5}`)).result[0]?.block_number).toBe('19')
  await vi.waitFor(() => expect(replica.current()).toBeUndefined(), patience)
  await standby.start()
  await vi.waitFor(() => expect(replica.current()).toBeDefined(), { timeout: 60_000, interval: 100 })
})
