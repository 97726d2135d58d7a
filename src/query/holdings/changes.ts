// What happened to a contract, a token or a wallet within some blocks, as records that folds read. It keeps nothing.
import { hash } from 'node:crypto'
import type { Interval } from '../../model.ts'
import { type IndexReader, type IndexRecords, noRecords } from '../../store/index-reader.ts'
import { byToken, readTokenRecord, tokenIdOfKey, tokenKeyBytes, tokenPlaceAt } from '../../store/indexes/by-token.ts'
import { blockOfPlace } from '../../store/runs/place-key.ts'
import type { TransferReader } from '../../store/store.ts'
import { transfersOfPage } from '../../store/transfer-payload.ts'
import { type ContractSubject, type Subject, spansOf } from './subject.ts'

export type Changes = {
  /** Differs where anything that happened does. */
  stamp: string
  /** In the order of keys; undefined where there are more than was asked for. */
  records: IndexRecords | undefined
}

type Reader = TransferReader & { indexes: IndexReader }
type KeyAndValue = { key: Uint8Array; value: Uint8Array }

const noChanges: Changes = { stamp: '', records: noRecords }

export async function changesOf(store: Reader, subject: Subject, blocks: Interval, max: number): Promise<Changes> {
  if (blocks.to < blocks.from) return noChanges
  const records = await recordsWithin(store, subject, blocks, max)
  if (records === undefined) return { stamp: '', records }
  const { length, keys, values } = records
  return length === 0 ? noChanges : { stamp: hash('sha256', Buffer.concat([keys, values]), 'base64'), records }
}

async function recordsWithin(store: Reader, subject: Subject, blocks: Interval, max: number) {
  if (!('wallet' in subject) && subject.tokenId === undefined) return await contractRecords(store, subject, blocks, max)
  const parts: IndexRecords[] = []
  for (const span of spansOf(subject, blocks)) {
    const records = await store.indexes.indexRecords({ ...span, limit: max + 1 })
    if (records.length > max) return undefined
    parts.push(records)
  }
  if ('wallet' in subject) return parts[0]!
  return recordsOf(parts.flatMap(records => [...tokenRecords(records, subject.tokenId!, blocks)]))
}

/** The index by token has them in the order of ids: those of some blocks are found among the transfers. */
async function contractRecords(
  transfers: TransferReader,
  { chain, contract }: ContractSubject,
  { from, to }: Interval,
  max: number,
): Promise<IndexRecords | undefined> {
  const range = { chain, contract, fromBlock: from, toBlock: to }
  const page = await transfers.transferPage({ ...range, order: 'asc', limit: max + 1 })
  if (page.length === 0) return noRecords
  const rows = page.length > max ? undefined : transfersOfPage(page)
  if (rows === undefined) return undefined
  const found: KeyAndValue[] = []
  for (const row of rows)
    byToken.recordsOf({ ...row, contract: 0 }, (key, value) => {
      found.push({ key: key.slice(-tokenKeyBytes), value: value.slice() })
    })
  return recordsOf(found.sort((a, b) => Buffer.compare(a.key, b.key)))
}

/** Of ranges, which come whatever their block is, those that cover the token. */
function* tokenRecords(records: IndexRecords, tokenId: bigint, { from, to }: Interval): Generator<KeyAndValue> {
  for (let record = 0, start = 0; record < records.length; record++) {
    const end = records.valueEnds[record]!
    const key = records.keys.subarray(record * tokenKeyBytes, (record + 1) * tokenKeyBytes)
    const value = records.values.subarray(start, end)
    start = end
    const block = blockOfPlace(key, tokenPlaceAt)
    const first = tokenIdOfKey(key)
    const isCovered = tokenId >= first && tokenId < first + BigInt(readTokenRecord(value).idCount)
    if (isCovered && block >= from && block <= to) yield { key, value }
  }
}

function recordsOf(found: readonly KeyAndValue[]): IndexRecords {
  let end = 0
  return {
    length: found.length,
    keys: Buffer.concat(found.map(({ key }) => key)),
    values: Buffer.concat(found.map(({ value }) => value)),
    valueEnds: found.map(({ value }) => {
      end += value.length
      return end
    }),
    contracts: noRecords.contracts,
  }
}
