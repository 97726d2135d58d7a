import { describe, expect, test } from 'vitest'
import { temporaryStore } from '../../test/evm-harness.ts'
import { IndexAllowance } from './index-allowance.ts'

describe('IndexAllowance', () => {
  test('a key causes so much indexing a day, each target once, also across a restart', async () => {
    const { store, remove } = await temporaryStore()
    let now = Date.UTC(2026, 0, 1, 12)
    const key = { id: 'k1', indexPerDay: 2 }
    const allowance = new IndexAllowance(store, () => now)
    expect(await allowance.take(key, 'a')).toBe(true)
    expect(await allowance.take(key, 'a')).toBe(true)
    expect(await allowance.take(key, 'b')).toBe(true)
    expect(await allowance.take(key, 'c')).toBe(false)
    expect(await allowance.take({ id: 'k2', indexPerDay: 1 }, 'c')).toBe(true)
    const restarted = new IndexAllowance(store, () => now)
    expect(await restarted.take(key, 'c')).toBe(false)
    now += 86_400_000
    expect(await restarted.take(key, 'c')).toBe(true)
    await remove()
  })

  test('none, and as much as it likes', async () => {
    const { store, remove } = await temporaryStore()
    const allowance = new IndexAllowance(store)
    expect(await allowance.take({ id: 'none', indexPerDay: 0 }, 'a')).toBe(false)
    expect(await allowance.take({ id: 'free', indexPerDay: undefined }, 'a')).toBe(true)
    await remove()
  })
})
