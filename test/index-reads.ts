// Indexes of a store as they are read, compared with the transfers that it holds, whichever engine it is: every record in
// both orders, page by page, the oldest one of every token, and every transfer by its place.
import { expect } from 'vitest'
import type { Address, ChainId } from '../src/model.ts'
import type { IndexRecords } from '../src/store/index-reader.ts'
import { indexViews } from '../src/store/indexes/all-indexes.ts'
import { byToken, tokenIdOfKey, tokenKinds, tokenPlaceAt } from '../src/store/indexes/by-token.ts'
import type { IndexView } from '../src/store/runs/view.ts'
import type { Store } from '../src/store/store.ts'
import { rowsOf } from './store-rows.ts'

/** As text, with the address for the number of a contract, which differs between stores. */
export type ShownRecord = { key: string; value: string }

function shown(
  index: IndexView,
  key: Uint8Array,
  value: Uint8Array,
  addressOf: (number: number) => Address | undefined,
): ShownRecord {
  const bytes = Buffer.from(value)
  const at = index.contractAt
  const address = at === undefined ? '' : addressOf(bytes.readUInt32BE(at))
  if (at !== undefined) bytes.fill(0, at, at + 4)
  return { key: Buffer.from(key).toString('hex'), value: `${bytes.toString('hex')} ${address}` }
}

/** Keys are read without the number of the contract that those by token are asked for. */
export function keyBytesOf(index: IndexView): number {
  return index.keyBytes - (index.keysBeginWith === 'contract' ? 4 : 0)
}

export function shownRecords(index: IndexView, records: IndexRecords): ShownRecord[] {
  const keyBytes = keyBytesOf(index)
  const { length, keys, values, valueEnds, contracts } = records
  expect(keys.length).toBe(length * keyBytes)
  expect(values.length).toBe(valueEnds.at(-1) ?? 0)
  return Array.from({ length }, (_, record) => {
    const value = values.subarray(valueEnds[record - 1] ?? 0, valueEnds[record])
    return shown(index, keys.subarray(record * keyBytes, (record + 1) * keyBytes), value, each => contracts.get(each))
  })
}

/** While an index is filled it may lack some records, and one that is not kept has none. */
export async function compareIndexes(
  store: Store,
  chain: ChainId,
  contracts: readonly Address[],
  limit: number,
): Promise<void> {
  const states = new Map((await store.indexes.rowState(chain)).indexes.map(state => [state.index, state]))
  const tokens = states.get('by_token')
  if (tokens?.filled !== false) await compareOldest(store, chain, contracts, tokens !== undefined)
  for (const index of indexViews) {
    const state = states.get(index.name)
    for (const contract of index.keysBeginWith === 'contract' ? contracts : [undefined]) {
      const whose = contract === undefined ? contracts : [contract]
      const expected = state === undefined ? [] : await expectedRecords(store, chain, index, whose)
      if (state === undefined || state.filled) await compareRecords(store, { chain, index, contract, limit }, expected)
      else
        expect(expected).toEqual(
          expect.arrayContaining(await recordsInPages(store, { chain, index, contract, limit }, 'keys')),
        )
    }
  }
}

