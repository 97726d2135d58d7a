// Runs against a plain map, in any order of commits, merges and deletions, for a view of sums.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { activityView } from '../../runs/activity-view.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import { Connection } from '../connection.ts'
import { ownerWriteOptions, prepareFile } from '../open-file.ts'
import { mergeStep } from './merges.ts'
import {
  addRun,
  type Change,
  changeRuns,
  cursorAt,
  firstPlace,
  type RunPlace,
  removeKey,
  runsOf,
  valueIn,
} from './runs.ts'

const place = { chain: 1, from: 0, to: 9 }

/** Holdings as changes: a 32-bit amount that may go below zero, summed. */
const sums: View = {
  id: 200,
  name: 'sums',
  keyBytes: 6,
  byContract: false,
  combine(target, a, _aLength, b, _bLength) {
    new DataView(target.buffer).setInt32(0, amountOf(a) + amountOf(b))
    return 4
  },
}

function amountOf(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset).getInt32(0)
}

function keyOf(number: number): Uint8Array {
  const key = Buffer.alloc(6)
  key.writeUIntBE(number * 7_919, 0, 6)
  return key
}

const key = fc.nat({ max: 400 })
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ add: fc.array(fc.tuple(key, fc.integer({ min: -9, max: 9 })), { maxLength: 300 }) }),
    },
    { weight: 6, arbitrary: fc.record({ merge: fc.integer({ min: 1, max: 500 }) }) },
    { weight: 1, arbitrary: fc.record({ remove: key }) },
    { weight: 1, arbitrary: fc.record({ undo: fc.integer({ min: 1, max: 500 }) }) },
  ),
  { maxLength: 60 },
)

test('a view of sums is what a map says, whatever is merged, taken back or undone between', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-runs-'))
  const path = join(folder, 'runs.db')
  await prepareFile(path)
  const connection = new Connection(path, ownerWriteOptions)
  try {
    await fc.assert(
      fc.asyncProperty(steps, async taken => {
        connection.database.exec('DELETE FROM runs; DELETE FROM packs; DELETE FROM pack_keys')
        const model = new Map<number, number>()
        for (const step of taken) {
          if ('add' in step) {
            const rows = new Map<number, number>()
            for (const [number, amount] of step.add) rows.set(number, (rows.get(number) ?? 0) + amount)
            for (const [number, amount] of rows) model.set(number, (model.get(number) ?? 0) + amount)
            connection.run('BEGIN')
            addRun(connection, sums, place, writer => {
              for (const [number, amount] of [...rows].sort(([a], [b]) => a - b)) {
                const value = Buffer.alloc(4)
                value.writeInt32BE(amount)
                writer.add(keyOf(number), value, 4)
              }
            })
            connection.run('COMMIT')
          } else if ('merge' in step) {
            connection.run('BEGIN')
            mergeStep(connection, step.merge, [sums])
            connection.run('COMMIT')
          } else if ('undo' in step) {
            connection.run('BEGIN')
            mergeStep(connection, step.undo, [sums])
            connection.run('ROLLBACK')
          } else {
            model.delete(step.remove)
            for (const { id } of runsOf(connection, sums)) removeKey(connection, sums, id, keyOf(step.remove))
          }
        }
        expect(read(connection)).toEqual(new Map([...model].sort(([a], [b]) => a - b)))
        for (const number of model.keys()) expect(found(connection, number)).toBe(model.get(number))
      }),
      { numRuns: 60 },
    )
  } finally {
    connection.close()
    rmSync(folder, { recursive: true })
  }
})

const merges = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 8, maxLength: 8 })

test('a walk in steps meets every record, whatever merges move between them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-runs-'))
  const path = join(folder, 'runs.db')
  await prepareFile(path)
  const connection = new Connection(path, ownerWriteOptions)
  const numbers = Array.from({ length: 9_000 }, (_, number) => number)
  try {
    fc.assert(
      fc.property(fc.nat({ max: 9_000 }), fc.integer({ min: 3, max: 12 }), merges, (from, runs, limits) => {
        connection.database.exec('BEGIN; DELETE FROM runs; DELETE FROM packs; DELETE FROM pack_keys')
        for (let run = 0; run < runs; run++)
          addRun(connection, sums, place, writer => {
            for (const number of numbers) if (number % runs === run) writer.add(keyOf(number), Buffer.alloc(4, 1), 4)
          })
        const isTaken = (number: number): boolean => number >= from && number < from + 3_000
        const change: Change = each => (isTaken(Buffer.from(each).readUIntBE(0, 6) / 7_919) ? null : undefined)
        let at: RunPlace | undefined = firstPlace
        for (let step = 0; at !== undefined; step++) {
          at = changeRuns(connection, sums, { of: place }, change, at, { packs: 1 })
          mergeStep(connection, limits[step % limits.length]!, [sums], 3)
        }
        const left = [...read(connection).keys()]
        connection.run('COMMIT')
        expect(left).toEqual(numbers.filter(number => !isTaken(number)))
      }),
      { numRuns: 5 },
    )
  } finally {
    connection.close()
    rmSync(folder, { recursive: true })
  }
})

test('merging ends, with few runs and no pack that none has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-runs-'))
  const path = join(folder, 'runs.db')
  await prepareFile(path)
  const connection = new Connection(path, ownerWriteOptions)
  try {
    for (let run = 0; run < 64; run++)
      addRun(connection, sums, place, writer => {
        for (let number = 0; number < 200; number++) writer.add(keyOf(number * 64 + run), Buffer.alloc(4, 1), 4)
      })
    while (mergeStep(connection, 1_000, [sums]) > 0);
    expect(runsOf(connection, sums).length).toBeLessThan(8)
    const [packs] = connection.get('SELECT count(*) FROM packs') ?? []
    expect(packs).toBe(connection.get('SELECT count(*) FROM pack_keys')?.[0])
    expect(read(connection).size).toBe(64 * 200)
  } finally {
    connection.close()
    rmSync(folder, { recursive: true })
  }
})

test('the largest runs of transfers stay as they are, and those of other views are merged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-runs-'))
  const path = join(folder, 'runs.db')
  await prepareFile(path)
  const connection = new Connection(path, ownerWriteOptions)
  try {
    for (const view of [transferView, activityView])
      for (let run = 0; run < 3; run++)
        addRun(connection, view, place, writer => writer.add(new Uint8Array(view.keyBytes), Buffer.alloc(4, 1), 4))
    connection.run('UPDATE runs SET level = 3')
    while (mergeStep(connection, 1_000, [transferView, activityView], 2) > 0);
    expect(runsOf(connection, transferView)).toHaveLength(3)
    expect(runsOf(connection, activityView).length).toBeLessThan(3)
  } finally {
    connection.close()
    rmSync(folder, { recursive: true })
  }
})

function read(connection: Connection): Map<number, number> {
  const all = new Map<number, number>()
  for (const { id } of runsOf(connection, sums)) {
    const cursor = cursorAt(connection, sums, id, Buffer.alloc(6))
    if (cursor === undefined) continue
    let before = -1
    do {
      const number = Buffer.from(cursor.reader.key).readUIntBE(0, 6) / 7_919
      expect(number).toBeGreaterThan(before)
      before = number
      all.set(number, (all.get(number) ?? 0) + amountOf(cursor.reader.value))
    } while (cursor.step())
  }
  return new Map([...all].sort(([a], [b]) => a - b))
}

function found(connection: Connection, number: number): number {
  return runsOf(connection, sums).reduce((sum, { id }) => {
    const value = valueIn(connection, sums, id, keyOf(number))
    return sum + (value === undefined ? 0 : amountOf(value))
  }, 0)
}
