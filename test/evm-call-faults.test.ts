// Endpoints that fail some calls of every batch: history and reorganisations end all the same, in a time that is told
// beside that without faults. ALMANAC_CALL_FAULT_BLOCKS=4000 measures the whole table.
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { expectFullTruth } from './evm-fault-checks.ts'
import { caughtUp, startIndexer, temporaryStore } from './evm-harness.ts'
import type { Fault } from './sim/faults.ts'
import { type SimNode, startSimNode } from './sim/node.ts'

const blocks = Number(process.env.ALMANAC_CALL_FAULT_BLOCKS ?? 500)
const percents = blocks > 500 ? [0, 1, 2, 5, 25] : [0, 2, 25]
const pace = { retryDelayMs: { first: 20, max: 200 }, historyCheckMs: 50, shorterBranchPatienceMs: 200 }

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A third each: a node that is a moment behind says so or answers null, and a provider counts calls. */
function failing(percent: number): Fault[] {
  const rate = percent / 300
  return [
    { kind: 'call-behind', rate },
    { kind: 'null-block', rate },
    { kind: 'call-rate-limit', rate },
  ]
}

async function index(height: number, faults: readonly Fault[]) {
  const small = { transactionsPerBlock: 1, contracts: 3, erc20Contracts: 1, finalityDepth: 24 }
  const node = await startSimNode({ chain: { height, hashes: 'real', ...small }, endpoints: [{ faults }] })
  cleanups.push(() => node.close())
  // Blocks are made before the clock runs.
  node.warm({ from: 0, to: height })
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const startedAt = performance.now()
  const { indexer, stop } = startIndexer(node, store, { pace })
  cleanups.push(stop)
  return { node, store, indexer, startedAt }
}

const fired = (node: SimNode): number => [...node.endpoints[0]!.fired.values()].reduce((sum, count) => sum + count, 0)

describe('history', () => {
  const table: string[] = []
  afterAll(() => {
    if (blocks > 500) console.log([`${blocks} blocks`, ...table].join('\n'))
  })

  test.each(percents)('is complete with %i % of calls failing', { timeout: 90_000 + blocks * 20 }, async percent => {
    const { node, store, indexer, startedAt } = await index(blocks, failing(percent))
    await caughtUp(indexer, node, 30_000 + blocks * 20)
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    table.push(
      `${percent} % of calls: ${seconds} s, ${fired(node)} calls failed, ${node.endpoints[0]!.requests} requests`,
    )
    const [status] = (await indexer.status()).rpc
    if (percent > 0) expect(status!.errors).toBeGreaterThan(0)
    await expectFullTruth(store, node.chain, 0)
  })
})

test('a reorganisation under such faults ends with the right rows', { timeout: 90_000 }, async () => {
  const { node, store, indexer } = await index(120, [])
  await caughtUp(indexer, node)
  node.endpoints[0]!.faults = failing(25)
  for (const depth of [20, 5, 12]) {
    node.reorg({ depth, length: depth + 1 })
    await caughtUp(indexer, node, 20_000)
    await expectFullTruth(store, node.chain, 0)
  }
})
