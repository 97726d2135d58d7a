// Nodes that have dropped old blocks: a chain is whole if one endpoint has them, and says what is missing if none has.
import { afterEach, expect, test } from 'vitest'
import { missingIntervals } from '../src/coverage.ts'
import type { ChainPace, ChainSetup } from '../src/evm/index/chain-indexer.ts'
import type { ChainId } from '../src/model.ts'
import { expectContractTruth, expectFullTruth, expectNothingWrong } from './evm-fault-checks.ts'
import { caughtUp, patienceMs, startIndexer, temporaryStore, truthByContract } from './evm-harness.ts'
import { someCases } from './release-runs.ts'
import type { Fault } from './sim/faults.ts'
import { startSimNode } from './sim/node.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const pace: Partial<ChainPace> = { retryDelayMs: { first: 20, max: 100 }, historyCheckMs: 50 }
const below = 120
type Style = Omit<Extract<Fault, { kind: 'pruned' }>, 'kind' | 'below'>
/** What a node says nothing of is told from what is late by a thousand blocks. */
const heights = { said: 200, silent: 1_150 }

async function run(endpoints: readonly (readonly Fault[])[], index: ChainSetup['index']) {
  const isSilent = endpoints[0]!.some(fault => fault.kind === 'pruned' && ['null', 'empty'].includes(fault.answer))
  const height = isSilent ? heights.silent : heights.said
  const chain = { height, hashes: 'real', finalityDepth: 40, transactionsPerBlock: 1, contracts: 4 } as const
  const node = await startSimNode({ chain, endpoints: endpoints.map(faults => ({ faults })) })
  cleanups.push(() => node.close())
  node.warm({ from: 0, to: height })
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const truth = truthByContract(node.chain, { from: 0, to: height })
  const older = (rows: readonly { block: number }[]): number => rows.filter(({ block }) => block < below).length
  const [[contract] = []] = [...truth].sort(([, a], [, b]) => older(b) - older(a))
  const contracts = index === 'full' || contract === undefined ? [] : [contract]
  const { stop, ...started } = startIndexer(node, store, { pace, index, contracts })
  cleanups.push(stop)
  return { node, store, truth, contract: contract!, ...started }
}

const besides: [ChainSetup['index'], Style][] = [
  ['full', { answer: 'geth' }],
  ['full', { answer: 'empty', keeps: 'blocks' }],
  ['on-demand', { answer: 'erigon', keeps: 'blocks' }],
  ['on-demand', { answer: 'null' }],
  ['on-demand', { answer: 'empty', keeps: 'blocks' }],
]

test.each(someCases(besides, 2))(
  'beside an archive node, %s, %o: whole, and both are healthy',
  async (index, style) => {
    const { node, store, indexer, rpc, contract, truth } = await run([[{ kind: 'pruned', below, ...style }], []], index)
    await caughtUp(indexer, node)
    if (index === 'full') await expectFullTruth(store, node.chain, 0)
    else await expectContractTruth(store, node.chain, contract, truth.get(contract)!)
    const [short, whole] = rpc.status()
    expect(short).toMatchObject({ healthy: true, reason: undefined })
    // It may have been asked for some of the older blocks, or for none.
    expect(short?.history_from ?? 0).toBeLessThanOrEqual(below)
    expect(whole).toMatchObject({ healthy: true, history_from: undefined })
  },
)

const alone: [ChainSetup['index'], Style][] = [
  ['full', { answer: 'geth' }],
  ['full', { answer: 'empty', keeps: 'blocks' }],
  ['on-demand', { answer: 'empty', keeps: 'blocks' }],
  ['on-demand', { answer: 'geth' }],
]

test.each(someCases(alone, 2))('alone, %s, %o: what it has is there, and the reason is told', async (index, style) => {
  const { node, store, indexer, rpc, contract } = await run([[{ kind: 'pruned', below, ...style }]], index)
  const id = node.chain.options.chainId as ChainId
  const status = await until(indexer, ({ state }) => state === 'stalled')
  expect(status.reason).toMatch(/^No sim endpoint has blocks below 120: .* Try: add `history:` or an archive node/)
  expect(status.rpc).toMatchObject([{ healthy: true, reason: undefined, history_from: below }])
  const covered = index === 'full' ? await store.coverage(id, 'full') : await store.contractCoverage(id, contract)
  const missing = missingIntervals(covered, { from: 0, to: node.chain.head })
  expect(missing).toMatchObject([{ to: below - 1 }])
  await expectNothingWrong(store, node.chain)
  const calls = () => [...node.endpoints[0]!.calls].filter(([method]) => method !== 'eth_getBlockByNumber')
  const before = calls()
  await new Promise(resolve => setTimeout(resolve, 200))
  expect(calls()).toEqual(before)
  node.mine(3)
  const { head } = node.chain
  await until(indexer, status => status.head === head && status.lag_seconds === 0)
  node.endpoints[0]!.faults = []
  rpc.setEndpoints(node.endpoints.map(({ url }) => ({ url })))
  await caughtUp(indexer, node)
})

test('without an index of old transactions: their blocks show them, and the node stays healthy', async () => {
  const { node, store, indexer, rpc, contract, truth } = await run(
    [[{ kind: 'no-transaction-index', below }]],
    'on-demand',
  )
  await caughtUp(indexer, node)
  await expectContractTruth(store, node.chain, contract, truth.get(contract)!)
  expect(rpc.status()).toMatchObject([{ healthy: true, reason: undefined }])
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
