// Several processes on one store: one indexes a chain, another takes over, and whoever lost the chain cannot write any more.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ChainIndexer, type ChainSetup } from '../src/evm/index/chain-indexer.ts'
import { ChainLedgers } from '../src/evm/index/chain-ledgers.ts'
import { fencedStore, LeasedIndexer } from '../src/evm/index/leased-indexer.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import { createLog } from '../src/log.ts'
import { createEvmMetrics } from '../src/metrics.ts'
import type { Store } from '../src/store/store.ts'
import { caughtUp, simulatedChain, storedTransfers, temporaryStore, truthByContract } from './evm-harness.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function leasedIndexerOn(node: SimNode, store: Store): LeasedIndexer {
  const chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: [{ url: node.url }] })
  cleanups.push(() => rpc.close())
  const setup = { chain, index: 'full', from: 0, contracts: [], pollMs: 20 } as const
  const log = createLog({ level: 'silent', format: 'json' })
  const metrics = createEvmMetrics()
  const makeLedgers = (own: Store) => {
    const makeIndexer = (of: ChainSetup) => new ChainIndexer({ ...of, rpc, store: own, log, metrics, pageSizeMax: 100 })
    return new ChainLedgers({ setup, store: own, hasNode: true, makeIndexer })
  }
  // Longer than a busy machine keeps this process waiting, or the lease goes to the other one by itself.
  const keeper = new LeasedIndexer({ setup, store, log, makeLedgers, leaseMs: 5_000 })
  cleanups.push(() => keeper.stop())
  return keeper
}

let engine: Engine

describe.each(engineAbove('postgres'))('on %s', name => {
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test('one of two indexes, and the other takes over where it stopped', async () => {
    const node = await startSimNode({ chain: { height: 150 } })
    cleanups.push(() => node.close())
    const { store, remove } = await temporaryStore(engine)
    cleanups.push(remove)
    const keepers = [leasedIndexerOn(node, store), leasedIndexerOn(node, store)]
    for (const keeper of keepers) keeper.start()
    await expect.poll(() => keepers.filter(({ ledgers }) => ledgers !== undefined).length).toBe(1)
    const first = keepers.find(({ ledgers }) => ledgers !== undefined)!
    const second = keepers.find(keeper => keeper !== first)!
    await caughtUp(first.ledgers!.nft, node)
    expect(await second.status()).toMatchObject({ standby: true, complete: true, head: 150 })

    await first.stop()
    node.mine(20)
    await expect.poll(() => second.ledgers).toBeDefined()
    await caughtUp(second.ledgers!.nft, node)
    for (const [contract, expected] of truthByContract(node.chain, { from: 0, to: 170 })) {
      expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
    }
  })

  test('a holder that wakes up late writes nothing', async () => {
    const { store, remove } = await temporaryStore(engine)
    cleanups.push(remove)
    const lease = await store.claim('index/1', 'sleeper', 1)
    const asleep = fencedStore(store, lease!)
    await asleep.putCheckpoint('x', 'before')
    await expect.poll(() => store.claim('index/1', 'successor', 60_000)).toBeDefined()
    await expect(asleep.putCheckpoint('x', 'after')).rejects.toMatchObject({ code: 'conflict' })
    expect(await asleep.checkpoint('x')).toBe('before')
  })
})
