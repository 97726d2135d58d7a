import fc from 'fast-check'
import { test } from 'vitest'
import { HoldingsTrial, trialSteps } from '../../../test/holdings-trial.ts'

test('every answer is that of a plain list of transfers, after every commit', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(trialSteps, steps => new HoldingsTrial().run(steps)),
    { numRuns: Number(process.env.HOLDINGS_RUNS ?? 12) },
  )
})
