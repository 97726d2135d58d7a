// Steps of a merge against plain maps: runs whose keys lie anywhere, and steps of any size.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOfKey, countKey, countOf, countValue, countView as view } from '../runs/count-view.ts'
import { compareKeys, type Pack, PackReader, PackWriter } from '../runs/pack.ts'
import { type MergeSource, type Move, moveRecords } from './merge-runs.ts'
import { runNow } from './work.ts'

const packBytes = 60

function packed(run: ReadonlyMap<number, number>): Pack[] {
  const packs: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => packs.push(pack), packBytes)
  for (const [bucket, count] of [...run].sort(([a], [b]) => a - b)) {
    const value = countValue(count)
    writer.add(countKey(1, bucket), value, value.length)
  }
  writer.flush()
  return packs
}

function unpacked(packs: readonly Pack[]): [bucket: number, count: number][] {
  const reader = new PackReader(view.keyBytes)
  return packs.flatMap(({ bytes }) => {
    const found: [number, number][] = []
    reader.open(bytes)
    while (reader.next()) found.push([bucketOfKey(reader.key), countOf(reader.value)])
    return found
  })
}

class Runs {
  readonly stored: Map<number, Pack[]>
  readonly target: Pack[] = []
  packsRead = 0

  constructor(runs: readonly ReadonlyMap<number, number>[]) {
    this.stored = new Map(runs.map((run, id) => [id, packed(run)]))
  }

  step(limit: number): Move {
    const move = runNow(moveRecords(view, this.#sources(), limit, packBytes), () => undefined)
    for (const run of move.emptied) this.stored.delete(run)
    for (const { run, upTo, rest } of move.shortened) {
      const after = this.stored.get(run)!.filter(({ firstKey }) => compareKeys(firstKey, upTo) > 0)
      this.stored.set(run, [...rest, ...after])
    }
    this.target.push(...move.packs)
    return move
  }

  #sources(): MergeSource[] {
    return [...this.stored].map(([run, packs]) => ({
      run,
      packsAfter: function* (this: Runs, key: Uint8Array | undefined, max: number) {
        const found = packs.filter(({ firstKey }) => key === undefined || compareKeys(firstKey, key) > 0).slice(0, max)
        this.packsRead += found.length
        return found.map(({ firstKey, bytes }): [Uint8Array, Uint8Array] => [firstKey, bytes])
      }.bind(this),
    }))
  }
}

// Runs that overlap, follow each other, or have nothing.
const aRun = fc
  .tuple(fc.integer({ min: 0, max: 300 }), fc.array(fc.integer({ min: 0, max: 80 }), { maxLength: 120, size: 'max' }))
  .map(([first, buckets]) => new Map(buckets.map(bucket => [first + bucket, 1 + (bucket % 7)])))

test('steps of any size move every record once, in order, and those of one key together', () => {
  fc.assert(
    fc.property(
      fc.array(aRun, { maxLength: 16, size: 'max' }),
      fc.array(fc.integer({ min: 1, max: 90 })),
      (runs, limits) => {
        const sums = new Map<number, number>()
        for (const run of runs) for (const [bucket, count] of run) sums.set(bucket, (sums.get(bucket) ?? 0) + count)
        const merge = new Runs(runs)
        for (let step = 0; ; step++) {
          const limit = limits[step % limits.length] ?? 17
          const { read, isDone } = merge.step(limit)
          expect(read).toBeGreaterThan(0)
          // Between two steps a record is in one place.
          const left = [...merge.stored.values()].flatMap(unpacked)
          const total = [...unpacked(merge.target), ...left].reduce((sum, [, count]) => sum + count, 0)
          expect(total).toBe([...sums.values()].reduce((sum, count) => sum + count, 0))
          if (isDone) break
        }
        expect(merge.stored.size).toBe(0)
        expect(unpacked(merge.target)).toEqual([...sums].sort(([a], [b]) => a - b))
      },
    ),
  )
})

test('little is read in vain where runs follow each other', () => {
  const runs = Array.from(
    { length: 16 },
    (_, run) => new Map(Array.from({ length: 400 }, (_, at) => [run * 400 + at, 1])),
  )
  const merge = new Runs(runs)
  const packs = [...merge.stored.values()].reduce((sum, each) => sum + each.length, 0)
  let steps = 0
  for (let isDone = false; !isDone; steps++) ({ isDone } = merge.step(800))
  // Of the sources that a step does not come to it reads two packs each; of the others half as much again.
  expect(merge.packsRead).toBeLessThan(1.5 * packs + steps * runs.length * 2)
})
