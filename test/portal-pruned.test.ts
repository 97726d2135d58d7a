// A portal with a wrong block before nodes that have dropped their old blocks: that block alone is missing, and what is
// said of it is true.
import { afterEach, expect, test } from 'vitest'
import { ethereumHeaders } from '../src/chains.ts'
import { missingIntervals } from '../src/coverage.ts'
import { portalSource } from '../src/evm/portal/portal-source.ts'
import { BulkSources } from '../src/evm/source/bulk-sources.ts'
import { inlineDecoder } from '../src/evm/source/decode-pool.ts'
import { createLog } from '../src/log.ts'
import type { ChainId } from '../src/model.ts'
import { expectNothingWrong } from './evm-fault-checks.ts'
import { patienceMs, simulatedChain, startIndexer, temporaryStore } from './evm-harness.ts'
import { startSimNode } from './sim/node.ts'
import { startSimPortal } from './sim/portal.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const below = 120

test.each([
  ['one wrong block', [57]],
  ['three of them', [20, 57, 58]],
])('%s', async (_, wrong) => {
  const chain = { height: 220, hashes: 'real', finalityDepth: 40, transactionsPerBlock: 2, signed: true } as const
  const node = await startSimNode({ chain, endpoints: [{ faults: [{ kind: 'pruned', below, answer: 'geth' }] }] })
  cleanups.push(() => node.close())
  const portal = await startSimPortal({
    chain: node.chain,
    told: block =>
      wrong.includes(Number(block.header.number)) && block.transactions !== undefined
        ? { ...block, transactions: block.transactions.map(each => ({ ...each, value: '0x7' })) }
        : block,
  })
  cleanups.push(() => portal.close())
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const source = portalSource({
    chain: { ...simulatedChain(node), quirks: { headers: ethereumHeaders } },
    ...{ decoder: inlineDecoder, log: createLog({ level: 'silent', format: 'text' }) },
    ...{ url: portal.url, requestsPerSecond: Number.POSITIVE_INFINITY, backoffMs: 1 },
  })
  const { indexer, stop } = startIndexer(node, store, {
    ...{ pace: { historyCheckMs: 20, retryDelayMs: { first: 20, max: 100 } }, bulk: new BulkSources([source]) },
  })
  cleanups.push(stop)
  const id = node.chain.options.chainId as ChainId
  const whole = { from: 0, to: node.chain.head }
  const single = wrong.map(block => ({ from: block, to: block }))
  const expected = missingIntervals(missingIntervals(single, whole), whole)
  await expect
    .poll(async () => missingIntervals(await store.coverage(id, 'full'), whole), { timeout: patienceMs, interval: 50 })
    .toEqual(expected)
  await expect.poll(async () => (await indexer.status()).state, { timeout: patienceMs, interval: 20 }).toBe('stalled')
  const status = await indexer.status()
  expect(status.reason).toMatch(
    /^No sim endpoint has blocks below 120: \S+ has those from 120\. Missing: blocks? .*57.*\. Try: add `history:` or an archive node\.$/,
  )
  expect(status).toMatchObject({ complete: false, blocks_left: wrong.length, rpc: [{ history_from: below }] })
  expect(status.sources).toMatchObject([{ state: 'ready' }])
  const refused = status.sources?.[0]?.refused.map(({ name }) => name).sort()
  expect(refused).toEqual(expected.map(({ from, to }) => `${from} to ${to}`))
  await expectNothingWrong(store, node.chain)
})
