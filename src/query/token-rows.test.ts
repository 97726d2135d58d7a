import { expect, test } from 'vitest'
import type { Address, ChainId } from '../model.ts'
import { emptyPage, type IndexQuery, type IndexReader, type IndexRecords, noRecords } from '../store/index-reader.ts'
import { tokenKey, tokenKinds } from '../store/indexes/by-token.ts'
import { firstPage } from './cursor.ts'
import { Mints } from './holdings/mints.ts'
import { coveringRanges } from './index-places.ts'
import { tokenRows } from './token-rows.ts'

const token = { chain: 1 as ChainId, contract: `0x${'a'.repeat(40)}` as Address, tokenId: 7n }
const question = { ...firstPage, chain: token.chain, list: 'token-transfers', subject: '', filter: '' } as const

/** As many records as are asked for, of one kind. */
function readerOf(kind: number): IndexReader {
  const made = new Map<number, IndexRecords>()
  const indexRecords = async ({ from, limit }: IndexQuery) => {
    if (from[0] !== kind) return noRecords
    const known = made.get(limit)
    if (known !== undefined) return known
    const keys = Buffer.concat(
      Array.from({ length: limit }, (_, at) =>
        tokenKey(kind, token.tokenId, { block: limit - at, transactionIndex: 0, logIndex: 0, batchIndex: 0 }),
      ),
    )
    // An ERC-721 transfer between two addresses.
    const values = Buffer.alloc(limit * 41)
    const valueEnds = Array.from({ length: limit }, (_, at) => (at + 1) * 41)
    const records = { length: limit, keys, values, valueEnds, contracts: new Map() }
    made.set(limit, records)
    return records
  }
  return { indexRecords, transfersAt: async () => ({ ...emptyPage, contracts: [] }) } as unknown as IndexReader
}

test('a page whose rows all went since their records were read is not the last one', async () => {
  const rows = await tokenRows(readerOf(tokenKinds.single), token, { ...question, order: 'desc', limit: 3 })
  expect([rows.length, rows.more, rows.last?.block]).toEqual([0, true, 1])
})

test('a contract with more ranges than one request looks at is refused', async () => {
  const found = coveringRanges(readerOf(tokenKinds.range), token)
  await expect(found).rejects.toMatchObject({ code: 'answer_too_large' })
})

test('and what was minted is not told there, in one read', async () => {
  const reader = readerOf(tokenKinds.range)
  let reads = 0
  const indexRecords: IndexReader['indexRecords'] = query => {
    reads++
    return reader.indexRecords(query)
  }
  const looks: Pick<IndexReader, 'rowState' | 'oldestOfTokens'> = {
    rowState: async () => ({ takenBack: 0, filled: 0, indexes: [] }),
    oldestOfTokens: async (_, tokens) => ({
      records: tokens.map(() => undefined),
      withRanges: new Set(tokens.map(each => each.contract)),
    }),
  }
  const mints = new Mints({ ...reader, ...looks, indexRecords })
  expect(await mints.of(token.chain, [token], 10)).toEqual([undefined])
  expect(reads).toBeLessThan(4)
})
