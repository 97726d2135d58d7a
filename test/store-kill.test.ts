// Stores whose writer is killed again and again end as if it never was. `npm run soak:store` runs many seeds.
import { expect, test } from 'vitest'
import { isRelease } from './release-runs.ts'
import { runKilled } from './store-kill-run.ts'

// One after the other: a parent that is busy with another store kills too late.
test.each([
  ['from an empty store on', 1],
  ['from a store that is filled half on', 2],
  ['from another that is filled half on', 4],
])('a writer that is killed %s leaves nothing out', { timeout: 60_000 }, async (_, seed) => {
  expect((await runKilled(seed, isRelease ? 30 : 18, 3)).kills).toBeGreaterThan(0)
})
