import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChainStatus } from '../model.ts'
import { type Address, evidences } from '../model.ts'
import { liveStatus } from './live-feed.ts'
import { LiveHistory } from './live-history.ts'

const store = { engine: 'sqlite', location: 'file:a.db', schemaVersion: 1, sizeBytes: 2 } as const

function chainWith(covered: ChainStatus['covered']) {
  const chain: ChainStatus = {
    state: 'live',
    head: 1,
    finalized: 1,
    lag_seconds: 0,
    covered,
    complete: true,
    eta_seconds: null,
    rpc: [],
  }
  return liveStatus({ report: { chains: { eth: chain }, solana: {} }, store, version: '1', atMs: 0 }).chains.eth!
}

test('however much is covered, what is told is bounded and its counts are exact', () => {
  const covered = Array.from({ length: 5_000 }, (_, at) => ({
    from: at * 100,
    to: at * 100 + (at % 50),
    evidence: evidences[at % 2]!,
    scope: 'full' as const,
  }))
  const { coverage } = chainWith(covered)
  expect(coverage.intervals).toHaveLength(200)
  expect(coverage.intervals_total).toBe(5_000)
  const blocks = covered.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  expect(Object.values(coverage.blocks).reduce((sum, count) => sum + count, 0)).toBe(blocks)
  expect(coverage.intervals).toEqual([...coverage.intervals].sort((a, b) => a.from - b.from))
  expect(coverage.intervals.every(({ from, to }) => to - from >= 48)).toBe(true)
})

test('contracts stand apart from what is covered for all, the newest first and at most a hundred of them', () => {
  const scope = (at: number) => `0x${at.toString(16).padStart(40, '0')}` as Address
  const { coverage, contracts } = chainWith([
    { from: 0, to: 9, evidence: 'bloom', scope: 'watched' },
    ...Array.from({ length: 150 }, (_, at) => ({ from: 0, to: at, evidence: 'bloom' as const, scope: scope(at) })),
  ])
  expect(coverage.blocks).toEqual({ bloom: 10 })
  expect(contracts.total).toBe(150)
  expect(contracts.shown).toHaveLength(100)
  expect(contracts.shown[0]).toMatchObject({ contract: scope(149), blocks: { bloom: 150 } })
})

test('the past has one value for each moment and line, and forgets lines of which nothing is left', () => {
  const value = fc.record({ chain: fc.constantFrom('eth', 'bsc testnet'), value: fc.integer() })
  fc.assert(
    fc.property(
      fc.array(fc.array(value, { maxLength: 2 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      (samples, max) => {
        const history = new LiveHistory(max)
        for (const [at, values] of samples.entries()) {
          history.add({ at, values: values.map(each => ({ ...each, measure: 'lag_seconds' as const })) })
        }
        const { at, lines } = history.past()
        const kept = samples.slice(-max)
        expect(at).toEqual(kept.map((_, index) => samples.length - kept.length + index))
        for (const chain of ['eth', 'bsc testnet']) {
          const expected = kept.map(values => values.findLast(each => each.chain === chain)?.value ?? null)
          const line = lines.find(each => each.chain === chain)
          expect(line?.values ?? expected.map(() => null)).toEqual(expected)
          if (samples.length > max && expected.every(each => each === null)) expect(line).toBeUndefined()
        }
      },
    ),
  )
})
