// What is learnt of nodes that have dropped old blocks, from what they say and from what they leave out.
import { afterEach, expect, test } from 'vitest'
import type { Fault } from '../../../test/sim/faults.ts'
import { ManualClock } from '../../../test/sim/manual-clock.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { prunedWordings } from '../../../test/sim/provider-wordings.ts'
import type { Clock } from '../../abort.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { ChainRpc } from './chain-rpc.ts'
import { askedBlocks } from './history-floors.ts'

const { signal } = new AbortController()
const below = 333
let node: SimNode
let rpc: ChainRpc
afterEach(async () => {
  await rpc.close()
  await node.close()
})

async function start(faults: readonly (readonly Fault[])[], clock?: Clock): Promise<void> {
  const chain = { height: 1_400, transactionsPerBlock: 1, seed: 8 }
  node = await startSimNode({ chain, endpoints: faults.map(list => ({ faults: list })) })
  const endpoints = node.endpoints.map(({ url }) => ({ url }))
  rpc = new ChainRpc({ chain: { name: 'eth', id: 1 }, endpoints, timeoutMs: 10_000, clock })
}

const logsOf = (from: number, to: number) => ({
  method: 'eth_getLogs',
  params: [{ fromBlock: quantityHex(from), toBlock: quantityHex(to) }],
})
const receiptsOf = (block: number) => ({ method: 'eth_getBlockReceipts', params: [quantityHex(block)] })
const latest = { method: 'eth_getBlockByNumber', params: ['latest', false] }

async function failureOf(asked: Promise<unknown>): Promise<AlmanacError> {
  const error = await asked.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(AlmanacError)
  return error as AlmanacError
}

test.each(Object.keys(prunedWordings) as (keyof typeof prunedWordings)[])(
  'as %s refuses: the lowest block is found, and nothing below is asked again',
  async answer => {
    await start([[{ kind: 'pruned', below, answer }]])
    const error = await failureOf(rpc.ask([logsOf(100, 900)], { signal }))
    expect(rpcFailureOf(error)?.kind).toBe('pruned')
    expect(error.message).toMatch(/^No eth endpoint has blocks below 333: \S+ has those from 333\.$/)
    expect(error.hint).toContain('`history:`')
    expect(rpc.historyFrom).toBe(below)
    expect(rpc.status()).toMatchObject([{ healthy: true, reason: undefined, errors: 0, history_from: below }])
    const { requests } = node.endpoints[0]!
    await failureOf(rpc.ask([receiptsOf(below - 1)], { signal }))
    expect(node.endpoints[0]!.requests).toBe(requests)
    expect((await rpc.ask([logsOf(below, 900)], { signal })).values).toHaveLength(1)
  },
)

test.each([
  [40, 40],
  [10, 60],
])('of one that has none of the blocks %i to %i, the lowest that it has is found above them', async (from, to) => {
  await start([[{ kind: 'pruned', below, answer: 'geth' }]])
  const error = await failureOf(rpc.ask([logsOf(from, to)], { signal }))
  expect(error.message).toMatch(/^No eth endpoint has blocks below 333: \S+ has those from 333\.$/)
  expect(error.hint).toContain('set `from` to 333')
  expect(rpc.status()).toMatchObject([{ history_from: below }])
})

test('older blocks are asked of those that have them, and newer ones of all', async () => {
  const farther: Fault = { kind: 'latency', delayMs: 20 }
  await start([[{ kind: 'pruned', below, answer: 'geth' }], [farther]])
  const [pruned, archive] = rpc.endpoints
  expect((await rpc.ask([logsOf(100, 900)], { signal })).endpoint).toBe(archive)
  expect((await rpc.ask([logsOf(100, 900)], { signal })).endpoint).toBe(archive)
  expect((await rpc.ask([latest], { signal })).endpoint).toBe(pruned)
  expect(rpc.historyFrom).toBe(0)
  expect(rpc.status()).toMatchObject([
    { healthy: true, errors: 0 },
    { healthy: true, history_from: undefined },
  ])
})

