// Nodes that have dropped old blocks: a chain is whole if one endpoint has them, and says what is missing if none has.
import { afterEach, describe, expect, test } from 'vitest'
import type { ChainPace, ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { Address, ChainId } from '../src/model.ts'
import { expectContractTruth, expectFullTruth, expectNothingWrong } from './evm-fault-checks.ts'
import { caughtUp, patienceMs, startIndexer, temporaryStore, truthByContract } from './evm-harness.ts'
import type { Fault } from './sim/faults.ts'
import { startSimNode } from './sim/node.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const pace: Partial<ChainPace> = { retryDelayMs: { first: 20, max: 100 }, historyCheckMs: 50 }
const below = 120
const finalityDepth = 40
type Pruned = Extract<Fault, { kind: 'pruned' }>
const all = { from: 0, to: 1_250 }
const farther: Fault = { kind: 'latency', delayMs: 5 }

async function run(endpoints: readonly (readonly Fault[])[], setup: Partial<ChainSetup>) {
  const { index = 'full' } = setup
  // On demand only old blocks can be told from late ones where a node says nothing.
  const chain = { height: 1_250, hashes: 'real', finalityDepth, transactionsPerBlock: 1 } as const
  const node = await startSimNode({ chain, endpoints: endpoints.map(faults => ({ faults })) })
  cleanups.push(() => node.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const [[busiest] = []] = [...truthByContract(node.chain, { from: 0, to: 300 })].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  const contract = busiest as Address
  const started = startIndexer(node, store, { pace, ...(index === 'full' ? {} : { contracts: [contract] }), ...setup })
  cleanups.push(started.stop)
  return { node, store, contract, id: node.chain.options.chainId as ChainId, ...started }
}

const silent: [string, Omit<Pruned, 'kind' | 'below'>][] = [
  ['null', { answer: 'null' }],
  ['receipts that are null', { answer: 'null', keeps: 'blocks' }],
  ['receipts and logs that are empty', { answer: 'empty', keeps: 'blocks' }],
]
const styles: [string, Omit<Pruned, 'kind' | 'below'>][] = [
  ['error 4444', { answer: 'geth' }],
  ['an error in other words', { answer: 'erigon', keeps: 'blocks' }],
  ...silent,
]

describe.each(styles)('%s', (_, style) => {
  const pruned: Fault = { kind: 'pruned', below, ...style }

  test.each(['full', 'on-demand'] as const)('beside an archive node, %s: whole, and both are healthy', async index => {
    const { node, store, indexer, rpc, contract } = await run([[pruned], [farther]], { index })
    await caughtUp(indexer, node)
    if (index === 'full') await expectFullTruth(store, node.chain, 0)
    else await expectContractTruth(store, node.chain, contract, truthByContract(node.chain, all).get(contract)!)
    const [short, whole] = rpc.status()
    expect(short).toMatchObject({ healthy: true, reason: undefined, history_from: below })
    expect(whole).toMatchObject({ healthy: true, history_from: undefined })
  })

  test.each(['full', 'on-demand'] as const)('alone, %s: the rest is there, and the reason is told', async index => {
    const { node, store, indexer, rpc, contract, id } = await run([[pruned]], { index })
    const status = await until(indexer, ({ state }) => state === 'stalled')
    expect(status.reason).toMatch(/^No sim endpoint has blocks below 120: .* Try: add `history:` or an archive node/)
    expect(status.rpc).toMatchObject([{ healthy: true, reason: undefined, history_from: below }])
    const covered = index === 'full' ? await store.coverage(id, 'full') : await store.contractCoverage(id, contract)
    expect(covered[0]).toMatchObject({ from: below, to: index === 'full' ? 1_250 - finalityDepth : 1_250 })
    await expectNothingWrong(store, node.chain)
    const { requests } = node.endpoints[0]!
    node.mine(3)
    await until(indexer, ({ head, lag_seconds }) => head === 1_253 && lag_seconds === 0)
    // The head is polled every 20 ms, and nothing else is asked.
    expect(node.endpoints[0]!.calls.get('eth_getCode') ?? 0).toBeLessThan(200)
    expect(requests).toBeLessThan(2_000)
    node.endpoints[0]!.faults = []
    rpc.setEndpoints(node.endpoints.map(({ url }) => ({ url })))
    await caughtUp(indexer, node)
  })
})

async function until(
  indexer: Awaited<ReturnType<typeof run>>['indexer'],
  isSo: (status: Awaited<ReturnType<typeof indexer.status>>) => boolean,
) {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const status = await indexer.status()
    if (isSo(status)) return status
    if (Date.now() > deadline) throw new Error(`not so: ${JSON.stringify(status)}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
