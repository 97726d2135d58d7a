// The newest SDK, 2.27.2, against `/api/v2.2`. It alone asks for an order.
import Moralis from 'moralis-2.27'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seeded, seededTransfers } from '../seed.ts'
import { expectedRecord } from './expected.ts'
import { describeSdk, everyPage, recordsOf, type Sdk } from './sdk-suite.ts'
import { startWorld, type World } from './world.ts'

const sdk = Moralis as unknown as Sdk

describe('moralis 2.27.2', () => {
  describeSdk({ sdk, version: 'v2.2' })

  describe('order', () => {
    let world: World
    beforeAll(async () => {
      world = await startWorld()
      await sdk.start({
        apiKey: world.keys.full,
        evmApiBaseUrl: `${world.url}/api/v2.2`,
        solApiBaseUrl: world.url,
      })
    })
    afterAll(() => world?.stop())

    test.each([
      ['ASC', 'collection', 11],
      ['ASC', 'editions', 7],
      ['ASC', 'range', 9],
      ['DESC', 'range', 9],
    ] as const)('%s pages of the %s by %i', async (order, name, limit) => {
      const newestFirst = seededTransfers(seeded[name])
      const ordered = order === 'ASC' ? newestFirst.toReversed() : newestFirst
      const first = await sdk.EvmApi.nft.getNFTContractTransfers({ address: seeded[name], limit, order })
      const pages = await everyPage(first)
      expect(recordsOf(pages)).toEqual(
        ordered.map(transfer => expectedRecord(transfer, { dialect: 'live', version: 'v2.2' })),
      )
    })
  })
})