async function expectedRecords(
  store: Store,
  chain: ChainId,
  index: IndexView,
  contracts: readonly Address[],
): Promise<ShownRecord[]> {
  const records: ShownRecord[] = []
  for (const [at, contract] of contracts.entries()) {
    const page = rowsOf(await store.transferPage({ chain, contract, order: 'desc', limit: 100_000 }))
    for (const { payload, ...row } of page)
      index.recordsOf({ ...row, contract: at, payload: Buffer.from(payload, 'hex') }, (key, value) =>
        records.push(shown(index, key.subarray(index.keysBeginWith === 'contract' ? 4 : 0), value, () => contract)),
      )
  }
  return records.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** Of all tokens of all contracts at once, some twice, and of some that have no transfer. */
async function compareOldest(
  store: Store,
  chain: ChainId,
  contracts: readonly Address[],
  isKept: boolean,
): Promise<void> {
  const tokens: { contract: Address; tokenId: bigint }[] = []
  const expected: (ShownRecord | undefined)[] = []
  const withRanges: Address[] = []
  for (const contract of contracts) {
    const records = isKept ? await expectedRecords(store, chain, byToken, [contract]) : []
    const isOf = (record: ShownRecord, kind: number) => Buffer.from(record.key, 'hex')[0] === kind
    if (records.some(record => isOf(record, tokenKinds.range))) withRanges.push(contract)
    const ids = records.map(({ key }) => tokenIdOfKey(Buffer.from(key, 'hex')))
    for (const tokenId of [...ids, 2n ** 256n - 1n, 0n]) {
      tokens.push({ contract, tokenId })
      const at = ids.findLastIndex((id, each) => id === tokenId && isOf(records[each]!, tokenKinds.single))
      expected.push(records[at])
    }
  }
  const { records: found, withRanges: marked } = await store.indexes.oldestOfTokens(chain, tokens, contracts)
  expect(
    found.map(
      record =>
        record && { key: Buffer.from(record.place).toString('hex'), value: Buffer.from(record.value).toString('hex') },
    ),
  ).toEqual(
    expected.map(record => record && { key: record.key.slice(2 * tokenPlaceAt), value: record.value.trimEnd() }),
  )
  for (const contract of withRanges) expect(marked).toContain(contract)
  if (!isKept) expect(marked.size).toBe(0)
}

type Asked = { chain: ChainId; index: IndexView; contract: Address | undefined; limit: number }

function queryOf({ chain, index, contract, limit }: Asked) {
  const [from, to] = [new Uint8Array(keyBytesOf(index)), new Uint8Array(keyBytesOf(index)).fill(0xff)]
  return { chain, index: index.name, ...(contract === undefined ? {} : { contract }), from, to, limit }
}

async function recordsInPages(store: Store, asked: Asked, order: 'keys' | 'back'): Promise<ShownRecord[]> {
  const found: ShownRecord[] = []
  for (let after: Uint8Array | undefined; ; ) {
    const records = await store.indexes.indexRecords({ ...queryOf(asked), order, after })
    found.push(...shownRecords(asked.index, records))
    if (records.length < asked.limit) return found
    after = records.keys.subarray(-keyBytesOf(asked.index))
  }
}

async function compareRecords(store: Store, asked: Asked, expected: readonly ShownRecord[]): Promise<void> {
  expect(await recordsInPages(store, asked, 'keys')).toEqual(expected)
  expect(await recordsInPages(store, asked, 'back')).toEqual(expected.toReversed())
  const [low, high] = [0.3, 0.7].map(part => expected[Math.floor(expected.length * part)]?.key)
  if (low === undefined || high === undefined) return
  const span = { from: Buffer.from(low, 'hex'), to: Buffer.from(high, 'hex') }
  const within = await store.indexes.indexRecords({ ...queryOf(asked), ...span, order: 'keys', limit: 100_000 })
  expect(shownRecords(asked.index, within)).toEqual(expected.filter(({ key }) => key >= low && key <= high))
}

/** In an order of their own, with a place that has none. */
export async function compareTransfersAt(store: Store, chain: ChainId, contracts: readonly Address[]): Promise<void> {
  const all: { contract: Address; row: ReturnType<typeof rowsOf>[number] }[] = []
  for (const contract of contracts)
    for (const row of rowsOf(await store.transferPage({ chain, contract, order: 'asc', limit: 100_000 })))
      all.push({ contract, row })
  all.sort((a, b) => (a.row.payload < b.row.payload ? -1 : 1))
  const places = all.map(({ contract, row: { block, transactionIndex, logIndex, batchIndex } }) => ({
    ...{ contract, block, transactionIndex, logIndex, batchIndex },
  }))
  const missing = { contract: contracts[0]!, block: 3, transactionIndex: 999, logIndex: 999, batchIndex: 0 }
  const page = await store.indexes.transfersAt(chain, [missing, ...places])
  expect(page.contracts).toEqual(all.map(({ contract }) => contract))
  expect(rowsOf(page)).toEqual(all.map(({ row }) => row))
}
