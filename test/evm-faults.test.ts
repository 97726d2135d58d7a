// Seeded fault runs: whatever endpoints do and whenever the process dies, the store ends up equal to the truth. `npm run soak` runs
// many; ALMANAC_FAULT_SEED repeats one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planOf } from './evm-fault-plan.ts'
import { runWithFaults } from './evm-fault-run.ts'
import { isRelease } from './release-runs.ts'
import { type Engine, engineAbove, startEngine } from './store-engines.ts'

/** Before a release they are of all three modes. */
const few = isRelease ? 4 : 1
const runs = Number(process.env.ALMANAC_FAULT_RUNS ?? few)
const only = process.env.ALMANAC_FAULT_SEED
const given = process.env.ALMANAC_FAULT_FIRST
const first = Number(given ?? (runs > few ? Date.now() % 1_000_000 : 1))
const seeds = only === undefined ? Array.from({ length: runs }, (_, at) => first + at) : [Number(only)]

describe.each(engineAbove('sqlite'))('what is stored on %s equals the truth', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine.close())

  // The first seeds differ from engine to engine, so that a short run sees more of them.
  const own =
    only === undefined && given === undefined && runs <= few && name === 'postgres'
      ? seeds.slice(0, Math.ceil(few / 2)).map(seed => seed + 100)
      : seeds
  test.each(own)('with seed %i', { timeout: 90_000 }, async seed => {
    const report = await runWithFaults(seed, await engine.newStore())
    expect(report.head).toBeGreaterThan(0)
    if (runs > few || only !== undefined)
      console.log(JSON.stringify({ ...report, plan: undefined, engine: name, seed, mode: report.plan.mode }))
  })
})

test('one seed, one plan', () => {
  expect(planOf(7)).toEqual(planOf(7))
  expect(planOf(7)).not.toEqual(planOf(8))
})
