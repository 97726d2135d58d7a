import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { MemoryStore } from '../../../test/memory-store.ts'
import { alice, blockOf, bob, chain, contract, rowOf, storeOf } from '../../../test/ten-final-blocks.ts'
import type { Address, Hash } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { byWallet } from '../../store/indexes/by-wallet.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { foldSubject, LargeSubjects } from './fold-subject.ts'
import { Holdings } from './holdings.ts'
import { HoldingsAdmission } from './holdings-admission.ts'
import { Mints } from './mints.ts'
import type { HoldingsOptions } from './questions.ts'
import { Sheets } from './sheets.ts'

const options: HoldingsOptions = {
  key: { id: 'test' } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
}
const stats = { chain, contract, atBlock: undefined }
const request = () => new HoldingsAdmission().request(options)

/** Calls `once` within the first read of that name, before it is answered. */
type Hook = { name: 'indexRecords' | 'transferPage'; once: (() => unknown) | undefined }

function readsOf(store: MemoryStore, hook: Hook) {
  const reads = store.reads()
  const counts = { indexRecords: 0, transferPage: 0 }
  const hooked =
    <Asked, Found>(name: Hook['name'], read: (asked: Asked) => Promise<Found>) =>
    async (asked: Asked): Promise<Found> => {
      counts[name]++
      const found = await read(asked)
      const { once } = hook
      if (hook.name !== name || once === undefined) return found
      hook.once = undefined
      await once()
      return found
    }
  const indexes = { ...reads.indexes, indexRecords: hooked('indexRecords', reads.indexes.indexRecords) }
  return { reads: { ...reads, transferPage: hooked('transferPage', reads.transferPage), indexes }, counts }
}

/** The blocks 0 to 4, with one more owner. */
function commitHistory(store: MemoryStore): void {
  const covered = [{ scope: contract, from: 0, to: 4, evidence: 'bloom' } as const]
  const transfers = [rowOf(1, { tokenId: 1_000n, to: bob })]
  store.commitCold({ chain, covered, blocks: [blockOf(1)], transfers, activity: noActivity })
}

