// Who owns what on real stores, after every commit of a random history. `npm run soak:owners` takes many more seeds.
import { afterAll, beforeAll, describe, test } from 'vitest'
import { tryOnStore } from './holdings-on-store.ts'
import { someCases } from './release-runs.ts'
import { type Engine, engineNames, startEngine } from './store-engines.ts'
import { thorough } from './thorough.ts'

describe.each(engineNames)('on %s', name => {
  let engine: Engine
  beforeAll(async () => {
    engine = await startEngine(name)
  })
  afterAll(() => engine?.close())

  // The first one has its rows in runs.
  test.each(someCases([28, 7], 2))('every answer is that of a plain list of transfers, seed %i', async seed => {
    await tryOnStore(await engine.newStore(), seed, { stepsMax: 3, blocks: 'some' })
  })

  thorough('and as of every block, seed 2', async () => {
    await tryOnStore(await engine.newStore(), 2, { stepsMax: 2 })
  })
})
