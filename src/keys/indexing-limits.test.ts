import { expect, test } from 'vitest'
import { AlmanacError } from '../errors.ts'
import type { Address } from '../model.ts'
import type { Store } from '../store/store.ts'
import { IndexingLimits } from './indexing-limits.ts'

test('a wallet that a failing store could not count is counted at the next request', async () => {
  const counted: string[] = []
  let fails = true
  const takeIndexing: Store['takeIndexing'] = async ({ targets }) => {
    if (fails) throw new AlmanacError('store_failed', 'The store does not answer.')
    counted.push(...targets)
    return true
  }
  const limits = new IndexingLimits({ takeIndexing } as Store)
  const key = { id: 'k', indexPerDay: 10, indexWaiting: undefined }
  const wallet = `0x${'1'.repeat(40)}` as Address
  await limits.balances(key, { wallets: [wallet] })
  fails = false
  for (let request = 0; request < 2; request++) await limits.balances(key, { wallets: [wallet] })
  expect(counted).toEqual([wallet])
})
