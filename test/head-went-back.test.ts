// A head that goes back while a page is read: what the page claims must hold for its rows, which are read after it.
import { afterEach, expect, test } from 'vitest'
import { noActivity } from '../src/store/packed-activity.ts'
import { fillListed } from './listed-transfers.ts'
import { apes, blockOf, chain } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi | undefined
afterEach(() => api?.close())

/** Before the first read of rows the head, 21, is replaced by another block 20. */
async function answered(path: string, timesBack = 1) {
  let reads = 0
  const goBack = async () => {
    if (++reads > timesBack) return
    const other = { ...blockOf(20), hash: blockOf(1_000 + reads).hash }
    const covered = { scope: 'transfers', from: 20, evidence: 'bloom' } as const
    const blocks = [{ ...other, transfers: [], activity: noActivity }]
    await api!.store.commitHot({ chain, ancestor: 19, blocks, covered, head: other })
  }
  api = await serveApi({
    fill: fillListed,
    wrap: store => ({
      ...store,
      transferPage: async query => {
        await goBack()
        return await store.transferPage(query)
      },
      indexes: {
        ...store.indexes,
        transfersAt: async (...places) => {
          await goBack()
          return await store.indexes.transfersAt(...places)
        },
      },
    }),
  })
  const response = await api.get(path)
  return {
    complete: response.headers.get('x-index-complete'),
    ...((await response.json()) as { block_exists: boolean }),
  }
}

test.each([`/api/v2/nft/${apes}/transfers?to_block=21`, '/api/v2/nft/transfers?to_block=21'])(
  '%s claims what it shows',
  async path => {
    const { complete, block_exists } = await answered(path)
    expect([complete, block_exists]).toEqual(['true', false])
  },
)

test('a page whose claim never holds claims nothing', async () => {
  const { complete } = await answered(`/api/v2/nft/${apes}/transfers?to_block=21`, Number.POSITIVE_INFINITY)
  expect(complete).toBe('false')
})
