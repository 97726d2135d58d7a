// Seeded fault runs: whatever endpoints do and whenever the process dies, the store ends up equal to the truth. `npm run soak` runs
// many; ALMANAC_FAULT_SEED repeats one.
import { describe, expect, test } from 'vitest'
import { planOf } from './evm-fault-plan.ts'
import { runWithFaults } from './evm-fault-run.ts'

const runs = Number(process.env.ALMANAC_FAULT_RUNS ?? 4)
const only = process.env.ALMANAC_FAULT_SEED
const first = runs > 4 ? Number(process.env.ALMANAC_FAULT_FIRST ?? Date.now() % 1_000_000) : 1
const seeds = only === undefined ? Array.from({ length: runs }, (_, at) => first + at) : [Number(only)]

describe('what is stored equals the truth', () => {
  test.each(seeds)('with seed %i', { timeout: 90_000 }, async seed => {
    const report = await runWithFaults(seed)
    expect(report.head).toBeGreaterThan(0)
    if (runs > 4 || only !== undefined)
      console.log(JSON.stringify({ ...report, plan: undefined, seed, mode: report.plan.mode }))
  })
})

test('one seed, one plan', () => {
  expect(planOf(7)).toEqual(planOf(7))
  expect(planOf(7)).not.toEqual(planOf(8))
})
