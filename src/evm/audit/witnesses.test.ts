import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { AlmanacError } from '../../errors.ts'
import { packActivity } from '../../store/packed-activity.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { type AuditSource, disagreementOf, type Witness } from './witnesses.ts'

const range = {
  interval: { from: 1, to: 2 },
  ...{ headers: [], transfers: [], activity: packActivity([]), evidence: 'receipts-root', endpoint: 'first.example' },
} as unknown as DecodedRange
const passing = new AlmanacError('upstream_failed', 'second.example did not answer.', { retryable: true })

function asked(witness: Witness, answer: () => Promise<DecodedRange>) {
  return disagreementOf(range, witness, () => answer, new AbortController().signal)
}

// A failed range is asked for again after pauses.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }).setTimerTickMode('nextTimerAsync'))
afterAll(() => void vi.useRealTimers())

test('a witness that fails for a moment is asked again, and the range is known as unheard', async () => {
  const witness: Witness = { endpoint: 'second.example', source: {} as AuditSource }
  expect(await asked(witness, async () => range)).toBeUndefined()
  const unheard = { endpoint: 'second.example', reason: passing.message }
  expect(await asked(witness, () => Promise.reject(passing))).toEqual(unheard)
  expect(witness.silent).toBeUndefined()
  expect(await asked(witness, async () => range)).toBeUndefined()
})

test('one that never answers is left alone, and so is one that cannot', async () => {
  const down: Witness = { endpoint: 'second.example', source: {} as AuditSource }
  expect(await asked(down, () => Promise.reject(passing))).toBeUndefined()
  expect(down.silent).toContain('did not answer')
  const pruned: Witness = { endpoint: 'third.example', source: {} as AuditSource, answered: true }
  const gone = new AlmanacError('upstream_failed', 'It has pruned these blocks.')
  expect(await asked(pruned, () => Promise.reject(gone))).toBeUndefined()
  expect(pruned.silent).toContain('pruned')
})
