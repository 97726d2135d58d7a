// The spam rules on a made-up chain of labelled collections, through the real indexer. `npm run bench:spam` does the same at length.
import { expect, test } from 'vitest'
import { judgeWorld, shareFlagged, tallyOf } from './spam/world.ts'

test('spam is told from mints, drops, gifts, games and badges', { timeout: 120_000 }, async () => {
  // A seed that no weight was settled on. Of so few collections one is a large share, so the bounds are wider than the benchmark's.
  const { judged } = await judgeWorld({ seed: 4_711, honest: 80, spam: 40, recipientsMax: 500 })
  const tallies = tallyOf(judged)
  expect(judged.every(({ facts }) => facts?.verdict !== undefined)).toBe(true)
  expect(tallies.map(({ kind }) => kind).length).toBe(9)
  expect(shareFlagged(tallies, true), JSON.stringify(tallies)).toBeGreaterThanOrEqual(0.9)
  expect(shareFlagged(tallies, false), JSON.stringify(tallies)).toBeLessThanOrEqual(0.025)
  for (const { collection, facts } of judged) {
    expect(facts?.name).toBe(collection.facts.name)
    expect(facts?.reading?.deployer).toBe(collection.facts.maker)
    expect(facts?.reading?.createdBlock).toBe(collection.deployedAt)
    expect(facts?.reading?.interfaces).toContain(collection.facts.standard === 'ERC721' ? 'erc721' : 'erc1155')
  }
})
