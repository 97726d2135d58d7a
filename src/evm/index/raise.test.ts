// What raises stored blocks, and what must not: the word of a node is no proof of a parent.
import { afterEach, expect, test } from 'vitest'
import { simulatedChain, temporaryStore } from '../../../test/evm-harness.ts'
import { SimChain } from '../../../test/sim/chain.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { SimSource } from '../../../test/sim-source.ts'
import type { ChainId, Evidence, Hash, Interval } from '../../model.ts'
import { noActivity } from '../../store/packed-activity.ts'
import type { Store } from '../../store/store.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { BulkSources } from '../source/bulk-sources.ts'
import { FullSource } from '../source/full-source.ts'
import { raiseClaims } from './raise.ts'

const { signal } = new AbortController()
const shape = { height: 100, hashes: 'real', finalityDepth: 10, transactionsPerBlock: 1 } as const
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

type Held = Interval & { evidence: Evidence; of: SimChain }

/** A store that claims blocks, and what tries to raise them. */
async function world(node: SimNode, held: readonly Held[], endpoints = node.endpoints) {
  const { store, remove } = await temporaryStore()
  const chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: endpoints.map(({ url }) => ({ url })) })
  cleanups.push(remove, () => rpc.close())
  for (const { of, evidence, from, to } of held) await store.commitCold(claimOf(chain.id, of, { from, to, evidence }))
  const raise = async (bulk = new BulkSources()) => {
    await bulk.look(signal)
    const dropped: Interval[] = []
    const onDropped = ({ from, to }: Interval) => dropped.push({ from, to })
    await raiseClaims({ chain, store, rpc, source: new FullSource(chain, rpc), bulk, onDropped }, signal)
    return dropped
  }
  return { chain, store, raise }
}

function claimOf(chain: ChainId, sim: SimChain, covered: Interval & { evidence: Evidence }) {
  const blocks = [covered.from, covered.to].map(number => {
    return { number, hash: sim.hashOf(number) as Hash, timestamp: sim.block(number).timestamp }
  })
  const nothing = { transfers: [], activity: noActivity }
  return { chain, covered: [{ ...covered, scope: 'transfers' as const }], blocks, ...nothing }
}

async function coverage(store: Store, chain: ChainId) {
  return (await store.coverage(chain, 'transfers')).map(({ scope: _, ...claimed }) => claimed)
}

test('a header that proves its parent raises what is below it', async () => {
  const node = await startSimNode({ chain: shape })
  cleanups.push(() => node.close())
  const { chain, store, raise } = await world(node, [
    { of: node.chain, from: 0, to: 40, evidence: 'unanchored' },
    { of: node.chain, from: 41, to: 60, evidence: 'canonical' },
  ])
  expect(await raise()).toEqual([])
  expect(await coverage(store, chain.id)).toEqual([{ from: 0, to: 60, evidence: 'canonical' }])
})

test('a node whose headers do not hash to their hash raises nothing and drops nothing', async () => {
  const node = await startSimNode({ chain: { ...shape, hashes: 'cheap' } })
  cleanups.push(() => node.close())
  const other = new SimChain({ ...shape, hashes: 'cheap', seed: 2 })
  for (const below of [node.chain, other]) {
    const held = [
      { of: below, from: 0, to: 40, evidence: 'unanchored' },
      { of: node.chain, from: 41, to: 60, evidence: 'canonical' },
    ] as const
    const { chain, store, raise } = await world(node, held)
    expect(await raise()).toEqual([])
    expect(await coverage(store, chain.id)).toEqual(held.map(({ of: _, ...each }) => each))
  }
})

test('blocks that are not those of an anchor are dropped, also where no source has their headers', async () => {
  const node = await startSimNode({ chain: shape })
  cleanups.push(() => node.close())
  const other = new SimChain({ ...shape, seed: 2 })
  const { chain, store, raise } = await world(node, [{ of: other, from: 0, to: 40, evidence: 'unanchored' }])
  const anchors = new Map([[40, 'canonical']] as const)
  const source = new SimSource({ chain, sim: node.chain, holds: [{ from: 0, to: 40 }], anchors })
  expect(await raise(new BulkSources([source]))).toEqual([{ from: 0, to: 40 }])
  expect(await coverage(store, chain.id)).toEqual([])
})

test('a header that is the word of its source raises nothing', async () => {
  const node = await startSimNode({ chain: shape })
  cleanups.push(() => node.close())
  const held = [
    { of: node.chain, from: 0, to: 40, evidence: 'unanchored' },
    { of: node.chain, from: 41, to: 60, evidence: 'canonical' },
  ] as const
  const { chain, store, raise } = await world(node, held, [])
  const sourceOf = (unproven: boolean) =>
    new SimSource({ chain, sim: node.chain, holds: [{ from: 0, to: 60 }], unproven })
  await raise(new BulkSources([sourceOf(true)]))
  expect(await coverage(store, chain.id)).toEqual(held.map(({ of: _, ...each }) => each))
  await raise(new BulkSources([sourceOf(true), sourceOf(false)]))
  expect(await coverage(store, chain.id)).toEqual([{ from: 0, to: 60, evidence: 'canonical' }])
})

test('a proof raises what hangs on the word of a node or an operator, and drops nothing of it', async () => {
  const node = await startSimNode({ chain: shape })
  cleanups.push(() => node.close())
  for (const held of [node.chain, new SimChain({ ...shape, seed: 2 })]) {
    const { chain, store, raise } = await world(node, [{ of: held, from: 0, to: 40, evidence: 'receipts-root' }], [])
    for (const anchor of [
      [35, 'receipts-root'],
      [30, 'canonical'],
    ] as const) {
      const source = new SimSource({ chain, sim: node.chain, holds: [{ from: 0, to: 40 }], anchors: new Map([anchor]) })
      expect(await raise(new BulkSources([source]))).toEqual([])
    }
    expect(await coverage(store, chain.id)).toEqual(
      held === node.chain
        ? [
            { from: 0, to: 30, evidence: 'canonical' },
            { from: 31, to: 40, evidence: 'receipts-root' },
          ]
        : [{ from: 0, to: 40, evidence: 'receipts-root' }],
    )
  }
})