test('missing state, and block 0, say nothing about blocks', async () => {
  await start([
    [
      { kind: 'pruned-state', below },
      { kind: 'pruned', below: 5, answer: 'geth' },
    ],
  ])
  await failureOf(rpc.ask([{ method: 'eth_getCode', params: [`0x${'1'.repeat(40)}`, '0x9'] }], { signal }))
  await failureOf(rpc.ask([{ method: 'eth_getBlockByNumber', params: ['0x0', false] }], { signal }))
  expect(rpc.historyFrom).toBe(0)
  expect(askedBlocks([receiptsOf(0)])).toBeUndefined()
  expect(askedBlocks([receiptsOf(7), logsOf(0, 9), latest])).toEqual({ from: 0, to: 9 })
  expect(askedBlocks([receiptsOf(7)], 3)).toEqual({ from: 3, to: 7 })
})

test.each([
  ['null blocks', 'null', undefined],
  ['null receipts', 'null', 'blocks'],
  ['empty receipts', 'empty', 'blocks'],
] as const)('%s far below the head: dropped', async (_, answer, keeps) => {
  await start([[{ kind: 'pruned', below, answer, ...(keeps === undefined ? {} : { keeps }) }]])
  await rpc.ask([latest], { signal })
  const asked = [receiptsOf(300), receiptsOf(340)]
  if (answer === 'null') await failureOf(rpc.ask(asked, { signal, nullIsMissing: true }))
  else expect(await rpc.hasDropped(rpc.endpoints[0]!, { block: 300, method: 'eth_getBlockReceipts' })).toBe(true)
  expect(rpc.historyFrom).toBe(below)
  expect(rpc.status()).toMatchObject([{ healthy: true, history_from: below }])
})

test('an endpoint that lags, or gives nothing newer either, has dropped nothing', async () => {
  await start([[{ kind: 'pruned', below: 1_000, answer: 'empty', keeps: 'blocks' }]])
  const method = 'eth_getBlockReceipts'
  expect(await rpc.hasDropped(rpc.endpoints[0]!, { block: 800, method })).toBe(false)
  expect(rpc.historyFrom).toBe(0)
  node.endpoints[0]!.faults = [{ kind: 'pruned', below: 2_000, answer: 'empty', keeps: 'blocks' }]
  rpc.setEndpoints(node.endpoints.map(({ url }) => ({ url })))
  expect(await rpc.hasDropped(rpc.endpoints[0]!, { block: 100, method })).toBe(false)
  expect(rpc.historyFrom).toBe(0)
})

test('logs that nothing proves are not taken from a node that leaves some out', async () => {
  await start([[{ kind: 'pruned', below, answer: 'empty', keeps: 'blocks' }]])
  await rpc.ask([latest], { signal })
  const isUnproven = true
  expect((await failureOf(rpc.askRaw([logsOf(1, 390)], { signal, isUnproven }))).message).toContain('below 333')
  expect(rpc.status()).toMatchObject([{ healthy: true, errors: 0, history_from: below }])
  expect((await rpc.askRaw([logsOf(below, 390)], { signal, isUnproven })).endpoint).toBe(rpc.endpoints[0])
})

test('a floor is looked at again, ever more seldom, and falls when the node has more', async () => {
  const clock = new ManualClock()
  await start([[{ kind: 'pruned', below, answer: 'geth' }]], clock)
  const ask = () => failureOf(rpc.ask([receiptsOf(10)], { signal }))
  const looks = () => node.endpoints[0]!.calls.get('eth_getBlockByNumber') ?? 0
  const asked = async (): Promise<number> => {
    const before = looks()
    await ask()
    return looks() - before
  }
  await failureOf(rpc.ask([logsOf(10, 900)], { signal }))
  expect(await asked()).toBe(0)
  for (const minutes of [1, 2, 4]) {
    await clock.advance(minutes * 60_000 - 1)
    expect(await asked()).toBe(0)
    expect(rpc.historyFrom).toBe(below)
    await clock.advance(1)
    expect(rpc.historyFrom).toBe(0)
    expect(await asked()).toBe(1)
    expect(rpc.historyFrom).toBe(below)
  }
  await clock.advance(6 * 3_600_000)
  node.endpoints[0]!.faults = []
  expect((await rpc.ask([receiptsOf(10)], { signal })).values).toHaveLength(1)
  expect(rpc.status()).toMatchObject([{ history_from: undefined }])
})

test('a reload forgets what was learnt', async () => {
  await start([[{ kind: 'pruned', below, answer: 'geth' }]])
  await failureOf(rpc.ask([logsOf(10, 900)], { signal }))
  node.endpoints[0]!.faults = []
  rpc.setEndpoints(node.endpoints.map(({ url }) => ({ url })))
  expect((await rpc.ask([receiptsOf(10)], { signal })).values).toHaveLength(1)
})
