// History is held: by an order through the store, by a rate, and across processes. The head is followed and requests are
// served all the same, nothing looks like a failure, and nothing is missing afterwards.
import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { blockCount } from '../src/coverage.ts'
import type { ChainIndexer } from '../src/evm/index/chain-indexer.ts'
import type { Address, Hash } from '../src/model.ts'
import { orderBackfill } from '../src/store/backfill-order.ts'
import { CommandPlace, makeStore } from './command-run.ts'
import {
  caughtUp,
  simulatedChain,
  startIndexer,
  storedTransfers,
  temporaryStore,
  truthByContract,
} from './evm-harness.ts'
import { startSimNode } from './sim/node.ts'
import { lightBlocks } from './sim/options.ts'

const patience = { timeout: 60_000, interval: 20 }
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function world(height: number) {
  const node = await startSimNode({ chain: { chainId: 31_337, height, hashes: 'real', ...lightBlocks } })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  return { node, store, chain: simulatedChain(node).id, ordered: { by: 'a test', at: new Date().toISOString() } }
}

const coveredBy = async (indexer: ChainIndexer) => blockCount((await indexer.status()).covered)

/** What was being fetched when the pause came is still stored and claimed. */
async function steadyBlocksLeft(indexer: ChainIndexer): Promise<number> {
  let left = -1
  for (let same = 0; same < 10; await setTimeout(100)) {
    const now = (await indexer.status()).blocks_left
    same = now === left ? same + 1 : 0
    left = now
  }
  return left
}

test('a pause holds a backfill that is under way, and the head goes on', async () => {
  const { node, store, chain, ordered } = await world(300)
  const backfill = { paused: false, blocksPerSecond: 60 }
  const { indexer, stop } = startIndexer(node, store, { backfill, pace: { historyCheckMs: 50 } })
  cleanups.push(stop)
  const startedMs = performance.now()
  await vi.waitFor(async () => expect(await coveredBy(indexer)).toBeGreaterThan(70), patience)
  await orderBackfill(store, chain, { paused: ordered })
  await vi.waitFor(async () => expect((await indexer.status()).backfill?.state).toBe('paused'), patience)
  const seconds = (performance.now() - startedMs) / 1_000
  const { blocks_left: atPause, ...paused } = await indexer.status()
  expect(paused).toMatchObject({
    state: 'backfilling',
    complete: false,
    eta_seconds: null,
    backfill: { paused: ordered },
  })
  expect(paused).not.toHaveProperty('reason')
  expect(300 - atPause).toBeLessThan(60 * (seconds + 2))
  const left = await steadyBlocksLeft(indexer)
  expect(atPause - left).toBeLessThan(60)
  node.chain.mine(3)
  await vi.waitFor(async () => expect((await indexer.status()).head).toBe(303), patience)
  await vi.waitFor(async () => expect((await indexer.status()).lag_seconds).toBe(0), patience)
  expect((await indexer.status()).blocks_left).toBeGreaterThanOrEqual(left - 3)

  indexer.configure({ pollMs: 20, backfill: { paused: false } })
  await orderBackfill(store, chain, { paused: null })
  await caughtUp(indexer, node)
  const contract = node.chain.contracts.all[0]!.address as Address
  const truth = truthByContract(node.chain, { from: 0, to: node.chain.head })
  expect(await storedTransfers(store, node.chain, contract)).toEqual(truth.get(contract) ?? [])
  expect(blockCount(await store.coverage(chain, 'full'))).toBe(304)
})

test('before history is looked at, what is missing is left and nobody knows for how long', async () => {
  const { node, store, chain } = await world(1)
  await store.putChainState(chain, { head: { number: 150, hash: `0x${'1'.repeat(64)}` as Hash, timestamp: 1 } })
  const { indexer, stop } = startIndexer(node, store, { urls: ['http://127.0.0.1:9'] })
  cleanups.push(stop)
  expect(await indexer.status()).toMatchObject({ head: 150, complete: false, blocks_left: 151, eta_seconds: null })
})

