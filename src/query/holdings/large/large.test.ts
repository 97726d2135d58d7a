import { expect, test } from 'vitest'
import { HoldingsModel } from '../../../../test/holdings-model.ts'
import { alice, blockOf, bob, chain, contract, rowOf, storeOf } from '../../../../test/ten-final-blocks.ts'
import { linesOf, lowBounds, WholeLists } from '../../../../test/whole-holdings.ts'
import { addressStream, nftStream } from '../../../api/evm/holding-streams.ts'
import { type Address, type TransferRow, zeroAddress } from '../../../model.ts'
import { noActivity } from '../../../store/packed-activity.ts'
import { unpackTransfer } from '../../../store/transfer-payload.ts'
import { Claims } from '../../claims.ts'
import { Holdings } from '../holdings.ts'
import type { HoldingsOptions } from '../questions.ts'

const options: HoldingsOptions = {
  key: { id: 'test' } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
}
const shown = { dialect: 'live', format: 'decimal', normalizeMetadata: false, shape: 'owner' } as const
const noTokens = { withStored: async () => new Set<Address>(), stored: async () => [] }
const walletOf = (number: number) => `0x${(number * 7_919).toString(16).padStart(6, '0')}${'5'.repeat(34)}` as Address

const modelOf = (rows: readonly TransferRow[]) =>
  new HoldingsModel(
    rows.map(({ payload, ...place }) => ({ ...place, ...unpackTransfer(payload) })),
    10,
  )

test('a token with more holders than a part, between others and within a range', async () => {
  const edition = { standard: 'ERC1155', tokenId: 7n } as const
  const rows = [
    rowOf(1, { tokenId: 2n, idCount: 8, to: bob }),
    ...Array.from({ length: 300 }, (_, logIndex) => ({
      ...rowOf(2, { ...edition, to: walletOf(logIndex % 250), amount: 2n ** 60n }),
      logIndex,
    })),
    ...Array.from({ length: 40 }, (_, logIndex) => ({
      ...rowOf(3, { ...edition, from: walletOf(logIndex), to: zeroAddress, amount: 2n ** (logIndex % 3 ? 60n : 61n) }),
      logIndex,
    })),
    ...Array.from({ length: 100 }, (_, at) => ({
      ...rowOf(4, { tokenId: BigInt(at * 5), to: walletOf(at) }),
      logIndex: at,
    })),
    { ...rowOf(5, { ...edition, tokenId: 8n, to: alice }), logIndex: 1 },
  ].filter(({ payload }, at) => at < 341 || unpackTransfer(payload).tokenId !== 5n)
  const lists = new WholeLists(storeOf(rows).reads(), chain)
  await lists.compareContract(modelOf(rows), contract, 10)
})

test('a wallet with more tokens than a part, with ranges', async () => {
  const rows = [
    rowOf(1, { tokenId: 20n, idCount: 30 }),
    ...Array.from({ length: 120 }, (_, logIndex) => ({ ...rowOf(2, { tokenId: BigInt(logIndex * 2) }), logIndex })),
    ...Array.from({ length: 40 }, (_, logIndex) => ({
      ...rowOf(3, { tokenId: BigInt(logIndex * 3), from: alice, to: bob }),
      logIndex,
    })),
    { ...rowOf(4, { tokenId: 4n, idCount: 3, from: bob }), logIndex: 1 },
    { ...rowOf(4, { tokenId: 2n ** 200n }), logIndex: 2 },
  ]
  const lists = new WholeLists(storeOf(rows).reads(), chain)
  for (const wallet of [alice, bob]) await lists.compareWallet(modelOf(rows), wallet, 10)
})

test.each(['before its first row', 'in the middle'])(
  'a list is cut by a reorganisation and by rows that are taken away %s',
  async moment => {
    const rows = Array.from({ length: 40 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at }))
    const changes = [
      (store: ReturnType<typeof storeOf>) => {
        const hot = [{ ...blockOf(10), hash: `0x${'1'.repeat(64)}` as const, transfers: [], activity: noActivity }]
        store.commitHot({ chain, ancestor: 9, blocks: hot as never, head: blockOf(10) })
      },
      (store: ReturnType<typeof storeOf>) => store.dropRange(chain, 'full', { from: 1, to: 1 }),
    ]
    for (const bounds of [lowBounds, {}])
      for (const change of [() => {}, ...changes]) {
        const store = storeOf(rows)
        const reads = store.reads()
        const streams = new Holdings(reads, bounds).streams(noTokens)
        const question = { chain, contract, tokenId: undefined, atBlock: undefined }
        const { batches } = await nftStream(streams.owners(question, options), shown)
        const list = batches[Symbol.asyncIterator]()
        if (moment === 'in the middle') {
          const { rows: count, lines } = (await list.next()).value!
          lines.release()
          expect(count).toBeGreaterThan(0)
        }
        change(store)
        const rest = linesOf({ batches: { [Symbol.asyncIterator]: () => list } } as never)
        if (changes.includes(change)) await expect(rest).rejects.toMatchObject({ code: 'stream_cut' })
        else await rest
      }
  },
)

