import { expect, test } from 'vitest'
import { AlmanacError } from '../../errors.ts'
import type { Address } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { RpcPort } from '../rpc/port.ts'
import { WalletJobs, type WalletJobsOptions } from './wallet-jobs.ts'

test('a key whose share is used up does not fail the look-up of a wallet for another key', async () => {
  const payers: unknown[] = []
  const rpc: Pick<RpcPort, 'ask'> = {
    async ask(_, { payer }) {
      payers.push(payer?.id)
      if (payer?.id === 'a') throw new AlmanacError('quota_exceeded', 'Rate limit exceeded')
      throw new AlmanacError('upstream_failed', 'The node is away.')
    },
  }
  const store: Pick<Store, 'checkpoint'> = { checkpoint: async () => undefined }
  const follower = { tip: undefined, finalOnChain: 10, branches: 0 }
  const jobs = new WalletJobs({ chain: { id: 1 }, rpc, store, follower } as unknown as WalletJobsOptions)
  const { signal } = new AbortController()
  const wallet = `0x${'1'.repeat(40)}` as Address
  const outcomes = await Promise.allSettled(
    ['a', 'b'].map(id => jobs.ensure(wallet, signal, { id, indexWaiting: undefined, indexPerDay: 5 })),
  )
  expect(payers).toEqual(['a', 'b'])
  expect(outcomes).toMatchObject([{ reason: { code: 'quota_exceeded' } }, { reason: { code: 'upstream_failed' } }])
})
