// History from a node that has another chain's below some block: nothing of it is claimed, and nothing of it stays.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ChainIndexer, ChainSetup } from '../src/evm/index/chain-indexer.ts'
import { syncRange } from '../src/evm/index/sync-range.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import type { Address, ChainId } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
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
import { type SimNode, startSimNode } from './sim/node.ts'
import { startOtherHistory } from './sim/other-history.ts'
import { expectedActivity } from './sim/truth.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

let engine: Engine
const light = { hashes: 'real', logsPerCall: 2 } as const

type Shape = { height?: number; below?: number; finalityDepth?: number; transactionsPerBlock?: number }

async function world({ height = 200, below = 80, finalityDepth = 40, transactionsPerBlock = 2 }: Shape = {}) {
  const chain = { ...light, height, finalityDepth, transactionsPerBlock }
  const node = await startSimNode({ chain })
  const other = await startSimNode({ chain: { ...chain, seed: 99 } })
  // Made at once: the liar must not be the slower one because its blocks are new.
  for (const { chain } of [node, other]) chain.hashOf(height)
  const liar = await startOtherHistory(node, other, below)
  const { store, remove } = await temporaryStore(engine)
  cleanups.push(
    remove,
    () => liar.close(),
    () => other.close(),
    () => node.close(),
  )
  const start = (urls: string[], setup: Partial<ChainSetup> = {}) => {
    const pace = { retryDelayMs: { first: 20, max: 100 }, historyCheckMs: 50 }
    const started = startIndexer(node, store, { urls, pace, ...setup })
    cleanups.push(started.stop)
    return started
  }
  return { node, other, liar, store, start, chain: node.chain.options.chainId as ChainId }
}

/** Enough of the other chain for rows that are stored before it shows, some of them with the stop. */
const long = { height: 364, below: 160, finalityDepth: 64, transactionsPerBlock: 4 }

/** Exactly the rows of the chain: none is missing, and none is of a contract that the chain does not have. */
async function expectTruth(node: SimNode, store: Store): Promise<void> {
  const chain = node.chain.options.chainId as ChainId
  const range = { from: 0, to: node.chain.head }
  const truth = truthByContract(node.chain, range)
  expect(truth.size).toBeGreaterThan(3)
  const known = await store.contractsOf(chain, undefined, 10_000)
  for (const contract of new Set([...known, ...truth.keys()]))
    expectSame(await storedTransfers(store, node.chain, contract), truth.get(contract) ?? [], contract)
  const activity = expectedActivity(node.chain, range)
  const stored = await store.activityWithin(chain, range, { after: undefined, limit: 100_000 })
  for (const { address } of stored) expect(activity.has(address)).toBe(true)
  for (const [address, expected] of activity)
    expectSame((await store.activityOf(address)).get(chain), expected, `activity of ${address}`)
}

