import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { historySteps } from '../../../test/holdings-history.ts'
import { HoldingsTrial } from '../../../test/holdings-trial.ts'
import { factsOf, MemoryStore } from '../../../test/memory-store.ts'
import { alice, blockOf, bob, chain, contract, other, rowOf, storeOf } from '../../../test/ten-final-blocks.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import { noRecords } from '../../store/index-reader.ts'
import { openStore } from '../../store/open.ts'
import { noActivity } from '../../store/packed-activity.ts'
import { AddressTable } from './address-table.ts'
import { Holdings } from './holdings.ts'
import { HoldingsAdmission } from './holdings-admission.ts'
import { Mints } from './mints.ts'
import type { HoldingsOptions } from './questions.ts'
import { firstRows, newestBatches } from './row-batches.ts'
import { Sheets } from './sheets.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-holdings-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** More in the soak. */
const runs = Number(process.env.HOLDINGS_RUNS ?? 1)

describe('every answer is that of a plain list of transfers, after every commit', () => {
  test('in memory', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(historySteps, steps => new HoldingsTrial().run(steps)),
      { numRuns: runs },
    )
  })

  test('in a file', { timeout: 600_000 }, async () => {
    let stores = 0
    const inFile = fc.asyncProperty(historySteps, async steps => {
      const store = await openStore(`file:${join(folder, `${++stores}.db`)}`, { role: 'owner' })
      const annotationsOf = async (id: ChainId, contract: Address) => ({
        facts: { chain: id, contract, ...factsOf(contract) },
        marks: [],
      })
      const reads = { ...store, indexes: store.indexes, annotationsOf }
      try {
        await new HoldingsTrial({ reads, writes: store }).run(steps)
      } finally {
        await store.close()
      }
    })
    await fc.assert(inFile, { numRuns: Math.ceil(runs / 2) })
  })
})

const list = { chain, atBlock: undefined, after: undefined, limit: 3, countTotal: true }
const options: HoldingsOptions = {
  key: { id: 'test' } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
}

/** `read` is called after every read of records, before they are answered. */
function holdingsOf(store: MemoryStore, read: () => void = () => {}): Holdings {
  const reads = store.reads()
  const indexRecords: typeof reads.indexes.indexRecords = async query => {
    const records = await reads.indexes.indexRecords(query)
    read()
    return records
  }
  return new Holdings({ ...reads, indexes: { ...reads.indexes, indexRecords } })
}

test('a range of four billion ids costs no more than a token', async () => {
  const idCount = 2 ** 32 - 1
  const rows = [
    rowOf(1, { tokenId: 10n, idCount }),
    rowOf(2, { tokenId: 12n, from: alice, to: bob }),
    rowOf(3, { tokenId: 20n, idCount: 5, from: alice, to: zeroAddress }),
  ]
  const holdings = holdingsOf(storeOf(rows))
  const owners = await holdings.owners({ ...list, contract, tokenId: undefined }, options)
  expect(owners.total).toBe(idCount - 5)
  const last = 10n + BigInt(idCount) - 1n
  expect(owners.rows.map(({ tokenId, owner }) => [tokenId, owner])).toEqual([
    [12n, bob],
    [last, alice],
    [last - 1n, alice],
  ])
  const nearHole = { ...owners.next!, after: { ...owners.next!.after, tokenId: 26n } }
  const next = await holdings.owners({ ...list, ...nearHole, contract, tokenId: undefined }, options)
  expect(next.rows.map(({ tokenId, position }) => [tokenId, position.batchIndex])).toEqual([
    [25n, 15],
    [19n, 9],
    [18n, 8],
  ])
  const nfts = await holdings.contractNfts({ ...list, contract, part: undefined }, options)
  expect(nfts.rows.map(({ tokenId }) => tokenId)).toEqual([12n, 10n, 11n])
  const stats = await holdings.walletStats({ chain, wallet: alice, atBlock: undefined }, options)
  expect([stats.nfts, stats.collections]).toEqual([idCount - 6, 1])
})

test('what a wallet holds of named contracts is complete once these are, though others are not indexed', async () => {
  const holdings = holdingsOf(storeOf([rowOf(1, {})]))
  const asked: Address[] = []
  const freshen = { asked: (_: ChainId, each: Address) => void asked.push(each) }
  const claimOf = async (contracts: Address[] | undefined) => {
    const question = { ...list, wallet: alice, excludeSpam: false, contracts }
    const { complete, evidence, rows } = await holdings.walletNfts(question, { ...options, freshen })
    return [complete, evidence, rows.length]
  }
  expect(await claimOf([contract])).toEqual([true, 'bloom', 1])
  expect(await claimOf([contract, other])).toEqual([false, undefined, 1])
  expect(await claimOf([other])).toEqual([false, undefined, 0])
  expect(await claimOf(undefined)).toEqual([false, undefined, 1])
  // They stay indexed, as those of other requests do.
  expect(asked).toEqual([contract, contract, other, other])
})

