// A chain that loses rows while a page is read, as where its head goes back: what the page claims must hold for its rows,
// which are read after it.
import { afterEach, expect, test } from 'vitest'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { fillListed } from './listed-transfers.ts'
import { apes, blockOf, chain } from './plain-rows.ts'
import { type ServedApi, serveApi } from './served-api.ts'

let api: ServedApi | undefined
afterEach(() => api?.close())

/** The head, 21, is replaced by another block 20. */
async function goBack(store: Store, reads: number): Promise<void> {
  const other = { ...blockOf(20), hash: blockOf(1_000 + reads).hash }
  const covered = { scope: 'transfers', from: 20, evidence: 'bloom' } as const
  const blocks = [{ ...other, transfers: [], activity: noActivity }]
  await store.commitHot({ chain, ancestor: 19, blocks, covered, head: other })
}

/** Something is lost before each of the first reads of rows. */
async function answered(path: string, lose: (store: Store, reads: number) => Promise<unknown> = goBack, times = 1) {
  let reads = 0
  const before = async () => {
    if (++reads <= times) await lose(api!.store, reads)
  }
  api = await serveApi({
    fill: fillListed,
    wrap: store => ({
      ...store,
      transferPage: async query => {
        await before()
        return await store.transferPage(query)
      },
      indexes: {
        ...store.indexes,
        transfersAt: async (...places) => {
          await before()
          return await store.indexes.transfersAt(...places)
        },
      },
    }),
  })
  const response = await api.get(path)
  return {
    status: response.status,
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
  const { complete } = await answered(`/api/v2/nft/${apes}/transfers?to_block=21`, goBack, Number.POSITIVE_INFINITY)
  expect(complete).toBe('false')
})

test.each([`/api/v2/nft/${apes}/transfers?to_block=15`, '/api/v2/nft/transfers?to_block=15'])(
  '%s does not claim final blocks whose rows are dropped meanwhile',
  async path => {
    const { status, complete } = await answered(path, store => store.dropRange(chain, 'full', { from: 12, to: 12 }))
    expect([status, complete]).toEqual([200, 'false'])
  },
)

test('a page of an index that is left meanwhile is not answered as if nothing was there', async () => {
  const { status, complete } = await answered('/api/v2/nft/transfers?to_block=15', async store => {
    await store.keepIndexes(chain, [], 1)
    while (await store.keepIndexes(chain, undefined, 10));
  })
  expect([status, complete]).toEqual([503, null])
})
