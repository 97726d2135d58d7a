// History from bulk sources, alone and beside a node: the store ends as a node alone leaves it, and evidence says no
// more than what was connected.
import { afterEach, expect, test, vi } from 'vitest'
import { BulkSources } from '../src/evm/source/bulk-sources.ts'
import type { ChainId, CoveredInterval, Interval } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import {
  caughtUp,
  patienceMs,
  simulatedChain,
  startIndexer,
  storedTransfers,
  temporaryStore,
  truthByContract,
} from './evm-harness.ts'
import { SimChain } from './sim/chain.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { expectedActivity } from './sim/truth.ts'
import { SimSource, type SimSourceOptions } from './sim-source.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const shape = { height: 200, hashes: 'real', finalityDepth: 20, transactionsPerBlock: 4, logsPerCall: 2 } as const
const patience = { timeout: patienceMs, interval: 20 }

async function world() {
  const node = await startSimNode({ chain: shape })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const source = (options: Omit<SimSourceOptions, 'chain' | 'sim'> & { sim?: SimChain }) =>
    new SimSource({ chain: simulatedChain(node), sim: node.chain, ...options })
  const start = (bulk: BulkSources | undefined, setup: Parameters<typeof startIndexer>[2] = {}) => {
    const started = startIndexer(node, store, { pace: { historyCheckMs: 20 }, ...(bulk && { bulk }), ...setup })
    cleanups.push(started.stop)
    return started
  }
  return { node, store, source, start }
}

const idOf = (node: SimNode) => node.chain.options.chainId as ChainId
const claimedFor = async (node: SimNode, store: Store, claimed: 'full' | 'transfers') =>
  (await store.coverage(idOf(node), claimed)).map(({ scope: _, ...interval }) => interval)
const wholeOf = async (node: SimNode, store: Store) => ({
  full: await claimedFor(node, store, 'full'),
  transfers: await claimedFor(node, store, 'transfers'),
})

async function expectTruth(node: SimNode, store: Store, range: Interval): Promise<void> {
  const truth = truthByContract(node.chain, range)
  expect(truth.size).toBeGreaterThan(5)
  for (const [contract, expected] of truth) expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
  const activity = expectedActivity(node.chain, range)
  for (const [address, expected] of activity)
    expect((await store.activityOf(address)).get(idOf(node))).toEqual(expected)
}

function evidenceAt(covered: readonly CoveredInterval[], block: number): string | undefined {
  return covered.find(({ from, to }) => from <= block && block <= to)?.evidence
}

