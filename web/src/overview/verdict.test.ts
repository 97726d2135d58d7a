import { expect, test } from 'vitest'
import type { LiveStatus } from '../state/live.ts'
import { pageOf, verdictOf } from './verdict.ts'

const stalled = { tone: 'bad', chain: 'eth', text: 'eth is stalled', detail: 'ECONNREFUSED' } as const
const failing = { tone: 'warn', chain: 'base', text: '1 of 2 endpoints of base fails' } as const
const well = { tone: 'good', text: 'All systems normal', detail: '1 of 1 chain live' } as const
const ill = { tone: 'bad', text: 'eth is stalled', detail: 'ECONNREFUSED' } as const

function statusWith(parts: Pick<LiveStatus, 'verdict' | 'findings'>): LiveStatus {
  const sizes = { size_bytes: 1, used_bytes: 1, bytes_max: null, full_in_seconds: null }
  return {
    ...{ at: 0, version: '1', problems: [], solana: {}, chains: {} },
    store: { engine: 'sqlite', location: 'file:a.db', schema_version: 1, ...sizes },
    ...parts,
  }
}

test('a service that is not heard is not said to be well, and what it told last is of then', () => {
  const lost = verdictOf(statusWith({ verdict: well, findings: [] }), { nowMs: 15_000 })
  expect(lost).toMatchObject({ tone: 'warn', detail: 'What is shown is 15 s old.', others: [] })
  expect(lost.text).toBe('Unknown while the service does not answer')
  const broken = statusWith({ verdict: ill, findings: [stalled] })
  expect(verdictOf(broken, { nowMs: 15_000 }).others).toEqual([stalled])
})

test('the verdict is that of the service, with the page that says more and what else is wrong', () => {
  expect(verdictOf(statusWith({ verdict: well, findings: [] }))).toEqual({ ...well, others: [], page: undefined })
  expect(verdictOf(statusWith({ verdict: ill, findings: [stalled, failing] }))).toEqual({
    ...{ ...ill, page: ['chain', 'eth'] },
    others: [failing],
  })
  expect(pageOf({ tone: 'warn', key: 'k', text: 'Key shop has used 95% of its quota' })).toEqual(['keys', 'k'])
  expect(pageOf({ tone: 'bad', text: '5% of requests fail' })).toBeUndefined()
})
