// Indexes that the settings name, filled beside the other work, and how the status shows it.
import { expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { openTestStore } from '../../../test/solana-store.ts'
import { ChainTable } from '../../chains.ts'
import { type Address, type Hash, zeroAddress } from '../../model.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { shownViews } from './chain-status.ts'
import { IndexFiller } from './index-filler.ts'

const chain = new ChainTable().parse('eth')!
const contract = `0x${'c'.repeat(40)}` as Address
const hash = `0x${'1'.repeat(64)}` as Hash

test('keeps what is named, fills it in steps, and keeps what there is where nothing is named', async () => {
  const { store, remove } = await openTestStore()
  const idleMs = 1_000
  const filler = (views?: ConstructorParameters<typeof IndexFiller>[0]['views']) =>
    new IndexFiller({ chain: chain.id, store, views, idleMs })
  const shown = (views?: ConstructorParameters<typeof IndexFiller>[0]['views']) =>
    shownViews({ chain, index: 'full', views }, store)
  try {
    expect(await filler(['transfers']).round()).toBeLessThan(idleMs)
    const facts = { standard: 'ERC721', batch: false, from: zeroAddress, to: contract, operator: undefined } as const
    const numbers = { tokenId: 1n, amount: 1n, value: 0n, transactionHash: hash, idCount: 1 }
    const payload = packTransfer({ ...facts, ...numbers })
    const row = { block: 3, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload }
    const blocks = [{ number: 3, hash, timestamp: 30 }]
    await store.commitCold({ chain: chain.id, covered: [], blocks, transfers: [row], activity: noActivity })
    expect(await shown(['transfers'])).toEqual({ views: ['transfers'] })

    const named = filler(['transfers', 'by_token'])
    await named.round()
    expect(await shown()).toEqual({
      views: ['transfers', 'activity', 'by_token'],
      views_filling: [{ view: 'by_token', contracts: 0, of: 1 }],
    })
    while ((await named.round()) < idleMs);
    expect(await shown()).toEqual({ views: ['transfers', 'activity', 'by_token'] })

    expect(await filler().round()).toBe(idleMs)
    expect(await store.indexes.indexStates(chain.id)).toEqual([{ index: 'by_token', filled: true }])
  } finally {
    await remove()
  }
})
