import { expect, test, vi } from 'vitest'
import { simulatedChain } from '../../../test/evm-harness.ts'
import { forgedResults } from '../../../test/sim/hostile.ts'
import { startSimNode } from '../../../test/sim/node.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { FullSource } from './full-source.ts'
import { isForeignRoot, probeChain } from './probe.ts'

test('a root that never holds on whole logs is foreign', () => {
  expect(isForeignRoot(['unproven', 'unproven'])).toBe(true)
  expect(isForeignRoot(['unproven', 'proven'])).toBe(false)
  expect(isForeignRoot([])).toBe(false)
})

test('an endpoint that drops logs cannot make it so', () => {
  // Of one block it dropped a log that the bloom does not show.
  expect(isForeignRoot(['spoiled', 'unproven', 'spoiled'])).toBe(false)
})

test('no proof is given up on the word of the first to answer, nor for ever', async () => {
  const node = await startSimNode({
    chain: { height: 90, hashes: 'real', transactionsPerBlock: 2 },
    endpoints: [
      { faults: [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }] },
      { faults: [{ kind: 'latency', delayMs: 300 }] },
    ],
  })
  const chain = simulatedChain(node)
  const rpcOf = (urls: string[]) => new ChainRpc({ chain, endpoints: urls.map(url => ({ url })), timeoutMs: 2_000 })
  const [fast, slow] = node.endpoints
  const [both, one] = [rpcOf([fast!.url, slow!.url]), rpcOf([fast!.url])]
  const { signal } = new AbortController()
  const grace = (unproven: number) => ({ proven: 50, unproven })
  expect(await probeChain(chain, both, signal, grace(100))).toMatchObject({ hasReceipts: false, isSettled: false })
  expect(await probeChain(chain, both, signal, grace(5_000))).toMatchObject({ hasReceipts: true, isSettled: true })
  const source = new FullSource(chain, one)
  const evidence = async () => (await source.range({ from: 1, to: 2 }, 'block', signal)).evidence
  expect(await evidence()).toBe('bloom')
  fast!.faults = []
  expect(await evidence()).toBe('bloom')
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 601_000)
  await expect.poll(evidence).toBe('receipts-root')
  clock.mockRestore()
  // A method that is lost again does not stop the chain until the next start.
  const settled = new FullSource(chain, one)
  expect((await settled.range({ from: 1, to: 2 }, 'block', signal)).evidence).toBe('receipts-root')
  fast!.faults = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }]
  const weaker = () => settled.range({ from: 1, to: 2 }, 'block', signal).then(({ evidence }) => evidence)
  await expect.poll(() => weaker().catch(() => 'none'), { timeout: 5_000 }).toBe('bloom')
  await Promise.all([both.close(), one.close(), node.close()])
})

test('an endpoint whose receipts fail every check does not speak for one whose blocks are empty', async () => {
  const node = await startSimNode({ chain: { height: 90, hashes: 'real' }, endpoints: [{}, {}] })
  for (const [at, receipts] of [[{}], []].entries())
    node.endpoints[at]!.forgery = forgedResults(['eth_getBlockReceipts'], () => receipts)
  const chain = simulatedChain(node)
  const rpc = new ChainRpc({ chain, endpoints: node.endpoints.map(({ url }) => ({ url })), timeoutMs: 2_000 })
  const { signal } = new AbortController()
  expect(await probeChain(chain, rpc, signal)).toMatchObject({ hasReceipts: true })
  await Promise.all([rpc.close(), node.close()])
})
