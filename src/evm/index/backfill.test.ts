// Rows go ahead of claims: whatever is claimed is stored with its activity, wherever a run ends, and the next run
// completes it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import { rowsPerBlock, writerBlock, writerChain, writerContract } from '../../../test/store-writer.ts'
import { blockCount, isCovered, missingIntervals, weakestEvidence } from '../../coverage.ts'
import type { Address, Hash, Interval } from '../../model.ts'
import { openStore } from '../../store/open.ts'
import { activityCount, noActivity, packActivity } from '../../store/packed-activity.ts'
import type { ColdCommit, Store } from '../../store/store.ts'
import { malformedReasons } from '../decode/decode.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { RangeSize } from '../source/range-size.ts'
import { type BackfillOptions, fill, historyPace } from './backfill.ts'
import { LinkedClaims } from './linked-claims.ts'
import { WorkList, wholeBlocks } from './missing-blocks.ts'

const wanted = { from: 0, to: 99 }
const none = Object.fromEntries(malformedReasons.map(reason => [reason, 0])) as DecodedRange['malformed']

/** Each block has one of its own, so that none is stored with another range. */
function walletOf(block: number): Address {
  return `0x${(block + 1).toString(16).padStart(40, '0')}` as Address
}

function rangeOf({ from, to }: Interval): DecodedRange {
  const blocks = Array.from({ length: to - from + 1 }, (_, index) => writerBlock(from + index))
  return {
    interval: { from, to },
    evidence: 'receipts-root',
    headers: blocks.map(({ number, hash, timestamp }) => ({ number, hash, timestamp })),
    transfers: blocks.flatMap(({ transfers }) => transfers),
    activity: packActivity(
      blocks.map(({ number, hash, timestamp }) => {
        const place = { block: number, transactionIndex: 0, hash, timestamp }
        return { address: walletOf(number), first: place, last: place }
      }),
    ),
    bytes: 1_000_000,
    logs: blocks.length * rowsPerBlock,
    malformed: none,
  }
}

type Run = {
  pace: Pick<BackfillOptions, 'parallel' | 'rowsPerCommit' | 'claimDelayMs' | 'activityPerClaim'>
  /** The commit that fails; 0 for none. Its process may end before it is stored or after that. */
  failsAt: number
  isStored?: boolean
  withActivity: boolean
  blocksPerRange?: number
}

/** Fills what is missing and returns the commits that were made. */
async function run(
  store: Store,
  { pace, failsAt, isStored, withActivity, blocksPerRange = 1 }: Run,
): Promise<ColdCommit[]> {
  const commits: ColdCommit[] = []
  const killed = killedAt(store, failsAt, isStored === true)
  const watched: Store = {
    ...store,
    commitCold(commit) {
      commits.push(commit)
      return killed.commitCold(commit)
    },
  }
  const { missing, stored } = await wholeBlocks(store, { chain: writerChain, scope: 'full', wanted })
  const filled = fill(
    missing,
    {
      ...historyPace,
      ...pace,
      ...{ chain: writerChain, store: watched, scope: 'full', stored },
      rangeSize: new RangeSize({ targetBytes: 1e9, blocksInitial: blocksPerRange, blocksMax: blocksPerRange }),
      fetchRange: async interval => ({ ...rangeOf(interval), ...(withActivity ? {} : { activity: noActivity }) }),
    },
    new AbortController().signal,
  )
  if (failsAt === 0) await filled
  else await filled.catch(() => {})
  return commits
}

