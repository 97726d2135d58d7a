import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LiveHistory } from '../../../src/api/live-history.ts'
import type { LiveSample } from '../../../src/status.ts'
import { withSample } from './past.ts'

const name = fc.record(
  {
    chain: fc.constantFrom('eth', 'bsc testnet'),
    measure: fc.constantFrom('lag_seconds', 'healthy'),
    endpoint: fc.constantFrom('a', 'b'),
    key: fc.constantFrom('a', 'b'),
  },
  { requiredKeys: ['measure'] },
)
const sample = fc
  .uniqueArray(name, { maxLength: 4, selector: each => JSON.stringify(each) })
  .chain(names => fc.tuple(...names.map(each => fc.integer().map(value => ({ ...each, value })))))

test('a past that grew here is the one that the service would send', () => {
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 20 }), samples => {
      const history = new LiveHistory(720)
      let grown = history.past()
      for (const [at, values] of samples.entries()) {
        const told = { at, values } as LiveSample
        history.add(told)
        grown = withSample(grown, told)
      }
      expect(grown).toEqual(history.past())
    }),
  )
})

test('it is bounded', () => {
  let grown = withSample({ at: [], lines: [] }, { at: 0, values: [{ chain: 'eth', measure: 'healthy', value: 1 }] })
  for (let at = 1; at < 1_000; at++)
    grown = withSample(grown, { at, values: [{ chain: 'eth', measure: 'healthy', value: 1 }] })
  expect([grown.at.length, grown.at[0], grown.lines[0]!.values.length]).toEqual([720, 280, 720])
})