test('files, a portal and a node each fill a part, and transfers come before senders', async () => {
  const { node, store, source, start } = await world()
  const anchors = new Map([
    [70, 'canonical'],
    [90, 'canonical'],
  ] as const)
  const files = source({
    holds: [
      { from: 10, to: 60 },
      { from: 61, to: 90 },
    ],
    anchors,
  })
  const portal = source({ kind: 'portal', holds: [{ from: 0, to: 120 }], endsEarly: true })
  const { indexer } = start(new BulkSources([files, portal]))
  await caughtUp(indexer, node)
  await expectTruth(node, store, { from: 0, to: node.chain.head })
  const { full, transfers } = await wholeOf(node, store)
  expect(transfers).toEqual([
    { from: 0, to: 90, evidence: 'canonical' },
    { from: 91, to: 120, evidence: 'receipts-root' },
  ])
  expect(full).toEqual([
    { from: 0, to: 90, evidence: 'canonical' },
    { from: 91, to: 200, evidence: 'receipts-root' },
  ])
  for (const { given } of [files, portal])
    expect(given.map(({ scope }) => scope).join()).toMatch(/^transfers(,transfers)*(,full)+$/)
  // Each source gave its own blocks and no others, once for transfers and once for activity.
  expect(files.given.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBe(2 * 81)
  expect(portal.given.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBe(2 * 40)
  expect((await indexer.status()).sources).toMatchObject([{ kind: 'files', blocks: 81 }, { kind: 'portal' }])
})

test('what a source gets wrong is asked of the next, and the source is blamed', async () => {
  const { node, store, source, start } = await world()
  const files = source({ holds: [{ from: 0, to: 150 }], wrong: new Set([33, 101]) })
  const portal = source({ kind: 'portal', holds: [{ from: 0, to: 50 }] })
  const { indexer } = start(new BulkSources([files, portal]))
  await caughtUp(indexer, node)
  await expectTruth(node, store, { from: 0, to: node.chain.head })
  expect((await wholeOf(node, store)).full).toEqual([{ from: 0, to: 200, evidence: 'receipts-root' }])
  expect(portal.given).toContainEqual({ from: 33, to: 33, scope: 'transfers' })
  const [status] = (await indexer.status()).sources ?? []
  expect(status?.refused.map(({ block }) => block)).toEqual([101, 33])
})

test('an archive: what hangs on nothing is stored as one source’s word, and rises when it connects', async () => {
  const { node, store, source, start } = await world()
  const holds = [
    { from: 0, to: 60 },
    { from: 100, to: 160 },
  ]
  const anchors = new Map<number, 'canonical'>()
  const bulk = new BulkSources([source({ holds, anchors })])
  const { indexer } = start(bulk, { urls: [] })
  const reason = expect.stringContaining('has no node, and its sources lack 39 blocks: blocks 61 to 99.')
  const lacking = { state: 'stalled', reason, head: 160, blocks_left: 39 }
  await vi.waitFor(async () => expect(await indexer.status()).toMatchObject(lacking), patience)
  expect(await indexer.status()).toMatchObject({ complete: false, lag_seconds: 0, head_age_seconds: null, rpc: [] })
  expect((await indexer.status()).covered.map(({ evidence }) => evidence)).toEqual(Array(4).fill('one-endpoint'))
  expect((await wholeOf(node, store)).full).toEqual(holds.map(each => ({ ...each, evidence: 'unanchored' })))
  // A new file fills the gap and another goes on above.
  holds.push({ from: 61, to: 99 }, { from: 161, to: 180 })
  bulk.configure(undefined)
  await vi.waitFor(async () => expect(await indexer.status()).toMatchObject({ complete: true, head: 180 }), patience)
  expect((await wholeOf(node, store)).full).toEqual([{ from: 0, to: 180, evidence: 'unanchored' }])
  await expectTruth(node, store, { from: 0, to: 180 })
  // The operator gives what proves a block, and nothing is read again.
  anchors.set(143, 'canonical')
  const proven = source({ holds, anchors })
  bulk.configure([proven])
  await vi.waitFor(
    async () =>
      expect((await wholeOf(node, store)).full).toEqual([
        { from: 0, to: 143, evidence: 'canonical' },
        { from: 144, to: 180, evidence: 'unanchored' },
      ]),
    patience,
  )
  expect(proven.given).toEqual([])
})

test('an archive whose portal names more blocks than it has has the head of its files', async () => {
  const { node, store, source, start } = await world()
  const portal = source({ kind: 'portal', holds: [{ from: 0, to: 1_000_000 }], lacksHeaders: true })
  const { indexer } = start(new BulkSources([source({ holds: [{ from: 0, to: 60 }] }), portal]), { urls: [] })
  await vi.waitFor(async () => expect(await indexer.status()).toMatchObject({ complete: true, head: 60 }), patience)
  await expectTruth(node, store, { from: 0, to: 60 })
  const alone = await world()
  const { indexer: headless } = alone.start(new BulkSources([portal]), { urls: [] })
  const reason = expect.stringMatching(/no source gives it a head: .* gives no header of block 1000000/)
  await vi.waitFor(async () => expect(await headless.status()).toMatchObject({ state: 'stalled', reason }), patience)
})

test('an archive becomes a chain with a node: what was stored rises, and blocks of another chain are read again', async () => {
  const { node, store, source, start } = await world()
  const other = new SimChain({ ...shape, seed: 2 })
  const strays = source({ sim: other, kind: 'portal', holds: [{ from: 80, to: 99 }] })
  const first = start(new BulkSources([source({ holds: [{ from: 0, to: 40 }] }), strays]), { urls: [] })
  const reason = expect.stringContaining('has no node, and its sources lack 39 blocks: blocks 41 to 79.')
  await vi.waitFor(async () => expect(await first.indexer.status()).toMatchObject({ reason }), patience)
  await first.stop()
  const before = (await wholeOf(node, store)).full
  expect([evidenceAt(before, 40), evidenceAt(before, 99)]).toEqual(['unanchored', 'unanchored'])
  const { indexer } = start(new BulkSources([source({ holds: [{ from: 0, to: 40 }] })]))
  await caughtUp(indexer, node)
  await vi.waitFor(
    async () => expect((await wholeOf(node, store)).full).toEqual([{ from: 0, to: 200, evidence: 'receipts-root' }]),
    patience,
  )
  const truth = truthByContract(node.chain, { from: 0, to: node.chain.head })
  for (const [contract, expected] of truth) expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
})
