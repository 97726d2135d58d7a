import { expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { Reports } from './heartbeat.ts'

test.each([
  [4_000, 'live', true, ['eth']],
  [14_000, 'live', false, ['eth']],
  [16_000, 'stalled', false, ['eth']],
  [3_600_000, 'stalled', false, []],
])('a report that is %s ms old shows the chain as %s', async (ageMs, state, serves, chains) => {
  const status = { state: 'live', head: 1, finalized: 0, lag_seconds: 0, complete: true, eta_seconds: 0, rpc: [] }
  const report = JSON.stringify({ chains: { eth: { ...status, chain_id: 1 } }, solana: {}, topics: ['evm/1'] })
  const store = { heartbeats: async () => [{ ageMs, report }], coverage: async () => [] } as unknown as Store
  const reports = new Reports(store)
  expect((await reports.status()).chains.eth?.state).toBe(state)
  expect([await reports.chains(), await reports.serves('evm/1')]).toEqual([chains, serves])
})
