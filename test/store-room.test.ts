// Indexing while the store has no room: it pauses and asks nodes for nothing, reads go on, and it goes on by itself
// with nothing lost.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLog } from '../src/log.ts'
import { StoreRoom, type StoreRoomOptions } from '../src/store/room.ts'
import { Connection } from '../src/store/sqlite/connection.ts'
import { ownerWriteOptions, prepareFile, readOptions } from '../src/store/sqlite/open-file.ts'
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'
import { caughtUp, patienceMs, startIndexer, storedTransfers, temporaryStore, truthByContract } from './evm-harness.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'

const patience = { timeout: 30_000, interval: 20 }
const pace = { lookMs: 20, retryMs: 500, waitMs: 10 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function newNode(height: number): Promise<SimNode> {
  const node = await startSimNode({ chain: { height } })
  cleanups.push(() => node.close())
  return node
}

/** Watches the room of a store as the indexing thread does. `bytesMax` can be raised meanwhile. */
async function watchRoom(store: Store) {
  const said: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: line => said.push(JSON.parse(line).msg) })
  const options: StoreRoomOptions = { store, log, pace }
  const room = await new StoreRoom(options).start()
  cleanups.push(() => room.close())
  return { room, options, said }
}

const pauseAndResume = [
  'Store full; serving goes on, indexing waits for room',
  'Store has room again; indexing goes on',
]

async function expectWhole(store: Store, node: SimNode, to: number): Promise<void> {
  for (const [contract, expected] of truthByContract(node.chain, { from: 0, to }))
    expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
}

describe.each(engineNames)('a store at its bound, on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test('pauses head and history, answers, and goes on when the bound is raised', async () => {
    const node = await newNode(40)
    const { store, remove } = await temporaryStore(engine)
    cleanups.push(remove)
    const { room, options, said } = await watchRoom(store)
    const { indexer, stop } = startIndexer(node, store, { room })
    cleanups.push(stop)
    await caughtUp(indexer, node)

    options.bytesMax = 1
    await vi.waitFor(() => expect(room.full).toBeDefined(), patience)
    // A round that was under way ends.
    await delay(100)
    const asked = node.endpoints[0]!.requests
    node.mine(20)
    await delay(200)
    expect(node.endpoints[0]!.requests).toBe(asked)
    const reason = expect.stringMatching(/^The store has reached limits\.store_bytes_max/)
    expect(await indexer.status()).toMatchObject({ state: 'store_full', reason, head: 40 })
    await expectWhole(store, node, 40)
    // What is small and must go on does.
    await store.putHeartbeat('one', '{}')
    expect(await store.claim('other', 'one', 1_000)).toBeDefined()

    options.bytesMax = 1_000_000_000
    await caughtUp(indexer, node)
    await expectWhole(store, node, 60)
    expect(said).toEqual(pauseAndResume)
  })

  test('pauses contracts on demand, whose requests do not wait', async () => {
    const node = await newNode(60)
    const { store, remove } = await temporaryStore(engine)
    cleanups.push(remove)
    const { options } = await watchRoom(store)
    const room = new StoreRoom(options)
    const { indexer, stop } = startIndexer(node, store, { room, index: 'on-demand' })
    cleanups.push(stop)
    await vi.waitFor(async () => expect((await indexer.status()).state).toBe('live'), patience)
    const [[contract, expected] = []] = truthByContract(node.chain, { from: 0, to: 60 })
    options.bytesMax = 1
    await room.look()
    const startedMs = performance.now()
    await indexer.ensureContract(contract!, patienceMs)
    expect(performance.now() - startedMs).toBeLessThan(patienceMs / 4)
    expect(await storedTransfers(store, node.chain, contract!)).toEqual([])
    options.bytesMax = undefined
    await room.look()
    await indexer.ensureContract(contract!, 10_000)
    expect(await storedTransfers(store, node.chain, contract!)).toEqual(expected)
  })
})

test('a disk without room for taking in the log is full all the same', async () => {
  const disk = { bytes: 1_000_000, freeBytes: 100 }
  const info = { engine: 'sqlite', location: 'file:a.db', schemaVersion: 1, sizeBytes: 1, usedBytes: 1, disk } as const
  const takeInLog = () => Promise.reject(new Error('database or disk is full'))
  const room = new StoreRoom({ store: { info: async () => info, takeInLog } })
  await room.look()
  expect(room.full).toMatch(/^The disk of the store is full up to its reserve/)
  expect(room.fullInSeconds).toBe(0)
})

test('a file that SQLite itself finds full pauses the same way, and nothing is lost', async () => {
  const node = await newNode(400)
  const { store: made, url, remove } = await temporaryStore()
  cleanups.push(remove)
  await made.close()
  const path = url.slice('file:'.length)
  await prepareFile(path)
  let write: Connection | undefined
  let pages = 90
  const limit = (): void => write?.database.exec(`PRAGMA max_page_count = ${pages}`)
  const openWrite = () => {
    write = new Connection(path, ownerWriteOptions)
    limit()
    return write
  }
  const read = new Connection(path, readOptions)
  const store = sqliteStore({ path, read, openWrite, waitMsMax: 1_000, ownership: undefined })
  cleanups.push(() => store.close())
  const { room, said } = await watchRoom(store)
  const { indexer, stop } = startIndexer(node, store, { room })
  cleanups.push(stop)
  await vi.waitFor(async () => expect((await indexer.status()).state).toBe('store_full'), patience)
  const { reason } = await indexer.status()
  expect(reason).toMatch(/is full; nothing of this commit was kept\. Try: free space/)
  expect(await store.coverage(node.chain.options.chainId as never, 'full')).toBeDefined()

  pages = 1_000_000
  limit()
  await caughtUp(indexer, node)
  await expectWhole(store, node, 400)
  // Told by a look, a moment after the commit that succeeded.
  await vi.waitFor(() => expect(said).toEqual(pauseAndResume), patience)
})