test('requests for one contract share the building of its sheet', async () => {
  let reads = 0
  const holdings = holdingsOf(storeOf([rowOf(1, {})]), () => reads++)
  const ask = () => holdings.collectionStats({ chain, contract, atBlock: undefined }, options)
  const answers = await Promise.all([ask(), ask(), ask()])
  expect(answers.map(({ owners }) => owners)).toEqual([1, 1, 1])
  expect(reads).toBe(1)
  await ask()
  expect(reads).toBe(1)
})

test('rows that are taken away while a sheet is made are not in it', async () => {
  const store = storeOf([rowOf(1, {}), rowOf(2, { tokenId: 2n, to: bob })])
  let reads = 0
  const holdings = holdingsOf(store, () => {
    if (reads++ === 0) store.dropRange(chain, 'full', { from: 2, to: 2 })
  })
  const answer = await holdings.collectionStats({ chain, contract, atBlock: undefined }, options)
  expect(answer).toMatchObject({ tokens: 1, complete: false, evidence: undefined })
})

test('a branch that is replaced while a sheet is made is not in it', async () => {
  const store = storeOf([])
  const replace = (to: Address) => {
    // Both standards of one token: such sheets are made of all records.
    const transfers = [
      { ...rowOf(10, { to }) },
      { ...rowOf(10, { standard: 'ERC1155', tokenId: 2n, to }), logIndex: 1 },
    ]
    const hot = [{ ...blockOf(10), transfers, activity: noActivity }]
    store.commitHot({ chain, ancestor: 9, blocks: hot, head: blockOf(10) })
  }
  replace(alice)
  let reads = 0
  const holdings = holdingsOf(store, () => {
    // The first read is of final blocks.
    if (++reads === 2) replace(bob)
  })
  const owners = async () => (await holdings.uniqueOwners({ ...list, contract }, options)).rows
  expect(await owners()).toEqual([bob])
  replace(alice)
  expect(await owners()).toEqual([alice])
})

test('a token with several holders is shown with the one that last received', async () => {
  const edition = { standard: 'ERC1155', tokenId: 7n } as const
  const rows = [
    rowOf(1, { ...edition, to: alice, amount: 5n }),
    rowOf(2, { ...edition, to: bob, amount: 2n }),
    rowOf(3, { ...edition, from: alice, to: zeroAddress, amount: 1n }),
  ]
  const holdings = holdingsOf(storeOf(rows))
  const { rows: owners } = await holdings.owners({ ...list, contract, tokenId: 7n }, options)
  expect(owners.map(({ owner, amount, position }) => [owner, amount, position.block])).toEqual([
    [alice, 4n, 3],
    [bob, 2n, 2],
  ])
  const nfts = await holdings.nfts(
    {
      chain,
      tokens: [
        { contract, tokenId: 7n },
        { contract, tokenId: 8n },
      ],
    },
    options,
  )
  expect(nfts.rows.map(row => row && [row.owner, row.amount])).toEqual([[bob, 2n], undefined])
})

test('the one that last received is found without looking at every holder', async () => {
  const edition = { standard: 'ERC1155', tokenId: 7n } as const
  const rows = Array.from({ length: 50 }, (_, at) => {
    const to = `0x${`${at + 30}`.repeat(20)}` as Address
    return { ...rowOf(1, { ...edition, to, amount: 5n }), logIndex: at }
  })
  const burn = rowOf(3, { ...edition, from: alice, to: zeroAddress, amount: 1n })
  const holdings = holdingsOf(storeOf([...rows, rowOf(2, { ...edition, to: alice, amount: 2n }), burn]))
  const written = vi.spyOn(AddressTable.prototype, 'addressOf')
  const { rows: found } = await holdings.nfts({ chain, tokens: [{ contract, tokenId: 7n }] }, options)
  expect(found[0]).toMatchObject({ owner: alice, amount: 1n })
  expect(written.mock.calls.length).toBeLessThan(5)
  written.mockRestore()
})

test('others are served while a page of a large wallet is filtered', async () => {
  const rows = Array.from({ length: 600 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at }))
  const { sheet } = await sheetOf(storeOf(rows))
  let turns = 0
  const count = (): void => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const isShown = (): boolean => {
    for (const until = performance.now() + 0.05; performance.now() < until; );
    return false
  }
  expect(await firstRows(sheet, newestBatches(sheet, 11, { isShown }), 10)).toMatchObject({
    length: 0,
    last: undefined,
  })
  clearImmediate(next)
  expect(turns).toBeGreaterThan(0)
})

function sheetOf(store: MemoryStore) {
  const { indexes, ...reads } = store.reads()
  const request = new HoldingsAdmission().request(options)
  const indexed = { finalized: 9, isFilled: true }
  return new Sheets({ ...reads, indexes }, new Mints(indexes)).after({ chain, contract }, 9, indexed, request)
}

