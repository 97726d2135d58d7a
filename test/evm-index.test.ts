// The indexer end to end on a simulated chain: what is stored equals what the simulator knows.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ChainTable, ethereumHeaders } from '../src/chains.ts'
import { isCovered } from '../src/coverage.ts'
import type { ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { Address, ChainId } from '../src/model.ts'
import { WalletChains } from '../src/query/wallet-chains.ts'
import type { Store } from '../src/store/store.ts'
import type { KeptView } from '../src/views.ts'
import { expectSame } from './evm-fault-checks.ts'
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
import { expectedActivity, expectedSent, expectedTransfers } from './sim/truth.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

let engine: Engine
const light = { transactionsPerBlock: 3, logsPerCall: 2, finalityDepth: 50 } as const

async function run(options: SimNodeOptions, setup: Partial<ChainSetup> = {}) {
  const node = await startSimNode(options)
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore(engine)
  cleanups.push(remove)
  const { indexer, stop } = startIndexer(node, store, setup)
  cleanups.push(stop)
  return { node, store, indexer, stop }
}

async function expectTransfers(node: SimNode, store: Store, from = 0): Promise<void> {
  const truth = truthByContract(node.chain, { from, to: node.chain.head })
  expect(truth.size).toBeGreaterThan(5)
  for (const [contract, expected] of truth) {
    expectSame(await storedTransfers(store, node.chain, contract), expected, `transfers of ${contract}`)
  }
}

async function expectTruth(node: SimNode, store: Store, from = 0): Promise<void> {
  await expectTransfers(node, store, from)
  const activity = expectedActivity(node.chain, { from, to: node.chain.head })
  const chain = node.chain.options.chainId as ChainId
  await Promise.all(
    [...activity].map(async ([address, expected]) =>
      expectSame((await store.activityOf(address)).get(chain), expected, `activity of ${address}`),
    ),
  )
}

describe.each(engineAbove('postgres'))('on %s', name => {
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  describe('full mode', () => {
    test('stores the whole chain, and what is mined meanwhile, with the proof of the receipts root', async () => {
      const { node, store, indexer } = await run({ chain: { height: 120, hashes: 'real', ...light } })
      await caughtUp(indexer, node)
      node.mine(10)
      await caughtUp(indexer, node)
      await expectTruth(node, store)
      const { covered } = await indexer.status()
      expect(covered).toEqual([{ from: 0, to: 130, evidence: 'receipts-root', scope: 'full' }])
    })

    test('indexes a Polygon whose state-sync transactions have an index of their own', async () => {
      const node = await startSimNode({ chain: { height: 140, hashes: 'real', stateSync: 'own-index', ...light } })
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
      const { node, store, indexer } = await run({
        chain: { height: 120, hashes: 'real', ...light },
        endpoints: [{ faults }],
      })
      await caughtUp(indexer, node)
      await expectTruth(node, store)
      expect((await indexer.status()).covered[0]?.evidence).toBe('bloom')
    })

    test('replaces hot blocks on reorganisations, also nested ones', async () => {
      const { node, store, indexer } = await run({ chain: { height: 120, hashes: 'real', ...light } })
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
      const { node, store, indexer } = await run({ chain: { height: 200, ...light } }, { from: 120 })
      await caughtUp(indexer, node)
      await expectTruth(node, store, 120)
    })
  })

  describe('full mode without activity', () => {
    const finalAtStart = 80

    /** Starts it again on the same store, and counts what it writes and takes back of blocks that were final then. */
    function restart(node: SimNode, store: Store, views: readonly KeptView[]) {
      const rows = { transfers: 0, incomplete: 0 }
      const contract = expectedTransfers(node.chain, { from: 0, to: 50 })[0]!.contract
      const watched: Store = {
        ...store,
        async commitCold(commit) {
          const result = await store.commitCold(commit)
          rows.transfers += commit.transfers.filter(({ block }) => block <= finalAtStart).length
          const covered = await store.contractCoverage(commit.chain, contract)
          if (!isCovered(covered, { from: 0, to: finalAtStart })) rows.incomplete++
          return result
        },
      }
      const { indexer, stop } = startIndexer(node, watched, { views, pace: { historyCheckMs: 50 } })
      cleanups.push(stop)
      return { indexer, stop, rows }
    }

    test('keeps every transfer and no wallet; activity that is named later is filled while contracts stay complete', async () => {
      const { node, store, indexer, stop } = await run(
        { chain: { height: 150, hashes: 'real', ...light } },
        { views: ['transfers'] },
      )
      const chain = node.chain.options.chainId as ChainId
      await caughtUp(indexer, node)
      node.mine(5)
      await caughtUp(indexer, node)
      await expectTransfers(node, store)
      expect(await indexer.status()).toMatchObject({
        views: ['transfers'],
        covered: [{ from: 0, to: 155, evidence: 'receipts-root', scope: 'transfers' }],
      })
      const wallets = [...expectedActivity(node.chain, { from: 0, to: 155 }).keys()]
      const known = await Promise.all(wallets.map(wallet => store.activityOf(wallet)))
      expect(known.every(({ size }) => size === 0)).toBe(true)
      // A wallet is looked up when it is asked for, as on a chain that is indexed on demand, and never complete.
      const sender = wallets.find(wallet => expectedSent(node.chain, wallet) !== undefined)!
      await indexer.ensureWallet(sender, patienceMs)
      expect((await store.activityOf(sender)).get(chain)?.last).toEqual(expectedSent(node.chain, sender)?.last)
      const operation = new WalletChains(store, new ChainTable())
      const ask = () =>
        operation.answer({ wallet: sender, chains: undefined }, {
          key: undefined,
          freshen: undefined,
          freshenWaitMs: 0,
        } as never)
      expect((await ask()).incomplete).toMatchObject([{ id: chain }])
      await stop()

      const later = restart(node, store, ['transfers', 'activity'])
      // What was followed without wallets is read again once it is final.
      node.mine(80)
      await caughtUp(later.indexer, node)
      await expectTruth(node, store)
      expect(later.rows).toEqual({ transfers: 0, incomplete: 0 })
      expect((await ask()).incomplete).toEqual([])
      expect(await store.coverage(chain, 'full')).toEqual([
        { scope: 'full', from: 0, to: 235, evidence: 'receipts-root' },
      ])
    })

    test.runIf(name === 'sqlite')(
      'activity that is no longer named stays, and what came meanwhile is read for it alone',
      async () => {
        const { node, store, indexer, stop } = await run({ chain: { height: 150, hashes: 'real', ...light } })
        const chain = node.chain.options.chainId as ChainId
        await caughtUp(indexer, node)
        await stop()
        const off = restart(node, store, ['transfers'])
        node.mine(30)
        await caughtUp(off.indexer, node)
        expect(off.rows.transfers).toBe(0)
        expect(await off.indexer.status()).toMatchObject({
          covered: [
            { from: 0, to: 150, scope: 'full' },
            { from: 151, to: 180, scope: 'transfers' },
          ],
        })
        await off.stop()
        const on = restart(node, store, ['transfers', 'activity'])
        node.mine(80)
        await caughtUp(on.indexer, node)
        await expectTruth(node, store)
        expect(on.rows).toEqual({ transfers: 0, incomplete: 0 })
        expect(await store.coverage(chain, 'full')).toEqual([
          { scope: 'full', from: 0, to: 260, evidence: 'receipts-root' },
        ])
      },
    )
  })

  describe('on demand', () => {
    test('a contract is indexed when it is asked for, and followed from then on', async () => {
      const { node, store, indexer } = await run({ chain: { height: 400, ...light } }, { index: 'on-demand' })
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