test('while it is paused, contracts are indexed on demand and listed ones wait', async () => {
  const { node, store, chain, ordered } = await world(150)
  await orderBackfill(store, chain, { paused: ordered })
  const truth = [...truthByContract(node.chain, { from: 0, to: 150 })].sort((a, b) => b[1].length - a[1].length)
  const [[asked, rows], [listed]] = [truth[0]!, truth[1]!]
  const setup = { index: 'on-demand', contracts: [listed], pace: { historyCheckMs: 50 } } as const
  const { indexer, stop } = startIndexer(node, store, setup)
  cleanups.push(stop)
  await indexer.ensureContract(asked, 20_000)
  expect(await storedTransfers(store, node.chain, asked)).toEqual(rows)
  const held = await indexer.status()
  expect(held).toMatchObject({ state: 'backfilling', complete: false, backfill: { state: 'paused' } })
  expect(await storedTransfers(store, node.chain, listed)).toEqual([])
  await orderBackfill(store, chain, { paused: null })
  await caughtUp(indexer, node)
  expect(await storedTransfers(store, node.chain, listed)).toEqual(truth[1]![1])
})

test('an order given at one process reaches another, and a restart', { timeout: 120_000 }, async () => {
  const node = await startSimNode({
    chain: {
      ...{ chainId: 31_337, height: 120, hashes: 'real', ...lightBlocks },
      genesisTime: Math.floor(Date.now() / 1_000) - 121 * 12,
    },
  })
  cleanups.push(() => node.close())
  const place = new CommandPlace()
  cleanups.push(() => place.dispose())
  place.configure({ sim: { id: 31_337, rpc: node.url, index: 'full' } })
  await makeStore(place.storeUrl)
  const paused = await place.runHere(['backfill', 'pause', 'sim'])
  expect(paused).toMatchObject({ code: 0, stdout: expect.stringMatching(/sim +paused by .+ \(command\).*none runs/) })
  const key = 'a-key-of-the-operator'
  const api = place.begin(['start', '--only', 'api', '--listen', '127.0.0.1:0'], { ALMANAC_KEY: key })
  let indexer = place.begin(['start', '--only', 'index', '--log-format', 'json'])
  const url = await api.listening()
  const headers = { 'x-api-key': key }
  const status = async () => {
    const { chains } = (await (await fetch(`${url}/status`, { headers })).json()) as { chains: Record<string, object> }
    return chains.sim
  }
  await vi.waitFor(
    async () =>
      expect(await status()).toMatchObject({ state: 'backfilling', head: 120, backfill: { state: 'paused' } }),
    patience,
  )
  // Once the head has caught up, nothing is wrong.
  await vi.waitFor(
    async () => expect(await (await fetch(`${url}/ready`)).json()).toEqual({ status: 'ready' }),
    patience,
  )
  expect(indexer.stderr).toContain('"msg":"History paused"')

  indexer.child.kill('SIGTERM')
  await indexer.ended()
  indexer = place.begin(['start', '--only', 'index', '--log-format', 'json'])
  node.chain.mine(2)
  await vi.waitFor(
    async () =>
      expect(await status()).toMatchObject({ state: 'backfilling', head: 122, backfill: { state: 'paused' } }),
    patience,
  )
  const order = (body: object) =>
    fetch(`${url}/chains/sim/backfill`, { method: 'POST', headers, body: JSON.stringify(body) })
  const resumed = await order({ paused: false, throttle: { blocks_per_second: 1_000 } })
  expect(await resumed.json()).toMatchObject({
    paused: null,
    throttle: { blocks_per_second: 1_000, by: 'key ALMANAC_KEY' },
  })
  await vi.waitFor(async () => expect(await status()).toMatchObject({ state: 'live', complete: true }), patience)
  const shown = JSON.parse((await place.runHere(['backfill', 'status', '--json'])).stdout)
  expect(shown.sim.indexer).toMatchObject({ state: 'live', backfill: { state: 'open', blocks_per_second: 1_000 } })
})
