// Indexes that the settings name, filled beside the other work, and how the status shows it.
import { beforeEach, expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { openTestStore } from '../../../test/solana-store.ts'
import { ChainTable } from '../../chains.ts'
import { createLog } from '../../log.ts'
import { type Address, type Hash, zeroAddress } from '../../model.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { viewNames } from '../../views.ts'
import { shownViews } from './chain-status.ts'
import { IndexFiller } from './index-filler.ts'

const chain = new ChainTable().parse('eth')!
const contract = `0x${'c'.repeat(40)}` as Address
const hash = `0x${'1'.repeat(64)}` as Hash

let logged: string[] = []
const log = createLog({ level: 'warn', format: 'json', write: line => logged.push(line) })
beforeEach(() => {
  logged = []
})

test('keeps what is named, fills it in steps, and keeps what there is where nothing is named', async () => {
  const { store, remove } = await openTestStore()
  const idleMs = 1_000
  const filler = (views?: ConstructorParameters<typeof IndexFiller>[0]['views']) =>
    new IndexFiller({ chain, store, log, views, idleMs })
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

    // As a round begins.
    await store.keepIndexes(chain.id, ['by_token'], 1)
    expect(await shown()).toEqual({
      views: ['transfers', 'activity', 'by_token'],
      views_filling: [{ view: 'by_token', contracts: 0, of: 1 }],
    })
    const named = filler(['transfers', 'by_token'])
    while ((await named.round()) < idleMs);
    expect(await shown()).toEqual({ views: ['transfers', 'activity', 'by_token'] })

    expect(await filler().round()).toBe(idleMs)
    expect((await store.indexes.rowState(chain.id)).indexes).toEqual([{ index: 'by_token', filled: true }])
  } finally {
    await remove()
  }
})

test('warns once of views that the store has and the settings leave out', async () => {
  const { store, remove } = await openTestStore()
  try {
    const block = { number: 3, hash, timestamp: 30 }
    const covered = [{ scope: 'full', from: 0, to: 3, evidence: 'receipts-root' }] as const
    await store.commitCold({ chain: chain.id, covered, blocks: [block], transfers: [], activity: noActivity })
    await new IndexFiller({ chain, store, log, views: [...viewNames], idleMs: 1 }).round()
    expect(logged).toEqual([])
    const filler = new IndexFiller({ chain, store, log, views: ['transfers', 'by_block'], idleMs: 1 })
    await filler.round()
    await filler.round()
    expect(logged.map(line => JSON.parse(line))).toEqual([
      expect.objectContaining({
        chain: 'eth',
        left_out: ['activity', 'by_wallet', 'by_token'],
        to_keep: 'chains.eth.views: [transfers, activity, by_wallet, by_token, by_block]',
        msg: expect.stringMatching(/^Chain views left out: /),
      }),
    ])
  } finally {
    await remove()
  }
})
