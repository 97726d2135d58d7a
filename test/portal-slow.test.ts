// A portal that is too slow, stalls, sends nothing or too much, before a node that has all blocks: history is whole soon, by
// the node, and the portal is blamed. One that is slow and honest gives all of it.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ethereumHeaders } from '../src/chains.ts'
import type { SlowestPart } from '../src/evm/portal/portal-client.ts'
import { portalSource } from '../src/evm/portal/portal-source.ts'
import { BulkSources } from '../src/evm/source/bulk-sources.ts'
import { inlineDecoder } from '../src/evm/source/decode-pool.ts'
import { createLog } from '../src/log.ts'
import type { ChainId, Hash } from '../src/model.ts'
import { caughtUp, patienceMs, simulatedChain, startIndexer, temporaryStore } from './evm-harness.ts'
import { openSource, trialChain } from './portal-trial.ts'
import { someCases } from './release-runs.ts'
import { startSimNode } from './sim/node.ts'
import { type PortalPace, type SimPortalOptions, startSimPortal } from './sim/portal.ts'
import * as paces from './sim/portal-paces.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const { signal } = new AbortController()
const top = trialChain.finalized
/** The bounds of a test: what takes 10 s takes less than one. */
const slowest: SlowestPart = { windowMs: 400, bytesMin: 1_024, partMs: 3_000, bytesPerSecond: 16_384 }

async function portalOf(options: Partial<SimPortalOptions>) {
  const portal = await startSimPortal({ chain: trialChain, ...options })
  cleanups.push(() => portal.close())
  return portal
}

/** For answers that take the portal of a test itself a while to make. */
const patient: SlowestPart = { ...slowest, windowMs: 5_000, partMs: 20_000 }

const hostile: [string, PortalPace, RegExp, SlowestPart?][] = [
  ['a byte at a time', paces.bytes(50), /the answer is too slow: \d+ bytes in 400 ms/],
  ['a line at a time', paces.lines(900), /the answer is too slow: \d+ bytes in 400 ms/],
  ['empty lines, packed', paces.newlines, /more than 65536 empty lines/, patient],
  ['lines of 900,000 values', paces.values(900_000), /more than 3000000 values/, patient],
  ['a line, and then nothing', paces.stalled, /the answer is too slow: 0 bytes in 400 ms/],
  ['no answer', paces.silent, /no whole answer within \d+ ms/],
  ['an end without a line', response => response.end(), /it ended its answer without a block/],
]

describe('before a node', () => {
  test.each(someCases(hostile, 2))('%s', async (_, pace, reason, bounds = slowest) => {
    const shape = { height: 80, hashes: 'real', finalityDepth: 5, transactionsPerBlock: 4, signed: true } as const
    const node = await startSimNode({ chain: shape })
    cleanups.push(() => node.close())
    const portal = await portalOf({ chain: node.chain, pace })
    const { store, remove } = await temporaryStore()
    cleanups.push(remove)
    const source = portalSource({
      chain: { ...simulatedChain(node), quirks: { headers: ethereumHeaders } },
      ...{ decoder: inlineDecoder, log: createLog({ level: 'silent', format: 'text' }) },
      ...{ url: portal.url, requestsPerSecond: Number.POSITIVE_INFINITY, backoffMs: 10, patienceMs: 400 },
      slowest: bounds,
    })
    const { indexer, metrics, stop } = startIndexer(node, store, {
      ...{ pace: { historyCheckMs: 20 }, bulk: new BulkSources([source]) },
    })
    cleanups.push(stop)
    await vi.waitFor(() => expect(portal.queries.length).toBeGreaterThan(2), { timeout: patienceMs })
    await caughtUp(indexer, node)
    const covered = await store.coverage(node.chain.options.chainId as ChainId, 'full')
    expect(covered).toEqual([{ scope: 'full', from: 0, to: 80, evidence: 'receipts-root' }])
    const [told] = (await indexer.status()).sources ?? []
    expect(told?.state === 'failed' || (told?.refused.length ?? 0) > 0).toBe(true)
    expect([told?.reason, ...(told?.refused ?? []).map(each => each.reason)].join('; ')).toMatch(reason)
    const counted = (await metrics.registry.metrics()).match(/source_refusals_total\{.*\}.*/)?.[0]
    expect(counted).toMatch(/source="portal"\} [1-9]/)
  })
})

/** Asks for all blocks, newest first, as a backfill does. */
async function askAll(source: ReturnType<typeof openSource>): Promise<{ lost: string[]; parts: number }> {
  const lost: string[] = []
  let parts = 0
  for (const missing = [{ from: 0, to: top }]; missing.length > 0 && parts < 200; parts++) {
    const { from, to } = missing.pop()!
    await source.look(signal)
    const asked = { from: Math.max(from, to - source.blocksAt(to) + 1), to }
    if (asked.from > from) missing.push({ from, to: asked.from - 1 })
    try {
      const range = await source.range(asked, { scope: 'transfers', lastHash: undefined }, signal)
      expect(range.headers.at(-1)?.hash).toBe(trialChain.hashOf(range.interval.to) as Hash)
      if (range.interval.to < to) missing.push({ from: range.interval.to + 1, to })
    } catch (error) {
      lost.push((error as Error).message)
      missing.push(asked)
    }
  }
  return { lost, parts }
}

test('a slow line that is honest: parts that take too long are given as far as they came, and asked for smaller', async () => {
  // All blocks at once take some seconds: a window is longer than a busy machine stands still.
  const portal = await portalOf({ pace: paces.slowLine(2_048, 20) })
  const source = openSource(portal, { slowest: { ...slowest, windowMs: 2_500, partMs: 600 } })
  cleanups.push(() => source.close())
  const { lost, parts } = await askAll(source)
  expect(lost).toEqual([])
  expect(parts).toBeGreaterThan(3)
  expect(source.status()).toMatchObject({ state: 'ready', refused: [] })
  expect(source.refusals).toBe(0)
})

test('one stall among good parts is borne, and what came before it is used', async () => {
  const portal = await portalOf({})
  const source = openSource(portal, { slowest })
  cleanups.push(() => source.close())
  await source.look(signal)
  portal.options = { ...portal.options, pace: paces.stalled }
  const { interval } = await source.range({ from: 20, to: 25 }, { scope: 'transfers' }, signal)
  expect(interval).toEqual({ from: 20, to: 20 })
  expect(source.status().state).toBe('ready')
  portal.options = { chain: trialChain }
  expect((await askAll(source)).lost).toEqual([])
})

test('it rests for twice as long each time, and is not asked meanwhile', async () => {
  const portal = await portalOf({ pace: paces.silent })
  const source = openSource(portal, { slowest: { ...slowest, partMs: 50 }, restMs: { first: 300, max: 60_000 } })
  cleanups.push(() => source.close())
  await source.look(signal)
  const ask = () => source.range({ from: 20, to: 25 }, { scope: 'transfers' }, signal)
  const rests: number[] = []
  for (let round = 0; round < 3; round++) {
    const sinceMs = performance.now()
    await vi.waitFor(
      async () => {
        await source.look(signal)
        expect(source.holds).not.toEqual([])
      },
      { timeout: patienceMs, interval: 5 },
    )
    rests.push(performance.now() - sinceMs)
    const asked = portal.queries.length
    await expect(ask()).rejects.toThrow(/no whole answer within/)
    await source.look(signal)
    await expect(ask()).rejects.toThrow(/does not have blocks/)
    expect(portal.queries.length).toBe(asked + 1)
  }
  expect(rests[1]).toBeGreaterThan(250)
  expect(rests[2]).toBeGreaterThan(550)
})