/** Rows of contracts that the chain does not have. */
async function foreignRows(node: SimNode, store: Store): Promise<number> {
  const chain = node.chain.options.chainId as ChainId
  const truth = truthByContract(node.chain, { from: 0, to: node.chain.head })
  let rows = 0
  for (const contract of await store.contractsOf(chain, undefined, 10_000))
    if (!truth.has(contract as Address)) rows += await store.transferCount({ chain, contract })
  return rows
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`never: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

async function stalled(indexer: ChainIndexer): Promise<string> {
  await until('stalled', async () => {
    const { state, reason = '' } = await indexer.status()
    return state === 'stalled' && reason.includes('as its parent')
  })
  return (await indexer.status()).reason ?? ''
}

describe.each(engineAbove('sqlite'))('on %s', name => {
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  test('alone: nothing of the other chain is claimed, and the status says why', async () => {
    const { liar, store, start, chain } = await world()
    const { indexer } = start([liar.url])
    expect(await stalled(indexer)).toMatch(
      /block \d+ came as 0x\w{64}; the block above it names 0x\w{64} as its parent/,
    )
    expect(liar.lies).toBeGreaterThan(0)
    await new Promise(resolve => setTimeout(resolve, 500))
    const covered = await store.coverage(chain, 'full')
    expect(Math.min(...covered.map(({ from }) => from))).toBeGreaterThan(liar.below)
    expect(await indexer.status()).toMatchObject({ complete: false })
    expect((await indexer.status()).rpc[0]?.errors).toBeGreaterThan(0)
  })

  test('beside an honest endpoint: exactly the rows of the chain', async () => {
    const { node, other, liar, store, start } = await world()
    // The liar is the faster one, so that it is asked first.
    const honest = await startOtherHistory(node, other, -1, { delayMs: 400 })
    cleanups.push(() => honest.close())
    const { indexer } = start([liar.url, honest.url])
    await caughtUp(indexer, node)
    expect(liar.lies).toBeGreaterThan(0)
    await expectTruth(node, store)
    const { covered, rpc } = await indexer.status()
    expect(covered).toEqual([{ from: 0, to: node.chain.head, evidence: 'receipts-root', scope: 'full' }])
    expect(rpc[0]?.errors).toBeGreaterThan(0)
    expect(rpc[1]?.reason ?? '').not.toContain('as its parent')
  })

  test('a closed range far below the final block is connected to it by headers', async () => {
    const { node, liar, store, chain } = await world()
    const interval = { from: 0, to: 49 }
    const honest = node.endpoints[0]!.url
    const sync = async (urls: string[]) => {
      const known = simulatedChain(node)
      const rpc = new ChainRpc({ chain: known, endpoints: urls.map(url => ({ url })), timeoutMs: 2_000 })
      const planned: unknown[] = []
      let headers = 0
      const onPlanned = (blocks: object) => planned.push(blocks)
      const onHeaders = (count: number) => (headers += count)
      const options = { chain: known, rpc, store, interval, scope: 'full', patienceMs: 2_000 } as const
      try {
        await syncRange({ ...options, onPlanned, onHeaders }, AbortSignal.timeout(patienceMs))
        return { planned, headers }
      } finally {
        await rpc.close()
      }
    }
    await expect(sync([liar.url])).rejects.toThrow('as its parent')
    expect(await store.coverage(chain, 'full')).toEqual([])
    const walked = node.chain.finalized - interval.to
    expect(await sync([liar.url, honest])).toEqual({
      planned: [{ wanted: 50, missing: 50, headers: walked }],
      headers: walked,
    })
    expect(await store.coverage(chain, 'full')).toEqual([{ scope: 'full', ...interval, evidence: 'receipts-root' }])
    for (const [contract, expected] of truthByContract(node.chain, interval))
      expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
    expect(await foreignRows(node, store)).toBe(0)
  })

  test('a header of no known form connects no other chain as proven', async () => {
    // The final block is 360, and a batch of headers ends with block 161.
    const below = 160
    const { node, other, liar, store, chain } = await world({ height: 400, below })
    liar.bridged = true
    const honest = await startOtherHistory(node, other, -1, { delayMs: 50 })
    cleanups.push(() => honest.close())
    const known = simulatedChain(node)
    const whole = { from: below - 49, to: below }
    const sync = async (urls: string[], interval = whole) => {
      const rpc = new ChainRpc({ chain: known, endpoints: urls.map(url => ({ url })), timeoutMs: 2_000 })
      const options = { chain: known, rpc, store, interval, scope: 'full', patienceMs: 2_000 } as const
      await syncRange(options, AbortSignal.timeout(patienceMs)).finally(() => rpc.close())
      return await store.coverage(chain, 'full')
    }
    // Nor does what was claimed so connect anything below it.
    expect(await sync([liar.url], { ...whole, from: below - 9 })).toMatchObject([{ evidence: 'one-endpoint' }])
    expect(await sync([liar.url])).toEqual([{ scope: 'full', ...whole, evidence: 'one-endpoint' }])
    expect(await foreignRows(node, store)).toBeGreaterThan(0)
    await store.dropRange(chain, 'full', whole)
    expect(await sync([liar.url, honest.url])).toEqual([{ scope: 'full', ...whole, evidence: 'receipts-root' }])
    expect(await foreignRows(node, store)).toBe(0)
  })

  test('a node that changes its story between two runs leaves no row of the first', async () => {
    const { node, liar, store, start, chain } = await world(long)
    const first = start([liar.url])
    await stalled(first.indexer)
    await until('ranges of the other chain', async () => liar.lies > 30)
    await first.stop()
    expect(await foreignRows(node, store)).toBeGreaterThan(0)
    expect((await store.pendingRanges(chain)).length).toBeGreaterThan(0)
    liar.below = -1
    const second = start([liar.url])
    await caughtUp(second.indexer, node)
    await expectTruth(node, store)
    expect(await store.pendingRanges(chain)).toEqual([])
  })

  test('rows ahead of a claim go at the start where their chain is gone, though nothing fills their blocks again', async () => {
    const { node, liar, store, start, chain } = await world(long)
    const first = start([liar.url])
    await stalled(first.indexer)
    await until('ranges of the other chain', async () => liar.lies > 30)
    await first.stop()
    expect(await foreignRows(node, store)).toBeGreaterThan(0)
    liar.below = -1
    start([liar.url], { from: 250 })
    await until('no range is pending', async () => (await store.pendingRanges(chain)).length === 0)
    expect(await foreignRows(node, store)).toBe(0)
  })
})
