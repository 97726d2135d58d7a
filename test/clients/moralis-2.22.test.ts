// The SDK of the reference's own time, 2.22.4, against `/api/v2`. It alone asks for totals.
import Moralis from 'moralis-2.22'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seeded, seededTransfers } from '../seed.ts'
import type { Dialect } from './expected.ts'
import { describeSdk, everyPage, type Sdk } from './sdk-suite.ts'
import { startWorld, type World } from './world.ts'

const sdk = Moralis as unknown as Sdk

describe('moralis 2.22.4', () => {
  describeSdk({ sdk, version: 'v2' })

  describe.each<[Dialect, string[]]>([
    ['live', []],
    ['reference', ['--dialect', 'reference']],
  ])('disableTotal: false, %s dialect', (dialect, flags) => {
    let world: World
    beforeAll(async () => {
      world = await startWorld(flags)
      await sdk.start({
        apiKey: world.keys.full,
        evmApiBaseUrl: `${world.url}/api/v2`,
        solApiBaseUrl: world.url,
      })
    })
    afterAll(() => world?.stop())

    // With a number as total the SDK asks for one page more when total and page do not add up, and throws then.
    test.each([
      ['range', 9],
      ['range', 10],
      ['collection', 11],
      ['collection', 100],
      ['editions', 80],
      ['editions', 100],
      ['silent', 100],
    ] as const)('%s by %i: counted on every page, and the last page is the last', async (name, limit) => {
      const count = seededTransfers(seeded[name]).length
      const first = await sdk.EvmApi.nft.getNFTContractTransfers({ address: seeded[name], limit, disableTotal: false })
      const pages = await everyPage(first)
      expect(pages).toHaveLength(Math.max(1, Math.ceil(count / limit)))
      const total = dialect === 'live' ? count : String(count)
      expect(pages.map(page => page.raw.total)).toEqual(pages.map(() => total))
      expect(pages.at(-1)!.hasNext()).toBe(false)
    })
  })
})
