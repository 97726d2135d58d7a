// What the core reads, against a plain list: from engines that read on when they are asked, and from engines that give
// a bounded batch at a time.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import { byWallet } from '../indexes/by-wallet.ts'
import { type Pack, PackWriter } from '../runs/pack.ts'
import { blockOfPlace, writePlace } from '../runs/place-key.ts'
import { readRecords, stale } from './read-records.ts'
import type { RecordRows } from './record-sources.ts'
import { type Ask, type RecordsAsk, type RecordsBatch, type RunPacks, runAwaiting, runNow } from './work.ts'

type Stored = { key: Buffer; value: Buffer; at: number }

const view = byWallet
const places = 4
const changes = 7
/** Records of few wallets in few blocks; `at`: 0 is a mirror, others are runs. */
const stored = fc
  .uniqueArray(
    fc.record({
      wallet: fc.integer({ min: 1, max: 3 }),
      block: fc.integer({ min: 0, max: 40 }),
      log: fc.integer({ min: 0, max: 5 }),
      length: fc.integer({ min: 6, max: 60 }),
      at: fc.nat(places),
    }),
    { selector: ({ wallet, block, log }) => `${wallet} ${block} ${log}`, maxLength: 150 },
  )
  .map(all =>
    all
      .map(({ wallet, block, log, length, at }): Stored => {
        const key = keyOf(wallet, block, log)
        return { key, value: Buffer.alloc(length, block + 1), at }
      })
      .sort((a, b) => Buffer.compare(a.key, b.key)),
  )

function keyOf(wallet: number, block: number, log: number): Buffer {
  const key = Buffer.alloc(view.keyBytes, wallet)
  writePlace(key, view.placeAt, { block, transactionIndex: 0, logIndex: log, batchIndex: 0 })
  return key
}

const asked = fc.record({
  wallets: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
  blocks: fc.tuple(fc.integer({ min: 0, max: 41 }), fc.integer({ min: 0, max: 41 })),
  order: fc.constantFrom('keys' as const, 'back' as const),
  limit: fc.integer({ min: 0, max: 60 }),
})

type Engine = { recordsPerPack: number; packsOfRun: number; isByFirstKeys: boolean; readsOn: boolean }
const engine: fc.Arbitrary<Engine> = fc.record({
  recordsPerPack: fc.integer({ min: 1, max: 12 }),
  packsOfRun: fc.integer({ min: 1, max: 4 }),
  isByFirstKeys: fc.boolean(),
  readsOn: fc.boolean(),
})

test('the core answers a span of keys as a plain list does, whatever a batch gives', async () => {
  await fc.assert(
    fc.asyncProperty(stored, asked, engine, async (records, { wallets, blocks, order, limit }, how) => {
      const ends = [keyOf(wallets[0], blocks[0], 0), keyOf(wallets[1], blocks[1], 5)].sort(Buffer.compare)
      const [from, to] = ends as [Buffer, Buffer]
      const inSpan = records.filter(record => isWithin(record.key, from, to))
      const expected = (order === 'keys' ? inSpan : inSpan.toReversed()).slice(0, limit)
      const query = { view, chain: 1, contract: undefined, from, to, order, limit }
      const batchOf = (ask: Ask) => answer(records, ask as RecordsAsk, how)
      const mirror = { changes, fold: undefined, records: (ask: RecordsAsk) => inMirror(records, ask) }
      const read = readRecords(query, mirror)
      const found = how.readsOn ? runNow(read, batchOf) : await runAwaiting(read, async ask => batchOf(ask))
      if (found === stale) throw new Error('the mirror is of this moment')
      expect(Buffer.from(found.keys)).toEqual(Buffer.concat(expected.map(({ key }) => key)))
      expect(Buffer.from(found.values)).toEqual(Buffer.concat(expected.map(({ value }) => value)))
    }),
    { numRuns: propertyRuns(400) },
  )
})

const ends = { from: keyOf(1, 9, 0), to: keyOf(1, 0, 0) }
const query = { view, chain: 1, contract: undefined, ...ends, order: 'keys', limit: 5 } as const

test('an index that is not kept has no records', () => {
  const mirror = { changes, fold: -1, records: () => rowsOf([]) }
  const found = runNow(readRecords(query, mirror), () => ({ isKept: false, changes, runs: [] }))
  expect(found).toMatchObject({ length: 0 })
})

