import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import type { KeyStore } from '../store/key-store.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { Allowances, msUntilTomorrow, UseMeter } from './allowances.ts'

let directory: string
let store: Store

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-uses-'))
  store = await openStore(`file:${join(directory, 'almanac.db')}`, { role: 'owner' })
})

afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

test('a day ends at midnight UTC, and what was not written by then is written to its own day', async () => {
  let now = Date.parse('2026-11-15T23:59:59Z')
  const meter = new UseMeter(store, () => now)
  meter.count('a', 'portfolio')
  meter.count('a', 'portfolio')
  expect(msUntilTomorrow(now)).toBe(1_000)
  now += 1_000
  meter.count('a', 'ops')
  await meter.flush()
  const use = { keyId: 'a' }
  expect(await store.usesOf('2026-11-15')).toEqual([{ ...use, day: '2026-11-15', operation: 'portfolio', count: 2 }])
  expect(await store.usesOf('2026-11-16')).toEqual([{ ...use, day: '2026-11-16', operation: 'ops', count: 1 }])
})

test('while the store cannot be written to, limits go on in memory from what it last said', async () => {
  let failing = false
  let now = 0
  const flaky: Pick<KeyStore, 'takeAllowance'> = {
    takeAllowance: async asked => {
      if (failing) throw new AlmanacError('store_full', 'The disk is full.', { retryable: true })
      return await store.takeAllowance(asked)
    },
  }
  const allowances = new Allowances(flaky, () => now)
  const limits = { id: 'a', ratePerSecond: 3, quotaPerDay: 5 }
  const take = async () => (await allowances.take(limits)).refusedBy ?? 'admitted'
  expect(await take()).toBe('admitted')
  failing = true
  expect([await take(), await take(), await take()]).toEqual(['admitted', 'admitted', 'rate'])
  now += 1_001
  expect([await take(), await take(), await take()]).toEqual(['admitted', 'admitted', 'quota'])
})

test('what a failing store did not take is written once it works again, each use once', async () => {
  let failing = true
  const flaky: KeyStore = Object.create(store, {
    addUse: {
      value: async (uses: Parameters<KeyStore['addUse']>[0]) => {
        if (failing) throw new Error('disk full')
        return await store.addUse(uses)
      },
    },
  })
  let now = Date.parse('2026-11-14T12:00:00Z')
  const meter = new UseMeter(flaky, () => now)
  for (const _day of [14, 15, 16]) {
    meter.count('a', 'portfolio')
    await expect(meter.flush()).rejects.toThrow('disk full')
    now += 86_400_000
  }
  now -= 86_400_000
  meter.count('a', 'portfolio')
  failing = false
  await meter.flush()
  await meter.flush()
  for (const [day, count] of [
    ['2026-11-14', 1],
    ['2026-11-15', 1],
    ['2026-11-16', 2],
  ]) {
    expect((await store.usesOf(String(day))).map(use => use.count)).toEqual([count])
  }
})

test('requests that are counted while a flush is under way are neither lost nor doubled', async () => {
  const meter = new UseMeter(store)
  for (let round = 0; round < 20; round++) {
    meter.count('a', 'portfolio')
    const flushing = meter.flush()
    meter.count('a', 'portfolio')
    await flushing
  }
  await meter.flush()
  const [use] = await store.usesOf(new Date().toISOString().slice(0, 10))
  expect(use?.count).toBe(40)
})
