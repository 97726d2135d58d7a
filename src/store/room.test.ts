// A store is full by its bound or by the reserve of its disk, and says when it will be.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AlmanacError } from '../errors.ts'
import { createLog } from '../log.ts'
import { StoreRoom } from './room.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'
import type { Store, StoreInfo } from './store.ts'

const giga = 1e9
const hourMs = 3_600_000

function roomOf(facts: Partial<StoreInfo>, bytesMax?: number) {
  const base = {
    engine: 'sqlite',
    location: 'file:a.db',
    schemaVersion: 1,
    sizeBytes: 0,
    usedBytes: 0,
    disk: undefined,
  }
  const info = { ...base, ...facts } as StoreInfo
  const said: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: line => said.push(JSON.parse(line).msg) })
  const options = { store: { info: async () => info }, bytesMax, log }
  return { info, options, said, room: new StoreRoom(options) }
}

function clock() {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  return (ms: number) => void now.mockReturnValue(ms)
}

test('a store at its bound is full until a hundredth is free, and says so once', async () => {
  const { info, options, said, room } = roomOf({ usedBytes: giga - 1 }, giga)
  await room.look()
  expect(room.full).toBeUndefined()
  info.usedBytes = giga
  for (let look = 0; look < 3; look++) await room.look()
  expect(room.full).toMatch(/^The store has reached limits\.store_bytes_max: .* Try: raise/)
  expect(room.fullInSeconds).toBe(0)
  info.usedBytes = giga - 1
  await room.look()
  expect(room.full).toBeDefined()
  options.bytesMax = 1.1 * giga
  await room.look()
  expect(room.full).toBeUndefined()
  expect(said).toEqual([
    'Store full; serving goes on, indexing waits for room',
    'Store has room again; indexing goes on',
  ])
})

test('the log of a file that holds the bound is taken in, because nothing is written that would do it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-room-'))
  const path = join(folder, 'almanac.db')
  const store = await openSqliteStore(path, { role: 'owner' })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  for (let write = 0; write < 100; write++) await store.putCheckpoint('note', String(write).repeat(5_000))
  const { usedBytes } = await store.info()
  const logBytes = statSync(`${path}-wal`).size
  expect(logBytes).toBeGreaterThan(500_000)
  const room = new StoreRoom({ store, bytesMax: usedBytes - logBytes / 2 })
  await room.look()
  expect(room.full).toBeUndefined()
  expect(statSync(`${path}-wal`).size).toBe(0)
})

test.each([
  ['a large disk keeps 256 MiB', 1_000 * giga, 256 * 2 ** 20],
  ['a small disk keeps a fiftieth', giga, giga / 50],
])('%s', async (_, bytes, kept) => {
  const disk = { bytes, freeBytes: kept }
  const { room } = roomOf({ disk })
  await room.look()
  expect(room.full).toBeUndefined()
  disk.freeBytes = kept - 1
  await room.look()
  expect(room.full).toMatch(/^The disk of the store is full up to its reserve: /)
})

test('a store that does not answer keeps what is known of its room', async () => {
  const { options, room } = roomOf({ usedBytes: giga }, giga)
  await room.look()
  options.store.info = () => Promise.reject(new Error('silent'))
  await room.look()
  expect(room.full).toBeDefined()
})

test('the forecast holds growth against the lesser room, and free pages are room', async () => {
  const at = clock()
  const disk = { bytes: 1_000 * giga, freeBytes: 50 * giga + 256 * 2 ** 20 }
  const { info, options, room } = roomOf({ usedBytes: 100 * giga, sizeBytes: 110 * giga, disk })
  const grow = async (from: number, to: number) => {
    for (let minute = from; minute <= to; minute++) {
      at(minute * 60_000)
      info.usedBytes = 100 * giga + minute * 60 * 1e6
      await room.look()
    }
  }
  await grow(0, 9)
  expect(room.fullInSeconds).toBeUndefined()
  await grow(10, 60)
  // 1 MB a second; 50 GB of disk and the free pages of the file are left.
  expect(room.fullInSeconds).toBeCloseTo((50 * giga + 110 * giga - info.usedBytes) / 1e6, -1)
  options.bytesMax = 110 * giga
  expect(room.fullInSeconds).toBeCloseTo((110 * giga - info.usedBytes) / 1e6, -1)
})

test('what is far off is told only after an hour, and what is near at once', async () => {
  const at = clock()
  const { info, options, room } = roomOf({ usedBytes: 100 * giga }, 1_000 * giga)
  const grow = async (from: number, to: number) => {
    for (let minute = from; minute <= to; minute++) {
      at(minute * 60_000)
      info.usedBytes = 100 * giga + minute * 60 * 1e6
      await room.look()
    }
  }
  await grow(0, 59)
  // Ten days at 1 MB a second.
  expect(room.fullInSeconds).toBeUndefined()
  options.bytesMax = 150 * giga
  expect(room.fullInSeconds).toBeCloseTo((150 * giga - info.usedBytes) / 1e6, -1)
  options.bytesMax = 1_000 * giga
  await grow(60, 60)
  expect(room.fullInSeconds).toBeCloseTo((1_000 * giga - info.usedBytes) / 1e6, -1)
})

test('a merge that takes room for minutes is no growth, and a store that rests is never full', async () => {
  const at = clock()
  const { info, room } = roomOf({}, 1_000 * giga)
  const minutes = async (count: number, bytesAt: (minute: number) => number) => {
    for (let minute = 0; minute < count; minute++) {
      at(minute * 60_000)
      info.usedBytes = bytesAt(minute)
      await room.look()
    }
  }
  // 10 kB a second, and each hour a merge that holds 5 GB for ten minutes, the last of them right now.
  await minutes(358, minute => 100 * giga + minute * 600_000 + (minute % 60 >= 48 && minute % 60 < 58 ? 5 * giga : 0))
  // By the ends of the window it would be full in 43 days instead of 1,036.
  expect((room.fullInSeconds ?? 0) / 86_400).toBeCloseTo(1_036, -1)
  const { room: resting } = roomOf({ usedBytes: giga }, 2 * giga)
  for (let hour = 0; hour < 8; hour++) {
    at(hour * hourMs)
    await resting.look()
  }
  expect(resting.fullInSeconds).toBeUndefined()
})

test('a write that finds no room pauses new rows for seconds, until one is taken', async () => {
  const at = clock()
  const { room, said } = roomOf({})
  const stop = AbortSignal.timeout(1_000)
  let full = true
  const commitCold = async () => {
    if (full) throw new AlmanacError('store_full', 'No room.', { hint: 'make some.' })
    return { transfersAdded: 0 }
  }
  const store = room.guarded({ commitCold } as unknown as Store)
  await expect(store.commitCold(undefined as never)).rejects.toMatchObject({ code: 'store_full' })
  await room.look()
  expect(room.full).toBe('No room. Try: make some.')
  at(5_000)
  expect(await room.available(stop)).toBe(true)
  expect(room.full).toBeDefined()
  full = false
  await store.commitCold(undefined as never)
  // A larger one may still find none: only seconds without a refusal end it.
  expect(room.full).toBeDefined()
  expect(await room.available(stop)).toBe(true)
  at(10_001)
  await room.look()
  expect(room.full).toBeUndefined()
  expect(said).toHaveLength(2)
})
