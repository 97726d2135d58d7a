// Every neighbouring operation with both generations of the public SDK, in both dialects, on a chain of real contracts.
// What neither has is asked for by plain HTTP.
import Moralis22 from 'moralis-2.22'
import Moralis27 from 'moralis-2.27'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someCases } from '../release-runs.ts'
import type { Wanted } from './expected.ts'
import { type AnySdk, everyPage, listCalls } from './operation-lists.ts'
import { plainCalls } from './operation-plain.ts'
import { singleCalls } from './operation-singles.ts'
import { tokenCalls } from './operation-tokens.ts'
import { OperationsWorld } from './operations-world.ts'

const slowMs = 120_000
const limits = someCases([7, 1, 100], 3)
const world = new OperationsWorld()

describe('operations', { timeout: slowMs }, () => {
  beforeAll(() => world.begin(), slowMs)
  afterAll(() => world.end())

  describe.each([
    ['moralis 2.22.4', Moralis22 as unknown as AnySdk, 'v2'],
    ['moralis 2.27.2', Moralis27 as unknown as AnySdk, 'v2.2'],
  ] as const)('%s', (_, sdk, version) => {
    beforeAll(() => sdk.start({ apiKey: world.key, ...world.basesOf({ version, dialect: 'live' }) }))

    // Before a release each speaks both; `moralis-*` ask for all else in every run.
    const dialects = version === 'v2' ? (['reference', 'live'] as const) : (['live', 'reference'] as const)
    describe.each(someCases(dialects, 2))('in the dialect %s', dialect => {
      const form: Wanted = { version, dialect }
      beforeAll(() => {
        // The SDK reads its base once in a process.
        const { evmApiBaseUrl, solApiBaseUrl } = world.basesOf(form)
        Object.assign(sdk.EvmApi, { _baseUrl: evmApiBaseUrl })
        Object.assign(sdk.SolApi, { _baseUrl: solApiBaseUrl })
      })

      describe.each(listCalls)('$name', list => {
        test.each(limits)('pages of %i to the end', async limit => {
          const wanted = list.wanted(world, form)
          expect(wanted.length).toBeGreaterThan(0)
          if (wanted.length / limit > 40) return
          const first = await list.call(sdk, { ...list.request(world), limit })
          const pages = await everyPage(first)
          const records = pages.flatMap(page => page.raw.result as Record<string, unknown>[])
          expect(records.map(record => list.shown?.(record) ?? record)).toEqual(wanted)
          expect(pages).toHaveLength(Math.max(1, Math.ceil(wanted.length / limit)))
          const number = (value: number) => (dialect === 'live' ? value : `${value}`)
          expect(pages.map(page => page.raw.page)).toEqual(pages.map((_, at) => number(list.firstPage + at)))
          for (const page of pages) {
            expect(page.raw.page_size).toBe(number(limit))
            expect(page.toJSON()).toEqual(page.raw)
            expect(page.raw.status).toBe(list.hasStatus ? 'SYNCED' : undefined)
          }
          expect(pages.at(-1)!.raw.cursor).toBe(dialect === 'live' ? null : '')
          // What a user of the SDK's own objects gets.
          const results = pages.flatMap(page => asJson<Record<string, unknown>[]>(page.result))
          expect(results.map(list.known)).toEqual(records.map(list.knownOfRecord))
        })
      })

      test.each(singleCalls.filter(({ only = version }) => only === version))('$name', single =>
        single.run(sdk, world, form),
      )

      test.each(tokenCalls.filter(({ only = version }) => only === version))('$name', call =>
        call.run(sdk, world, form),
      )
    })
  })

  describe.each(['v2', 'v2.1', 'v2.2'] as const)('by plain HTTP on /api/%s', version => {
    test.each(plainCalls)('$name', ({ run }) => run(world, `/api/${version}`))
  })
})

function asJson<Shape>(value: unknown): Shape {
  return JSON.parse(JSON.stringify(value)) as Shape
}