function commitHot(store: MemoryStore, number: number, tokens: number): void {
  const transfers = Array.from({ length: tokens }, (_, at) => {
    return { ...rowOf(number, { tokenId: BigInt(100 + at) }), logIndex: at }
  })
  const covered = { scope: contract, from: number, evidence: 'bloom' } as const
  const hot = [{ ...blockOf(number), transfers, activity: noActivity }]
  store.commitHot({ chain, ancestor: number - 1, blocks: hot, covered, head: blockOf(number) })
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

describe('history that arrives', () => {
  test('while a sheet is brought forward is in the next answer', async () => {
    const store = storeOf([rowOf(5, {})], 5)
    const hook: Hook = { name: 'transferPage', once: undefined }
    const { reads } = readsOf(store, hook)
    const holdings = new Holdings(reads, { limits: { finalChangesMax: 1 } })
    const owners = async () => (await holdings.collectionStats(stats, options)).owners
    expect(await owners()).toBe(1)
    // More than is put on top of an older sheet for each request.
    commitHot(store, 11, 2)
    store.putChainState(chain, { finalized: 11 })
    hook.once = () => commitHistory(store)
    await owners()
    expect(await owners()).toBe(2)
  })

  test('while a sheet is made is not claimed by a request that joined', async () => {
    const store = storeOf([rowOf(5, {})], 5)
    const hook: Hook = { name: 'indexRecords', once: undefined }
    const { reads } = readsOf(store, hook)
    const holdings = new Holdings(reads)
    let joined: ReturnType<Holdings['collectionStats']> | undefined
    hook.once = async () => {
      commitHistory(store)
      joined = holdings.collectionStats(stats, options)
      await turns(20)
    }
    await holdings.collectionStats(stats, options)
    expect(await joined).toMatchObject({ owners: 1, complete: false })
    expect(await holdings.collectionStats(stats, options)).toMatchObject({ owners: 2, complete: true })
  })
})

test('a sheet of an older block that is being made is not waited for by those who ask for the newest', async () => {
  const hook: Hook = { name: 'indexRecords', once: undefined }
  const { reads } = readsOf(storeOf([rowOf(5, {})]), hook)
  const holdings = new Holdings(reads)
  let newest: Awaited<ReturnType<Holdings['collectionStats']>> | undefined
  hook.once = async () => {
    newest = await holdings.collectionStats(stats, options)
  }
  expect(await holdings.collectionStats({ ...stats, atBlock: 3 }, options)).toMatchObject({ owners: 0, block: 3 })
  expect(newest).toMatchObject({ owners: 1, block: 10 })
})

test('many tokens that were minted since are read with all others, not one by one', async () => {
  const store = storeOf([rowOf(5, {})])
  const { reads, counts } = readsOf(store, { name: 'indexRecords', once: undefined })
  const holdings = new Holdings(reads)
  await holdings.collectionStats(stats, options)
  for (const isFinal of [false, true]) {
    commitHot(store, 11, isFinal ? 300 : 150)
    if (isFinal) store.putChainState(chain, { finalized: 11 })
    counts.indexRecords = 0
    expect(await holdings.collectionStats(stats, options)).toMatchObject({ tokens: isFinal ? 301 : 151 })
    expect(counts.indexRecords).toBeLessThan(5)
  }
})

test('a sheet that is being made is enough for requests of a newer final block', async () => {
  const store = storeOf([rowOf(5, {})])
  const hook: Hook = { name: 'indexRecords', once: undefined }
  const { reads, counts } = readsOf(store, hook)
  const holdings = new Holdings(reads)
  let later: ReturnType<Holdings['collectionStats']> | undefined
  hook.once = async () => {
    commitHot(store, 11, 0)
    store.putChainState(chain, { finalized: 11 })
    later = holdings.collectionStats(stats, options)
    await turns(20)
  }
  expect(await holdings.collectionStats(stats, options)).toMatchObject({ owners: 1, block: 10 })
  expect(await later).toMatchObject({ owners: 1, block: 11, complete: true })
  expect(counts.indexRecords).toBe(1)
})

test('a branch of more changes than are compared, replaced while it is read, is not in the sheet', async () => {
  const store = storeOf([])
  const replace = (to: Address, digit: string) => {
    const transfers = [0, 1, 2].map(at => ({ ...rowOf(10, { tokenId: BigInt(at), to }), logIndex: at }))
    const block = { ...blockOf(10), hash: `0x${digit.repeat(64)}` as Hash }
    store.commitHot({ chain, ancestor: 9, blocks: [{ ...block, transfers, activity: noActivity }], head: block })
  }
  replace(alice, 'a')
  const hook: Hook = { name: 'indexRecords', once: undefined }
  const { reads } = readsOf(store, hook)
  const sheets = new Sheets(reads, new Mints(reads.indexes), { changesMax: 2 })
  const asOf = { finalized: 9, isFilled: true }
  await sheets.after(stats, 9, asOf, request())
  hook.once = () => replace(bob, 'b')
  const { sheet, isWhole } = await sheets.after(stats, 10, asOf, request())
  expect([[...sheet.columns.parties].map(party => sheet.addresses.addressOf(party)), isWhole]).toEqual([
    [bob, bob, bob],
    true,
  ])
})

test('what happened since does not push out the sheet that it is put on', async () => {
  const store = storeOf([rowOf(5, {})])
  const { reads, counts } = readsOf(store, { name: 'indexRecords', once: undefined })
  const finalBlock = { finalized: 9, isFilled: true }
  const sheets = new Sheets(reads, new Mints(reads.indexes), {
    // The sheet and a copy of it, but not two of them.
    admission: new HoldingsAdmission({ bytesMax: 24_000 }),
  })
  await sheets.after(stats, 9, finalBlock, request())
  // A token that was there: what was minted is not looked up.
  const moved = [{ ...blockOf(10), transfers: [rowOf(10, { from: alice, to: bob })], activity: noActivity }]
  store.commitHot({ chain, ancestor: 9, blocks: moved, head: blockOf(10) })
  counts.indexRecords = 0
  for (const _ of [1, 2]) {
    const found = await sheets.after(stats, 10, finalBlock, request())
    expect(found.sheet.addresses.addressOf(found.sheet.columns.parties[0]!)).toBe(bob)
  }
  expect(counts.indexRecords).toBe(0)
})

test('a contract with more holdings than memory is given for is refused', async () => {
  const rows = Array.from({ length: 600 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at }))
  const { reads } = readsOf(storeOf(rows), { name: 'indexRecords', once: undefined })
  const sheets = new Sheets(reads, new Mints(reads.indexes), {
    admission: new HoldingsAdmission({ bytesMax: 8_000 }),
  })
  const refused = sheets.after(stats, 9, { finalized: 9, isFilled: true }, request())
  await expect(refused).rejects.toMatchObject({ code: 'list_too_large' })
})

test('one large sheet is made after the other, and small ones meanwhile', async () => {
  const ended: string[] = []
  const folding = new Set<string>()
  const admission = new HoldingsAdmission()
  const large = new LargeSubjects()
  const fold = async (name: string, reads: number): Promise<void> => {
    await admission.shared(name, options, 'small', work =>
      foldSubject(readerOf(name, reads), { chain, wallet: alice }, 10, { large, work, bytesMax: work.bytesMax }),
    )
    folding.delete(name)
    ended.push(name)
  }
  const readerOf = (name: string, reads: number): IndexReader => {
    let left = reads
    let records = 0
    const indexRecords: IndexReader['indexRecords'] = async ({ limit }) => {
      await setImmediate()
      if (records >= 40_000) folding.add(name)
      expect(folding.size).toBeLessThan(2)
      const length = left-- > 0 ? limit : 0
      records += length
      const contracts = new Map([[0, contract]])
      const keys = new Uint8Array(length * byWallet.keyBytes).fill(0xff)
      return { length, keys, values: new Uint8Array(length * 6), valueEnds: ends(length), contracts }
    }
    return { indexRecords } as IndexReader
  }
  const ends = (length: number) => Array.from({ length }, (_, at) => (at + 1) * 6)
  await Promise.all([fold('large', 30), fold('next', 30), fold('small', 8)])
  expect(ended).toEqual(['small', 'large', 'next'])
})