async function inStore(check: (store: Store) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-backfill-'))
  const store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
  try {
    await check(store)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function expectClaimsHold(store: Store): Promise<Interval[]> {
  const covered = await store.coverage(writerChain, 'full')
  for (const { from, to } of covered) {
    const range = { chain: writerChain, contract: writerContract, fromBlock: from, toBlock: to }
    expect(await store.transferCount(range)).toBe((to - from + 1) * rowsPerBlock)
    for (let block = from; block <= to; block++)
      expect((await store.activityOf(walletOf(block))).get(writerChain)?.first.block).toBe(block)
  }
  return covered
}

const soon = { first: 0, max: 0 }
const late = { first: 60_000, max: 60_000 }

test('a claim never comes before its rows, wherever a run ends', async () => {
  const pace = fc.record({
    parallel: fc.integer({ min: 1, max: 5 }),
    rowsPerCommit: fc.integer({ min: 1, max: 200 }),
    claimDelayMs: fc.constantFrom(soon, late),
    activityPerClaim: fc.integer({ min: 1, max: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(pace, fc.integer({ min: 1, max: 40 }), fc.boolean(), async (given, failsAt, isStored) => {
      await inStore(async store => {
        await run(store, { pace: given, failsAt, isStored, withActivity: true })
        await expectClaimsHold(store)
        await run(store, { pace: given, failsAt: 0, withActivity: true })
        expect(blockCount(await expectClaimsHold(store))).toBe(100)
      })
    }),
    { numRuns: propertyRuns(25) },
  )
})

/** The same blocks on a chain of its own: other hashes, and rows in other places. */
function otherRangeOf(interval: Interval): DecodedRange {
  const range = rangeOf(interval)
  const headers = range.headers.map(header => ({ ...header, hash: otherHash(header.number) }))
  const transfers = range.transfers.map(row => ({ ...row, logIndex: row.logIndex + 1_000 }))
  return { ...range, headers, transfers, activity: packActivity([]) }
}

function trueHash(block: number): Hash {
  return writerBlock(Math.max(0, block)).hash
}

function otherHash(block: number): Hash {
  return trueHash(block).replace('0x0', '0xf') as Hash
}

function linked(range: DecodedRange, hashOf: (block: number) => Hash, endpoint: string): DecodedRange {
  const headers = range.headers.map(header => ({ ...header, parentHash: hashOf(header.number - 1) }))
  return { ...range, headers, endpoint }
}

test('one endpoint of two lies, and the process is killed anywhere: in the end exactly the rows of the chain', async () => {
  const runs = fc.array(
    fc.record({ failsAt: fc.integer({ min: 1, max: 30 }), isStored: fc.boolean(), dropsLost: fc.boolean() }),
    { maxLength: 3 },
  )
  const pace = fc.record({
    parallel: fc.integer({ min: 1, max: 6 }),
    rowsPerCommit: fc.integer({ min: 1, max: 400 }),
    claimDelayMs: fc.constantFrom(soon, late),
    activityPerClaim: fc.integer({ min: 1, max: 40 }),
  })
  const draws = fc.infiniteStream(fc.nat(999))
  const property = fc.asyncProperty(runs, pace, draws, async (kills, given, drawn) => {
    const draw = (): number => drawn.next().value
    const fetchRange: BackfillOptions['fetchRange'] = async (interval, _signal, lastHash) => {
      // Answers overtake each other, and small ranges follow large ones.
      for (let turns = draw() % 5; turns > 0; turns--) await new Promise(resolve => setImmediate(resolve))
      const isOther = draw() % 2 === 0 && interval.from < 80
      const other = linked(otherRangeOf(interval), otherHash, 'liar')
      if (isOther && (lastHash === undefined || lastHash === otherHash(interval.to))) return other
      return linked(rangeOf(interval), trueHash, 'honest')
    }
    const distrusted: string[] = []
    await inStore(async store => {
      const once = async ({ failsAt, isStored }: Pick<Run, 'failsAt' | 'isStored'>): Promise<void> => {
        const missing = missingIntervals(await store.coverage(writerChain, 'full'), wanted)
        const options: BackfillOptions = {
          ...{ ...historyPace, ...given, chain: writerChain, scope: 'full', fetchRange },
          store: killedAt(store, failsAt, isStored ?? false),
          links: new LinkedClaims(
            new Map(missing.map(({ to }) => [to, { hash: trueHash(to), evidence: 'receipts-root' }])),
            {
              distrust: endpoint => distrusted.push(endpoint),
            },
          ),
          rangeSize: new RangeSize({ targetBytes: 1_000_000, blocksInitial: 7, blocksMax: 7 }),
        }
        await fill(missing, options, new AbortController().signal).catch(error => {
          if ((error as Error).message !== 'killed') throw error
        })
        await expectClaimsHold(store)
      }
      for (const kill of kills) {
        await once(kill)
        if (!kill.dropsLost) continue
        for (const { from, to, hash } of await store.pendingRanges(writerChain))
          if (hash !== trueHash(to)) await store.dropRange(writerChain, 'full', { from, to })
      }
      await once({ failsAt: 0 })
      expect(blockCount(await store.coverage(writerChain, 'full'))).toBe(100)
      expect(await store.pendingRanges(writerChain)).toEqual([])
      const whole = { chain: writerChain, contract: writerContract }
      expect(await store.transferCount(whole)).toBe(100 * rowsPerBlock)
      const { logIndexes } = await store.transferPage({ ...whole, order: 'asc', limit: 10_000 })
      expect(Math.max(...logIndexes)).toBeLessThan(1_000)
      expect(distrusted).not.toContain('honest')
    })
  })
  // Shrinking would take minutes: the seed is printed.
  await fc.assert(property, { numRuns: propertyRuns(15), endOnFailure: true })
})

/** Fails at its commit of this number, before or after it is stored. */
function killedAt(store: Store, failsAt: number, isStored: boolean): Store {
  let commits = 0
  return {
    ...store,
    async commitCold(commit) {
      const isLast = ++commits === failsAt
      if (isLast && !isStored) throw new Error('killed')
      const result = await store.commitCold(commit)
      if (isLast) throw new Error('killed')
      return result
    },
  }
}

test('activity is merged for many commits at once', async () => {
  await inStore(async store => {
    const pace = { parallel: 2, rowsPerCommit: 50, claimDelayMs: late, activityPerClaim: 1_000 }
    const commits = await run(store, { pace, failsAt: 0, withActivity: true })
    const claiming = commits.filter(({ covered }) => covered.length > 0)
    // The first ranges at once, then all the others with the last one.
    expect(claiming).toHaveLength(3)
    expect(claiming.at(-1)).toBe(commits.at(-1))
    expect(commits.length).toBeGreaterThan(20)
    for (const { covered, activity } of commits) expect(activityCount(activity)).toBe(blockCount(covered))
  })
})

test('whole blocks wait while they may not be claimed, and none is fetched twice', async () => {
  await inStore(async store => {
    let fetched = 0
    let mayClaim = true
    const links = new LinkedClaims(new Map([[wanted.to, { hash: writerBlock(wanted.to).hash, evidence: 'bloom' }]]))
    const filled = fill(
      [wanted],
      {
        ...{ ...historyPace, chain: writerChain, store, scope: 'full', parallel: 2, links },
        mayClaim: () => mayClaim,
        rangeSize: new RangeSize({ targetBytes: 1_000_000, blocksInitial: 10, blocksMax: 10 }),
        fetchRange: async interval => {
          if (++fetched === 5) mayClaim = false
          const { headers, ...range } = rangeOf(interval)
          const parentHash = writerBlock(Math.max(0, interval.from - 1)).hash
          return { ...range, headers: headers.map(header => ({ ...header, parentHash })) }
        },
      },
      new AbortController().signal,
    )
    await expect.poll(() => mayClaim).toBe(false)
    const claimed = blockCount(await store.coverage(writerChain, 'full'))
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(fetched).toBeLessThanOrEqual(6)
    expect(blockCount(await store.coverage(writerChain, 'full'))).toBe(claimed)
    mayClaim = true
    await filled
    expect(fetched).toBe(10)
    expect(await store.coverage(writerChain, 'full')).toEqual([{ scope: 'full', ...wanted, evidence: 'bloom' }])
  })
})

test('what is stored is claimed while nothing more can be fetched', async () => {
  await inStore(async store => {
    const stop = new AbortController()
    const filled = fill(
      [wanted],
      {
        ...historyPace,
        ...{ chain: writerChain, store, scope: 'full', parallel: 1, retryDelayMs: { first: 1, max: 1 } },
        ...{ rowsPerCommit: 1, claimDelayMs: { first: 20, max: 20 } },
        rangeSize: new RangeSize({ targetBytes: 1_000_000, blocksInitial: 1, blocksMax: 1 }),
        // The node is lost half-way.
        fetchRange: async interval => {
          if (interval.from < 50) throw new Error('no answer')
          return rangeOf(interval)
        },
      },
      stop.signal,
    )
    await expect.poll(async () => blockCount(await store.coverage(writerChain, 'full'))).toBe(50)
    stop.abort()
    await filled
  })
})

test('nothing waits where there is no activity', async () => {
  await inStore(async store => {
    const pace = { parallel: 2, rowsPerCommit: 50, claimDelayMs: late, activityPerClaim: 1_000 }
    const commits = await run(store, { pace, failsAt: 0, withActivity: false })
    for (const { covered, transfers } of commits) expect(blockCount(covered) * rowsPerBlock).toBe(transfers.length)
  })
})

test('the work list hands out the newest first and never across a gap', () => {
  const work = new WorkList([
    { from: 0, to: 9 },
    { from: 20, to: 24 },
  ])
  expect(work.take(3)).toEqual({ from: 22, to: 24 })
  expect(work.take(3)).toEqual({ from: 20, to: 21 })
  expect(work.take(100)).toEqual({ from: 0, to: 9 })
  expect(work.take(1)).toBeUndefined()
})

test('every block is handed out exactly once, whatever is given back', () => {
  const step = fc.record({ blocks: fc.integer({ min: 1, max: 20 }), giveBack: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), steps => {
      const work = new WorkList([
        { from: 3, to: 40 },
        { from: 50, to: 61 },
      ])
      const done = new Set<number>()
      for (const { blocks, giveBack } of steps) {
        const range = work.take(blocks)
        if (range === undefined) break
        expect(range.to - range.from + 1).toBeLessThanOrEqual(blocks)
        if (giveBack) work.add(range)
        else
          for (let block = range.from; block <= range.to; block++) {
            expect(done.has(block)).toBe(false)
            done.add(block)
          }
      }
      let left = 0
      for (let range = work.take(7); range !== undefined; range = work.take(7)) left += range.to - range.from + 1
      expect(left + done.size).toBe(50)
    }),
  )
})

test('activity is added to stored transfers, which stay claimed and as they are, wherever a run ends', async () => {
  const kept = { from: 20, to: 69 }
  const pace = { parallel: 2, rowsPerCommit: 1, claimDelayMs: late, activityPerClaim: 7 }
  for (const failsAt of [1, 4, 9, 0])
    await inStore(async store => {
      const { headers, transfers } = rangeOf(kept)
      const covered = [{ ...kept, evidence: 'one-endpoint', scope: 'transfers' } as const]
      await store.commitCold({ chain: writerChain, covered, blocks: headers, transfers, activity: noActivity })
      // Ranges of three blocks reach over both ends of what is stored: these are stored again, and claimed anew.
      const commits = await run(store, { pace, failsAt, withActivity: true, blocksPerRange: 3 })
      const within = { from: 22, to: 66 }
      expect(isCovered(await store.contractCoverage(writerChain, writerContract), within)).toBe(true)
      await expectClaimsHold(store)
      commits.push(...(await run(store, { pace, failsAt: 0, withActivity: true, blocksPerRange: 3 })))
      const written = commits.flatMap(commit => commit.transfers.map(({ block }) => block))
      expect(written.filter(block => block >= within.from && block <= within.to)).toEqual([])
      expect(blockCount(await expectClaimsHold(store))).toBe(100)
      expect(await store.transferCount({ chain: writerChain, contract: writerContract })).toBe(100 * rowsPerBlock)
      // What rests on rows that one endpoint gave is no more than its word.
      expect(weakestEvidence(await store.coverage(writerChain, 'full'), within)).toBe('one-endpoint')
      expect(weakestEvidence(await store.coverage(writerChain, 'full'), { from: 70, to: 99 })).toBe('receipts-root')
      expect(await store.pendingRanges(writerChain)).toEqual([])
    })
})

test('activity that one endpoint gave is its word, though two agreed on the transfers', async () => {
  for (const [given, claimed] of [
    ['receipts-root', 'one-endpoint'],
    ['two-endpoints', 'two-endpoints'],
    ['one-endpoint', 'one-endpoint'],
  ] as const)
    await inStore(async store => {
      const { headers, transfers } = rangeOf(wanted)
      const stored = [{ ...wanted, evidence: 'two-endpoints' } as const]
      const covered = stored.map(each => ({ ...each, scope: 'transfers' as const }))
      await store.commitCold({ chain: writerChain, covered, blocks: headers, transfers, activity: noActivity })
      const job: BackfillOptions = {
        ...{ ...historyPace, chain: writerChain, store, scope: 'full', parallel: 1, stored },
        rangeSize: new RangeSize({ targetBytes: 1_000_000, blocksInitial: 100, blocksMax: 100 }),
        fetchRange: async interval => ({ ...rangeOf(interval), evidence: given }),
      }
      await fill([wanted], job, new AbortController().signal)
      expect(await store.coverage(writerChain, 'full')).toEqual([{ scope: 'full', ...wanted, evidence: claimed }])
    })
})
