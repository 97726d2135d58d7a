import { expect, test } from 'vitest'
import type { LiveChain, LiveStatus } from '../state/live.ts'
import { findingsOf, verdictOf } from './verdict.ts'

const well: LiveChain = {
  ...{ state: 'live', head: 100, finalized: 90, lag_seconds: 0, complete: true, eta_seconds: null },
  coverage: { intervals: [], intervals_total: 0, blocks: {} },
  contracts: { total: 0, shown: [] },
  rpc: [{ endpoint: 'a', healthy: true }],
}

const api: NonNullable<LiveStatus['api']> = {
  ...{ requests_per_second: 10, errors_per_second: 0, error_share: 0, refused_per_second: 0 },
  ...{ p50_ms: 1, p99_ms: 2 },
  ...{ requests_today: 0, keys_used_today: 0, keys: [] },
}

function statusWith(parts: Partial<LiveStatus> = {}, chain: Partial<LiveChain> = {}): LiveStatus {
  const sizes = { size_bytes: 1, used_bytes: 1, bytes_max: null, full_in_seconds: null }
  return {
    ...{ at: 0, version: '1', problems: [], solana: {}, api },
    store: { engine: 'sqlite', location: 'file:a.db', schema_version: 1, ...sizes },
    chains: { eth: { ...well, ...chain } },
    ...parts,
  }
}

const texts = (status: LiveStatus) => findingsOf(status).map(({ tone, text }) => `${tone}: ${text}`)

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
  const stalled = statusWith({}, { state: 'stalled', reason: 'ECONNREFUSED' })
  expect(verdictOf(stalled, { nowMs: 15_000 }).others).toMatchObject([{ text: 'eth is stalled' }])
})

test('a chain that is indexed on demand is not at fault for what nothing asked for', () => {
  const coverage = { intervals: [], intervals_total: 1, blocks: { bloom: 82 } }
  const contracts = { total: 1, shown: [{ contract: '0x1', ...coverage }] }
  expect(texts(statusWith({}, { index: 'on-demand', complete: false, contracts }))).toEqual([])
})

test.each<[what: string, found: string, status: LiveStatus]>([
  ['a stalled chain', 'bad: eth is stalled', statusWith({}, { state: 'stalled', reason: 'ECONNREFUSED' })],
  [
    'a node that imports no blocks',
    'bad: The newest block of eth is 10 min old',
    statusWith({}, { head_old: true, head_age_seconds: 600 }),
  ],
  [
    'a disputed chain',
    'bad: The endpoints of eth disagree on a block that should be final',
    statusWith({}, { state: 'disputed' }),
  ],
  [
    'a chain that lags',
    'bad: eth is behind',
    statusWith({ problems: [{ problem: 'chain_behind', chain: 'eth', reason: 'It is 900 s behind.' }] }),
  ],
  [
    'one endpoint of two',
    'warn: 1 of 2 endpoints of eth fails',
    statusWith({}, { rpc: [...well.rpc, { endpoint: 'b', healthy: false, reason: 'serves chain 137, not 1' }] }),
  ],
  [
    'an endpoint of another chain beside a right one',
    'warn: 1 of 2 endpoints of eth serves another chain',
    statusWith(
      { problems: [{ problem: 'wrong_chain', chain: 'eth', reason: '1 of its 2 endpoints serves another chain.' }] },
      { rpc: [...well.rpc, { endpoint: 'b', healthy: true, wrong_chain: true }] },
    ),
  ],
  [
    'an endpoint of another chain alone',
    'bad: The only endpoint of eth serves another chain',
    statusWith({}, { state: 'stalled', head: -1, rpc: [{ endpoint: 'b', healthy: false, wrong_chain: true }] }),
  ],
  [
    'the only endpoint',
    'warn: The only endpoint of eth fails',
    statusWith({}, { rpc: [{ endpoint: 'b', healthy: false }] }),
  ],
  [
    'a refused file',
    'warn: A part of eth’s history in ./era is refused',
    statusWith(
      {},
      {
        sources: [
          {
            kind: 'files',
            name: './era',
            state: 'ready',
            blocks: 1,
            refused: [{ name: '1.era', reason: 'wrong root' }],
          },
        ],
      },
    ),
  ],
  [
    'a full disk',
    'bad: The disk is full',
    statusWith({ problems: [{ problem: 'store_full', reason: 'The disk is full.' }] }),
  ],
  [
    'a disk that fills',
    'warn: The store is full in 2 d',
    statusWith({ store: { ...statusWith().store, full_in_seconds: 172_800 } }),
  ],
  [
    'a disk that is nearly full',
    'bad: The store is full in 1 h',
    statusWith({ store: { ...statusWith().store, full_in_seconds: 3_600 } }),
  ],
  [
    'failing requests',
    'bad: 5 % of requests fail',
    statusWith({ api: { ...api, errors_per_second: 0.5, error_share: 0.05 } }),
  ],
  [
    'a key near its quota',
    'warn: Key shop has used 95 % of its quota',
    statusWith({
      api: {
        ...api,
        keys: [
          {
            ...{ id: 'k', name: 'shop', requests_per_second: 1, today: 95, quota_per_day: 100 },
            ...{ refused_last_hour: 0, failed_last_hour: 0 },
          },
        ],
      },
    }),
  ],
  [
    'a Solana network',
    'bad: Solana devnet is stalled',
    statusWith({
      solana: { devnet: { state: 'stalled', slot: 1, lag_seconds: 70, rpc: [{ endpoint: 'a', healthy: false }] } },
    }),
  ],
])('%s is named', (_, found, status) => {
  expect(texts(status)).toEqual([found])
})

test('the worst is the sentence, with its reason and the page that says more', () => {
  const status = statusWith({
    chains: {
      base: { ...well, rpc: [...well.rpc, { endpoint: 'b', healthy: false }] },
      eth: { ...well, state: 'stalled', reason: 'ECONNREFUSED' },
    },
  })
  expect(verdictOf(status)).toEqual({
    ...{ tone: 'bad', sentence: 'eth is stalled', detail: 'ECONNREFUSED', page: ['chain', 'eth'] },
    others: [expect.objectContaining({ text: '1 of 2 endpoints of base fails' })],
  })
})

test('a single failed answer among few is no alarm', () => {
  expect(
    texts(statusWith({ api: { ...api, requests_per_second: 0.1, errors_per_second: 0.02, error_share: 0.2 } })),
  ).toEqual([])
})