test('a list is cut where its index was left, also within the turn in which claims are kept', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at }))
  for (const bounds of [lowBounds, {}]) {
    const reads = storeOf(rows).reads()
    let isLeft = false
    const rowState: typeof reads.indexes.rowState = async asked => {
      const state = await reads.indexes.rowState(asked)
      return isLeft ? { ...state, indexes: [] } : state
    }
    const indexes = { ...reads.indexes, rowState }
    const claims = new Claims({ ...reads, indexes }, () => 1)
    const streams = new Holdings({ ...reads, indexes }, { ...bounds, claims }).streams(noTokens)
    const question = { chain, contract, tokenId: undefined, atBlock: undefined }
    const list = await nftStream(streams.owners(question, options), shown)
    isLeft = true
    await expect(linesOf(list)).rejects.toMatchObject({ code: 'stream_cut' })
    // Begun later, nothing is claimed of it.
    expect(await streams.owners(question, options)).toMatchObject({ complete: false })
  }
})

test('some lists in parts are made at once, of one key fewer, and more are refused until one ends', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at }))
  const reads = storeOf(rows).reads()
  // A list takes a quarter of the bound.
  const bounds = { ...lowBounds, bytesMax: 32 * lowBounds.partBytes }
  const streams = new Holdings(reads, bounds).streams(noTokens)
  const begin = async (key = 'one') => {
    const question = { chain, contract, tokenId: undefined, atBlock: undefined }
    const list = await nftStream(streams.owners(question, { ...options, key: { id: key } as never }), shown)
    const iterator = list.batches[Symbol.asyncIterator]()
    ;(await iterator.next()).value!.lines.release()
    return iterator
  }
  const [first] = [await begin(), await begin()]
  await expect(begin()).rejects.toMatchObject({ code: 'rate_limited' })
  await begin('two')
  await expect(begin('two')).rejects.toMatchObject({ code: 'overloaded' })
  await expect(begin('three')).rejects.toMatchObject({ code: 'overloaded' })
  await first!.return!()
  await begin('three')
})

test('pages of what is too large are refused, and counts of its head are kept as of their block', async () => {
  const rows = Array.from({ length: 100 }, (_, at) => ({
    ...rowOf(1, { tokenId: BigInt(at), to: walletOf(at) }),
    logIndex: at,
  }))
  const store = storeOf(rows)
  const reads = store.reads()
  let recordReads = 0
  const indexRecords: typeof reads.indexes.indexRecords = query => {
    recordReads++
    return reads.indexes.indexRecords(query)
  }
  const holdings = new Holdings({ ...reads, indexes: { ...reads.indexes, indexRecords } }, lowBounds)
  const page = { chain, contract, atBlock: undefined, after: undefined, limit: 10, countTotal: false }
  await expect(holdings.owners({ ...page, tokenId: undefined }, options)).rejects.toMatchObject({
    code: 'list_too_large',
  })
  const stats = (atBlock?: number) => holdings.collectionStats({ chain, contract, atBlock }, options)
  expect(await stats()).toMatchObject({ tokens: 100, owners: 100, block: 10, complete: true })
  const moved = [{ ...blockOf(11), transfers: [rowOf(11, { tokenId: 1n, to: walletOf(2) })], activity: noActivity }]
  const covered = { scope: contract, from: 11, evidence: 'bloom' } as const
  store.commitHot({ chain, ancestor: 10, blocks: moved, covered, head: blockOf(11) })
  recordReads = 0
  expect(await stats()).toMatchObject({ owners: 100, block: 10 })
  expect(recordReads).toBe(0)
  expect(await stats(11)).toMatchObject({ owners: 99, block: 11 })
  const { batches } = await addressStream(
    holdings.streams(noTokens).uniqueOwners({ chain, contract, atBlock: undefined }, options),
  )
  expect(await linesOf({ batches } as never)).toHaveLength(99)
})

test('an index that is left while parts are read makes no list whole and no count complete', async () => {
  const store = storeOf(Array.from({ length: 40 }, (_, at) => ({ ...rowOf(1, { tokenId: BigInt(at) }), logIndex: at })))
  const reads = store.reads()
  let filled = true
  const indexes: typeof reads.indexes = {
    ...reads.indexes,
    rowState: async asked => ({ ...(await reads.indexes.rowState(asked)), indexes: [{ index: 'by_token', filled }] }),
    indexRecords: query => {
      filled = false
      store.commitHot({ chain, ancestor: 10, blocks: [], head: blockOf(10) })
      return reads.indexes.indexRecords(query)
    },
  }
  const holdings = new Holdings({ ...reads, indexes }, lowBounds)
  const question = { chain, contract, atBlock: undefined }
  expect(await holdings.collectionStats(question, options)).toMatchObject({ tokens: 40, complete: false })
  filled = true
  store.commitHot({ chain, ancestor: 10, blocks: [], head: blockOf(10) })
  const { complete, ...list } = await addressStream(holdings.streams(noTokens).uniqueOwners(question, options))
  expect(complete).toBe(true)
  await expect(linesOf(list as never)).rejects.toMatchObject({ code: 'stream_cut' })
})