test('the one that last received is found in few reads behind many transfers of nothing', async () => {
  const edition = { standard: 'ERC1155', tokenId: 7n } as const
  const dust = Array.from({ length: 3_000 }, (_, logIndex) => ({
    ...rowOf(3, { ...edition, from: alice, to: other, amount: 0n }),
    logIndex,
  }))
  const rows = [rowOf(1, { ...edition, to: alice, amount: 5n }), rowOf(2, { ...edition, to: bob, amount: 2n }), ...dust]
  let reads = 0
  const holdings = holdingsOf(storeOf(rows), () => reads++)
  const found = await holdings.nfts({ chain, tokens: [{ contract, tokenId: 7n }] }, options)
  expect(found.rows.map(row => row && [row.owner, row.amount])).toEqual([[bob, 2n]])
  expect(reads).toBeLessThan(15)
})

test('a contract that is not complete is indexed when it is asked for, once', async () => {
  const store = storeOf([rowOf(5, {})], 5)
  const asked: Address[] = []
  const freshen = {
    contract: async (_: ChainId, address: Address) => {
      asked.push(address)
      const covered = [{ scope: contract, from: 0, to: 4, evidence: 'one-endpoint' } as const]
      const transfers = [rowOf(1, { tokenId: 2n, to: bob })]
      store.commitCold({ chain, covered, blocks: [blockOf(1)], transfers, activity: noActivity })
    },
  }
  const holdings = holdingsOf(store)
  const ask = (address: Address, as = options) => holdings.uniqueOwners({ ...list, contract: address }, as)
  expect(await ask(contract)).toMatchObject({ rows: [alice], complete: false, evidence: undefined })
  const fresh = { ...options, freshen }
  expect(await ask(contract, fresh)).toMatchObject({ rows: [alice, bob], complete: true, evidence: 'one-endpoint' })
  await ask(contract, fresh)
  expect(asked).toEqual([contract])
  expect(await ask(other)).toMatchObject({ rows: [], complete: false, block: 10 })
})

test('an index that is not filled makes no answer complete, nor is what it tells kept', async () => {
  const store = storeOf([rowOf(1, {})])
  const reads = store.reads()
  let filled = false
  const indexes: typeof reads.indexes = {
    ...reads.indexes,
    rowState: async asked => ({ ...(await reads.indexes.rowState(asked)), indexes: [{ index: 'by_token', filled }] }),
    indexRecords: query => (filled ? reads.indexes.indexRecords(query) : Promise.resolve(noRecords)),
  }
  const holdings = new Holdings({ ...reads, indexes })
  const ask = () => holdings.collectionStats({ chain, contract, atBlock: undefined }, options)
  expect(await ask()).toMatchObject({ complete: false, owners: 0 })
  filled = true
  store.putChainState(chain, { finalized: 10 })
  expect(await ask()).toMatchObject({ complete: true, owners: 1 })
})

test('an index that is left while a sheet is made has a part of its records in it, which is not kept', async () => {
  const store = await openStore(`file:${join(folder, 'left.db')}`, { role: 'owner' })
  const covered = [{ scope: 'full', from: 0, to: 1, evidence: 'bloom' } as const]
  await store.commitCold({ chain, covered, blocks: [blockOf(1)], transfers: [rowOf(1, {})], activity: noActivity })
  const indexes = store.indexes
  let reads = 0
  const indexRecords: typeof indexes.indexRecords = async query => {
    if (reads++ === 0) await store.keepIndexes(chain, [], 1)
    return await indexes.indexRecords(query)
  }
  const holdings = new Holdings({ ...store, indexes: { ...indexes, indexRecords } })
  const ask = () => holdings.collectionStats({ chain, contract, atBlock: 1 }, options)
  await store.commitHot({ chain, ancestor: 1, blocks: [], covered: covered[0]!, head: blockOf(1) })
  expect(await ask()).toMatchObject({ complete: false, owners: 0 })
  await store.keepIndexes(chain, ['by_token'], 1)
  while (await store.keepIndexes(chain, undefined, 10));
  expect(await ask()).toMatchObject({ complete: true, owners: 1 })
  await store.close()
})

test('blocks of which a contract was forgotten are not claimed of all contracts', async () => {
  const store = storeOf([rowOf(1, {})])
  store.model.addCoverage(chain, 'transfers', { from: 0, to: 10, evidence: 'bloom' })
  const ask = () => holdingsOf(store).walletStats({ chain, wallet: alice, atBlock: undefined }, options)
  expect(await ask()).toMatchObject({ nfts: 1, complete: true })
  store.forget({ chain, contract })
  expect(await ask()).toMatchObject({ nfts: 0, complete: false, evidence: undefined })
})

test('a chain without a head has nothing', async () => {
  const holdings = holdingsOf(new MemoryStore())
  const owners = await holdings.owners({ ...list, contract, tokenId: 1n }, options)
  expect(owners).toEqual({ block: -1, complete: false, evidence: undefined, rows: [], total: 0, next: undefined })
  expect(await holdings.blockStats({ chain, block: 3 })).toMatchObject({ exists: false, transfers: 0 })
})
