// Which blocks wait for their claim is remembered by the mode that stored them, and by no other one.
import { expect, test } from 'vitest'
import { temporaryStore } from '../../../test/evm-harness.ts'
import type { ChainId } from '../../model.ts'
import { Unclaimed } from './unclaimed.ts'

test('what one mode could not claim is not claimed by it after another mode has followed the chain', async () => {
  const { store, remove } = await temporaryStore()
  const chain = 1 as ChainId
  const started = async (scope: 'full' | 'transfers') => {
    const unclaimed = new Unclaimed({ store, chain, scope })
    await unclaimed.load(20)
    return unclaimed
  }
  await (await started('full')).add({ from: 10, to: 20, evidence: 'bloom' })
  expect((await started('full')).from).toBe(10)
  expect((await started('transfers')).from).toBe(Infinity)
  const again = await started('full')
  await again.claim()
  expect(await store.coverage(chain, 'full')).toEqual([])
  await remove()
})
