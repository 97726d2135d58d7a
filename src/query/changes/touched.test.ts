// Whom something that happens concerns: the mark of one contract stays while another one moves, and of no listener that
// was not told everything.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import type { Address, Block, ChainId, Hash } from '../../model.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { HotBlock, Store } from '../../store/store.ts'
import { KnownLabels } from '../known-labels.ts'
import { transferReads } from '../nft-transfers.ts'
import { type ChangeMark, Changes, quietMark } from './changes.ts'
import type { ChangeFilter } from './position.ts'

const chain = 31_337 as ChainId
const addressOf = (digit: string) => `0x${digit.repeat(40)}` as Address
const [apes, birds, alice, bob] = ['a', 'b', '1', '2'].map(addressOf) as [Address, Address, Address, Address]
const none: ChangeFilter = {
  ...{ ledgers: [chain], contract: undefined, wallet: undefined, tokenId: undefined, finalOnly: false },
}

let folder: string
let store: Store
let changes: Changes
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-touched-'))
  store = await openSqliteStore(join(folder, 'almanac.db'), { role: 'owner' })
  changes = new Changes(store, transferReads(store, new KnownLabels(store, () => store.revision())))
  const first = blockOf(9)
  await store.commitCold({
    ...{ chain, blocks: [first], activity: noActivity, transfers: [] },
    covered: [{ scope: 'full', from: 9, to: 9, evidence: 'receipts-root' }],
    ranges: [{ from: 9, to: 9, hash: first.hash }],
  })
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

function blockOf(number: number, branch = 0): Block {
  const hash = `0x${branch}${number.toString(16).padStart(63, '0')}` as Hash
  return { number, hash, timestamp: 1_000 + number }
}

/** A block with a transfer from alice to bob. */
async function moveIn(contract: Address, number: number, branch = 0): Promise<void> {
  const facts = { standard: 'ERC721', batch: false, operator: undefined, amount: 1n, value: 0n, idCount: 1 } as const
  const head = blockOf(number, branch)
  const payload = packTransfer({ ...facts, from: alice, to: bob, tokenId: 1n, transactionHash: head.hash })
  const transfer = { block: number, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload }
  const block: HotBlock = { ...head, transfers: [transfer], activity: noActivity }
  await store.commitHot({
    ...{ chain, ancestor: number - 1, blocks: [block], head },
    covered: { scope: 'full', from: number, evidence: 'receipts-root' },
  })
}

/** The mark of one who was just told everything. */
async function toldAll(filter: ChangeFilter): Promise<ChangeMark> {
  const mark = await changes.mark(filter)
  return quietMark(mark, await changes.begin(filter, undefined), filter)
}

test('a contract and a wallet are looked at again only where something concerns them', async () => {
  await moveIn(apes, 10)
  const of = { birds: { ...none, contract: birds }, apes: { ...none, contract: apes }, bob: { ...none, wallet: bob } }
  const before = { birds: await toldAll(of.birds), apes: await toldAll(of.apes), bob: await toldAll(of.bob) }
  await moveIn(apes, 11)
  expect(await changes.mark(of.birds, before.birds)).toBe(before.birds)
  expect(await changes.mark(of.apes, before.apes)).not.toBe(before.apes)
  expect(await changes.mark(of.bob, before.bob)).not.toBe(before.bob)
  // Its block goes, and the one that takes its place has nothing of it.
  const again = await toldAll(of.apes)
  await moveIn(birds, 11, 1)
  expect(await changes.mark(of.apes, again)).not.toBe(again)
  // It becomes final.
  const seen = await toldAll(of.apes)
  await store.putChainState(chain, { finalized: 10 })
  expect(await changes.mark(of.apes, seen)).not.toBe(seen)
})

test('one who was not told everything is not spared, nor anyone where blocks are taken back', async () => {
  const filter = { ...none, contract: addressOf('c') }
  const mark = await changes.mark(filter)
  const behind = quietMark(mark, await changes.begin(filter, 0), filter)
  await moveIn(apes, 12)
  expect(await changes.mark(filter, behind)).not.toBe(behind)
  const told = await toldAll(filter)
  // Block 9 has no rows.
  await store.dropRange(chain, 'full', { from: 9, to: 9 })
  expect(await changes.mark(filter, told)).not.toBe(told)
})
