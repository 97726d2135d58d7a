import { expect, test } from 'vitest'
import type { LiveChain, LiveStatus } from '../state/live.ts'
import { pageOf, verdictOf } from './verdict.ts'

const well: LiveChain = {
  ...{ state: 'live', head: 100, finalized: 90, lag_seconds: 0, complete: true, eta_seconds: null },
  coverage: { intervals: [], intervals_total: 0, blocks: {} },
  contracts: { total: 0, shown: [] },
  rpc: [{ endpoint: 'a', healthy: true }],
}

const api: NonNullable<LiveStatus['api']> = {
  ...{ requests_per_second: 10, errors_per_second: 0, error_share: 0, refused_per_second: 0, not_served_per_second: 0 },
  ...{ p50_ms: 1, p99_ms: 2 },
  ...{ requests_today: 0, keys_used_today: 0, keys: [] },
}

function statusWith(parts: Partial<LiveStatus> = {}, chain: Partial<LiveChain> = {}): LiveStatus {
  const sizes = { size_bytes: 1, used_bytes: 1, bytes_max: null, full_in_seconds: null }
  return {
    ...{ at: 0, version: '1', problems: [], findings: [], solana: {}, api },
    store: { engine: 'sqlite', location: 'file:a.db', schema_version: 1, ...sizes },
    chains: { eth: { ...well, ...chain } },
    ...parts,
  }
}

const stalled = { tone: 'bad', chain: 'eth', text: 'eth is stalled', detail: 'ECONNREFUSED' } as const
const failing = { tone: 'warn', chain: 'base', text: '1 of 2 endpoints of base fails' } as const

test('a service that is well says so, and what it does', () => {
  expect(verdictOf(statusWith())).toMatchObject({
    ...{ tone: 'good', sentence: 'All systems normal', detail: '1 of 1 chain live' },
  })
  const filling = statusWith({}, { state: 'backfilling', eta_seconds: 720 })
  expect(verdictOf(filling)).toMatchObject({ tone: 'good', detail: '0 of 1 chain live, 1 fills history, ETA 12 min' })
})

test('a service that is not heard is not said to be well, and what it told last is of then', () => {
  const lost = verdictOf(statusWith(), { nowMs: 15_000 })
  expect(lost).toMatchObject({ tone: 'warn', detail: 'What is shown is 15 s old.', others: [] })
  expect(lost.sentence).toBe('Unknown while the service does not answer')
  expect(verdictOf(statusWith({ findings: [stalled] }), { nowMs: 15_000 }).others).toEqual([stalled])
})

test('the worst is the sentence, with its reason and the page that says more', () => {
  expect(verdictOf(statusWith({ findings: [stalled, failing] }))).toEqual({
    ...{ tone: 'bad', sentence: 'eth is stalled', detail: 'ECONNREFUSED', page: ['chain', 'eth'] },
    others: [failing],
  })
  expect(pageOf({ tone: 'warn', key: 'k', text: 'Key shop has used 95% of its quota' })).toEqual(['keys', 'k'])
  expect(pageOf({ tone: 'bad', text: '5% of requests fail' })).toBeUndefined()
})