test('a mirror of another moment is told from the batch', () => {
  const mirror = { changes: changes - 1, fold: -1, records: () => rowsOf([]) }
  const read = readRecords(query, mirror)
  expect(runNow(read, () => ({ isKept: true, changes, runs: [] }))).toBe(stale)
})

function isWithin(key: Buffer, from: Buffer, to: Buffer): boolean {
  return Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) <= 0
}

function inMirror(records: readonly Stored[], { order, first, last }: RecordsAsk): RecordRows {
  const [low, high] = order === 'keys' ? [first, last] : [last, first]
  const its = records.filter(({ key, at }) => at === 0 && isWithin(key, Buffer.from(low), Buffer.from(high)))
  return rowsOf(order === 'keys' ? its : its.toReversed())
}

function answer(records: readonly Stored[], ask: RecordsAsk, how: Engine): RecordsBatch {
  const { order, first, packsFactor, runsGiven } = ask
  const isUp = order === 'keys'
  const state = { isKept: true, changes }
  const all = Array.from({ length: places }, (_, run) => records.filter(({ at }) => at === run + 1))
  const runs = all.filter(its => its.length > 0).map(its => ({ its, packs: packsOf(its, how.recordsPerPack) }))
  /** From the pack that may have the first key, in the order of the walk. */
  const inWalk = (packs: readonly Pack[]): Pack[] => {
    const below = packs.filter(({ firstKey }) => Buffer.compare(firstKey, first) <= 0)
    return isUp ? packs.slice(Math.max(0, below.length - 1)) : below.toReversed()
  }
  if (how.readsOn) {
    const blockOf = ({ its }: { its: Stored[] }): number[] => its.map(({ key }) => blockOfPlace(key, view.placeAt))
    const edge = (run: { its: Stored[] }): number => (isUp ? Math.max(...blockOf(run)) : Math.min(...blockOf(run)))
    if (!ask.isOneSubject) return { ...state, runs: runs.map(({ packs }) => given(inWalk(packs), false)) }
    const sorted = runs.sort((a, b) => (isUp ? edge(b) - edge(a) : edge(a) - edge(b)))
    const [run, next] = [sorted[runsGiven], sorted[runsGiven + 1]]
    const nextBlock = next === undefined ? undefined : edge(next)
    return { ...state, runs: run === undefined ? [] : [given(inWalk(run.packs), false)], nextBlock }
  }
  if (isUp && how.isByFirstKeys) {
    const most = packsFactor * how.packsOfRun + runs.length
    const ranked = runs.flatMap(({ packs }, run) => inWalk(packs).map(pack => ({ run, pack })))
    ranked.sort((a, b) => Buffer.compare(a.pack.firstKey, b.pack.firstKey))
    const kept = ranked.slice(0, most)
    const isCut = kept.length >= most
    const ofRuns = [...Map.groupBy(kept, ({ run }) => run).values()]
    const horizon = isCut ? kept.at(-1)!.pack.firstKey : undefined
    return {
      ...state,
      runs: ofRuns.map(its =>
        given(
          its.map(({ pack }) => pack),
          isCut,
        ),
      ),
      horizon,
    }
  }
  const bounded = runs.map(({ packs }) => inWalk(packs))
  const most = packsFactor * how.packsOfRun + 1
  return { ...state, runs: bounded.map(its => given(its.slice(0, most), its.length >= most)) }
}

function rowsOf(records: readonly Stored[]): RecordRows {
  return {
    keys: Buffer.concat(records.map(({ key }) => key)),
    values: Buffer.concat(records.map(({ value }) => value)),
    lengths: records.map(({ value }) => value.length),
  }
}

function given(packs: readonly Pack[], isCut: boolean): RunPacks {
  let at = 0
  return { next: () => packs[at++]?.bytes as Uint8Array<ArrayBuffer> | undefined, isCut }
}

function packsOf(records: readonly Stored[], perPack: number): Pack[] {
  const packs: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => packs.push(pack))
  for (const [at, { key, value }] of records.entries()) {
    if (at > 0 && at % perPack === 0) writer.flush()
    writer.add(key, value, value.length)
  }
  writer.flush()
  return packs
}
