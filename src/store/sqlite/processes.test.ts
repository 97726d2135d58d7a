// The store while other processes use it, and after they were killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rowsPerBlock, writerChain, writerContract, writerWallet } from '../../../test/store-writer.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'
import { Connection } from './connection.ts'
import { readOptions, writeOptions } from './open-file.ts'
import { sqliteStore } from './sqlite-store.ts'

const writerFile = fileURLToPath(new URL('../../../test/store-writer.ts', import.meta.url))

let directory: string
let path: string
let url: string
const children = new Set<ChildProcess>()
const stores = new Set<Store>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'almanac-store-'))
  path = join(directory, 'almanac.db')
  url = `file:${path}`
})

afterEach(async () => {
  for (const child of children) await kill(child)
  for (const store of stores) await store.close()
  stores.clear()
  await rm(directory, { recursive: true })
})

async function open(role: 'owner' | 'reader' | 'tool'): Promise<Store> {
  const store = await openStore(url, { role })
  stores.add(store)
  return store
}

/** Starts the writer and waits for its first commit; `committed` is the last block that it reported. */
async function startWriter(
  mode: 'backfill' | 'bulk' | 'follow',
): Promise<{ child: ChildProcess; committed: () => number }> {
  const child = spawn(process.execPath, [writerFile, url, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  while (!printed.includes('\n')) {
    if (child.exitCode !== null) throw new Error(`the writer ended with ${child.exitCode}`)
    await delay(5)
  }
  return { child, committed: () => Number(printed.slice(0, printed.lastIndexOf('\n')).split('\n').at(-1)) }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  children.delete(child)
}

describe('a writer that is killed', () => {
  test('loses no commit that it reported and leaves no half of one', { timeout: 60_000 }, async () => {
    const pauses = [3, 40, 90, 17, 64]
    for (const pauseMs of pauses) {
      const { child, committed } = await startWriter('backfill')
      await delay(pauseMs)
      await kill(child)
      const store = await openStore(url, { role: 'owner' })
      const covered = await store.coverage(writerChain, 'full')
      const last = covered[0]?.to ?? 0
      expect(covered).toEqual([{ scope: 'full', from: 1, to: last, evidence: 'bloom' }])
      expect(last).toBeGreaterThanOrEqual(committed())
      const range = { chain: writerChain, contract: writerContract }
      expect(await store.transferCount(range)).toBe(last * rowsPerBlock)
      const rows = await store.transferPage({ ...range, order: 'desc', limit: (last + 1) * rowsPerBlock })
      expect(rows.length).toBe(last * rowsPerBlock)
      expect((await store.activityOf(writerWallet)).get(writerChain)?.last.block).toBe(last)
      await store.close()
    }
  })
})

describe('a second process', () => {
  test('cannot own the store while another does, and can once that one was killed', async () => {
    const { child } = await startWriter('backfill')
    await expect(openStore(url, { role: 'owner' })).rejects.toMatchObject({
      code: 'store_locked',
      hint: expect.stringContaining('--only api'),
    })
    await kill(child)
    const store = await open('owner')
    expect(await store.transferCount({ chain: writerChain, contract: writerContract })).toBeGreaterThan(0)
  })

  test.each([
    ['blocks arrive and become final', 'follow'],
    ['blocks come in bulk and their runs are merged', 'bulk'],
  ] as const)('reads whole blocks without a hole or a repeat while %s', { timeout: 60_000 }, async (_, mode) => {
    const { committed } = await startWriter(mode)
    const reader = await open('reader')
    const startedAt = committed()
    const endAt = performance.now() + 1_500
    let pages = 0
    while (performance.now() < endAt || committed() < startedAt + 60 || pages < 40) {
      const range = { chain: writerChain, contract: writerContract }
      const limit = 12 * rowsPerBlock
      const { blocks, logIndexes } = await reader.transferPage({ ...range, order: 'desc', limit })
      const highest = Number(blocks[0])
      const expected = Array.from({ length: Math.min(limit, highest * rowsPerBlock) }, (_, index) => [
        highest - Math.floor(index / rowsPerBlock),
        rowsPerBlock - 1 - (index % rowsPerBlock),
      ])
      expect(blocks.map((block, index) => [Number(block), Number(logIndexes[index])])).toEqual(expected)
      const count = await reader.transferCount({ ...range, toBlock: highest })
      expect(count).toBe(highest * rowsPerBlock)
      const active = (await reader.activityOf(writerWallet)).get(writerChain)
      expect(active?.first.block).toBe(1)
      expect(active?.last.block).toBeGreaterThanOrEqual(highest)
      const oldest = await reader.transferPage({ ...range, order: 'asc', limit: 3 * rowsPerBlock })
      expect(oldest.blocks).toEqual([1, 2, 3].flatMap(block => Array<number>(rowsPerBlock).fill(block)))
      pages += 1
      if (pages % 20 === 0) await delay(1)
    }
    expect(pages).toBeGreaterThan(20)
  })

  test('does short writes beside a busy owner, and all use is counted', { timeout: 60_000 }, async () => {
    await startWriter('backfill')
    const [reader, tool] = [await open('reader'), await open('tool')]
    for (let round = 1; round <= 20; round++) {
      const use = { keyId: 'k', day: '2026-01-01', operation: 'x', count: 1 }
      await Promise.all([reader.addUse([use]), tool.addUse([use])])
    }
    expect(await reader.usesOf('2026-01-01')).toMatchObject([{ count: 40 }])
  })
})

describe('while another process holds the write lock', () => {
  const use = { keyId: 'k', day: '2026-01-01', operation: 'x', count: 1 }

  async function lock(): Promise<DatabaseSync> {
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    return other
  }

  test('reads go on, and a write waits without blocking the thread', async () => {
    const store = await open('reader')
    await store.addUse([use])
    const other = await lock()
    let turns = 0
    const timer = setInterval(() => (turns += 1), 1)
    const write = store.addUse([use])
    await delay(100)
    expect(await store.usesOf(use.day)).toMatchObject([{ count: 1 }])
    expect(turns).toBeGreaterThan(5)
    other.exec('ROLLBACK')
    await write
    expect(await store.usesOf(use.day)).toMatchObject([{ count: 2 }])
    clearInterval(timer)
    other.close()
  })

  test('a write that waited too long says so, can be retried, and those after it still run', async () => {
    await (await open('tool')).addUse([use])
    const store = sqliteStore({
      path,
      read: new Connection(path, readOptions),
      openWrite: () => new Connection(path, writeOptions),
      waitMsMax: 50,
      ownership: undefined,
    })
    stores.add(store)
    const other = await lock()
    await expect(store.addUse([use])).rejects.toMatchObject({ code: 'store_locked', retryable: true })
    const second = store.addUse([use])
    other.exec('ROLLBACK')
    other.close()
    await second
    expect(await store.usesOf(use.day)).toMatchObject([{ count: 2 }])
  })
})
