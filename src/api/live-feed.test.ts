import { expect, test } from 'vitest'
import { type Address, shownEvidences } from '../model.ts'
import type { ChainStatus } from '../status.ts'
import { LiveFeed, liveStatus } from './live-feed.ts'

const store = {
  engine: 'sqlite',
  location: 'file:a.db',
  schemaVersion: 1,
  sizeBytes: 2,
  usedBytes: 2,
  disk: undefined,
} as const

function chainStatus(covered: ChainStatus['covered']): ChainStatus {
  return {
    state: 'live',
    head: 1,
    finalized: 1,
    lag_seconds: 0,
    covered,
    complete: true,
    eta_seconds: null,
    rpc: [],
  }
}

function chainWith(covered: ChainStatus['covered']) {
  return liveStatus({ report: { chains: { eth: chainStatus(covered) }, solana: {} }, store, version: '1', atMs: 0 })
    .chains.eth!
}

test('however much is covered, what is sent is bounded and its counts are exact', () => {
  const covered = Array.from({ length: 5_000 }, (_, at) => ({
    from: at * 100,
    to: at * 100 + (at % 50),
    evidence: shownEvidences[at % 2]!,
    scope: 'full' as const,
  }))
  const { coverage } = chainWith(covered)
  expect(coverage.intervals).toHaveLength(200)
  expect(coverage.intervals_total).toBe(5_000)
  const blocks = covered.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  expect(Object.values(coverage.blocks).reduce((sum, count) => sum + count, 0)).toBe(blocks)
  expect(coverage.intervals).toEqual([...coverage.intervals].sort((a, b) => a.from - b.from))
  expect(coverage.intervals.every(({ from, to }) => to - from >= 48)).toBe(true)
})

test('transfers that are ahead of wallets are counted apart', () => {
  const whole = { from: 90, to: 99, evidence: 'receipts-root', scope: 'full' } as const
  expect(chainWith([whole]).transfers_blocks).toBeUndefined()
  const ahead = chainWith([whole, { ...whole, from: 50, scope: 'transfers' }])
  expect([ahead.transfers_blocks, ahead.coverage.blocks]).toEqual([50, { 'receipts-root': 10 }])
})

test('contracts stand apart from what is covered for all, the newest first and at most a hundred of them', () => {
  const scope = (at: number) => `0x${at.toString(16).padStart(40, '0')}` as Address
  const { coverage, contracts } = chainWith([
    { from: 0, to: 9, evidence: 'bloom', scope: 'watched' },
    ...Array.from({ length: 150 }, (_, at) => ({ from: 0, to: at, evidence: 'bloom' as const, scope: scope(at) })),
  ])
  expect(coverage.blocks).toEqual({ bloom: 10 })
  expect(contracts.total).toBe(150)
  expect(contracts.shown).toHaveLength(100)
  expect(contracts.shown[0]).toMatchObject({ contract: scope(149), blocks: { bloom: 150 } })
})

test('the transfers of blocks that could not be counted at first are counted later', async () => {
  const blocks = [1, 2].map(number => ({ number, hash: `0x${number}`, timestamp: number }))
  let isKept = false
  let asked = 0
  const transfersIn = async (_: string, block: number) => {
    asked += 1
    return isKept ? block : undefined
  }
  const told: unknown[] = []
  const feed = new LiveFeed({
    status: async () => ({ chains: { eth: chainStatus([]) }, solana: {} }) as never,
    store: { info: async () => store } as never,
    hotBlocksOf: async () => blocks as never,
    version: '1',
    lookEveryMs: 5,
    transfersIn,
  })
  feed.listen({
    owner: { key: 'a' },
    hear: event => {
      if (event.name === 'status') told.push(event.data.chains.eth?.recent?.map(({ transfers }) => transfers))
    },
    end: () => {},
  })
  await expect.poll(() => told.at(-1)).toEqual([undefined, undefined])
  // One answer for all of them.
  expect(asked).toBe(told.length)
  isKept = true
  await expect.poll(() => told.at(-1)).toEqual([1, 2])
  const counted = asked
  const looks = told.length
  await expect.poll(() => told.length).toBeGreaterThan(looks + 2)
  expect(asked).toBe(counted)
  feed.close()
})
