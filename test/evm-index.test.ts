// The indexer end to end on a simulated chain: what is stored equals what the simulator knows.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ethereumHeaders } from '../src/chains.ts'
import type { ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { Address, ChainId } from '../src/model.ts'
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
import { type SimNode, type SimNodeOptions, startSimNode } from './sim/node.ts'
import { expectedActivity } from './sim/truth.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

let engine: Engine

async function run(options: SimNodeOptions, setup: Partial<ChainSetup> = {}) {
  const node = await startSimNode(options)
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore(engine)
  cleanups.push(remove)
  const { indexer, stop } = startIndexer(node, store, setup)
  cleanups.push(stop)
  return { node, store, indexer }
}

async function expectTruth(node: SimNode, store: Store, from = 0): Promise<void> {
  const truth = truthByContract(node.chain, { from, to: node.chain.head })
  expect(truth.size).toBeGreaterThan(5)
  for (const [contract, expected] of truth) {
    expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
  }
  const activity = expectedActivity(node.chain, { from, to: node.chain.head })
  const chain = node.chain.options.chainId as ChainId
  await Promise.all(
    [...activity].map(async ([address, expected]) =>
      expect((await store.activityOf(address)).get(chain)).toEqual(expected),
    ),
  )
}

describe.each(engineNames)('on %s', name => {
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  describe('full mode', () => {
    test('stores the whole chain, and what is mined meanwhile, with the proof of the receipts root', async () => {
      const { node, store, indexer } = await run({ chain: { height: 300, hashes: 'real' } })
      await caughtUp(indexer, node)
      node.mine(10)
      await caughtUp(indexer, node)
      await expectTruth(node, store)
      const { covered } = await indexer.status()
      expect(covered).toEqual([{ from: 0, to: 310, evidence: 'receipts-root', scope: 'full' }])
    })

    test('indexes a Polygon whose state-sync transactions have an index of their own', async () => {
      const node = await startSimNode({ chain: { height: 200, hashes: 'real', stateSync: 'own-index' } })
      cleanups.push(() => node.close())
      const { store, remove } = await temporaryStore(engine)
      cleanups.push(remove)
      const quirks = { headers: ethereumHeaders, stateSyncTransactions: true } as const
      const { indexer, stop } = startIndexer(node, store, { chain: { ...simulatedChain(node), quirks } })
      cleanups.push(stop)
      await caughtUp(indexer, node)
      await expectTruth(node, store)
      expect((await indexer.status()).evidence_reason).toMatch(/no root proves the logs of its state-sync transaction/)
    })

    test('takes the bloom where a node has no receipts', async () => {
      const faults = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }] as const
      const { node, store, indexer } = await run({ chain: { height: 200, hashes: 'real' }, endpoints: [{ faults }] })
      await caughtUp(indexer, node)
      await expectTruth(node, store)
      expect((await indexer.status()).covered[0]?.evidence).toBe('bloom')
    })

    test('replaces hot blocks on reorganisations, also nested ones', async () => {
      const { node, store, indexer } = await run({ chain: { height: 200, hashes: 'real' } })
      await caughtUp(indexer, node)
      for (const move of [
        { depth: 1, length: 1 },
        { depth: 5, length: 7 },
        { depth: 30, length: 31 },
        { depth: 40, length: 45 },
      ]) {
        node.reorg(move)
        node.mine(2)
      }
      await caughtUp(indexer, node)
      await expectTruth(node, store)
    })

    test('history below `from` is left out', async () => {
      const { node, store, indexer } = await run({ chain: { height: 300 } }, { from: 120 })
      await caughtUp(indexer, node)
      await expectTruth(node, store, 120)
    })
  })

  describe('on demand', () => {
    test('a contract is indexed when it is asked for, and followed from then on', async () => {
      const { node, store, indexer } = await run({ chain: { height: 400 } }, { index: 'on-demand' })
      const truth = truthByContract(node.chain, { from: 0, to: 400 })
      const [contract] = [...truth].sort((a, b) => b[1].length - a[1].length)[0] as [Address, unknown]
      await indexer.ensureContract(contract, patienceMs)
      expect(await storedTransfers(store, node.chain, contract)).toEqual(truth.get(contract))
      node.mine(20)
      node.reorg({ depth: 10, length: 12 })
      await caughtUp(indexer, node)
      const grown = truthByContract(node.chain, { from: 0, to: node.chain.head })
      expect(await storedTransfers(store, node.chain, contract)).toEqual(grown.get(contract))
    })
  })
})
