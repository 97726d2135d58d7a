// Stored cold transfers of a chain in the order of their keys, from the table and from runs, for filling indexes.
// Callers hold the transaction.
import { contractOfKey, positionOfKey, transferKey, transferView } from '../../runs/transfer-view.ts'
import { bytesOf, int4Array } from '../arrays.ts'
import type { Transaction } from '../database.ts'
import { batchIndexOf, boundOf, logIndexOf, transactionIndexOf } from '../place.ts'
import { type ColdRecord, coldPage } from '../runs/cold-pages.ts'
import type { Slots } from '../runs/slots.ts'
import { payloadAt } from '../runs/transfer-runs.ts'
import { wholeBucket } from '../tables.ts'

/** Up to `limit` after a key, and at least one where there is any; `isLast` where none follows them. */
export async function storedTransfersAfter(
  transaction: Transaction,
  { chain, slots }: { chain: number; slots: Slots },
  after: Uint8Array,
  limit: number,
): Promise<{ records: ColdRecord[]; isLast: boolean }> {
  const source = {
    database: { read: transaction.query.bind(transaction) },
    ...{ slots, view: transferView, chain },
    inTable: (rowsMax: number) => rowsInTable(transaction, chain, after, rowsMax),
  }
  return await coldPage(source, { key: after, chain: 0 }, limit)
}

const contractsAtOnce = 1_000
const findContracts = 'SELECT id FROM contracts WHERE chain = $1 AND id >= $2 ORDER BY id LIMIT $3'
/** The kept counts tell which contracts have rows in the table. */
const findCounted = `SELECT contract FROM transfer_counts WHERE contract = ANY($1::int4[]) AND bucket = ${wholeBucket}
  AND stored > 0 ORDER BY contract`
const findRows = `SELECT block, place >> 32, place & 4294967295, payload FROM transfers
  WHERE contract = $1 AND (block, place) < ($2::int8, $3::int8) ORDER BY block DESC, place DESC LIMIT $4`

async function rowsInTable(
  transaction: Transaction,
  chain: number,
  after: Uint8Array,
  limit: number,
): Promise<ColdRecord[]> {
  const begun = contractOfKey(after)
  const records: ColdRecord[] = []
  for (let from = begun; ; ) {
    const ids = (await transaction.query(findContracts, chain, from, contractsAtOnce)).map(([id]) => Number(id))
    for (const [id] of await transaction.query(findCounted, int4Array(ids))) {
      const contract = Number(id)
      const position = positionOfKey(contract === begun ? after : transferKey(contract, newest))
      const { block, place } = boundOf(position)
      const rows = await transaction.query(findRows, contract, block, place, limit - records.length)
      for (const [number, high, low, payload] of rows)
        records.push(recordOf(contract, { block: Number(number), high: Number(high), low: Number(low) }, payload))
      if (records.length >= limit) return records
    }
    if (ids.length < contractsAtOnce) return records
    from = ids.at(-1)! + 1
  }
}

const newest = { block: Infinity, transactionIndex: Infinity, logIndex: Infinity, batchIndex: Infinity }
/** Rows in runs have the time and the hash of their block before the payload. */
const noBlock = Buffer.alloc(payloadAt)

function recordOf(
  contract: number,
  { block, high, low }: { block: number; high: number; low: number },
  payload: string | null | undefined,
): ColdRecord {
  const place = { transactionIndex: transactionIndexOf(high), logIndex: logIndexOf(high, low) }
  const key = transferKey(contract, { block, ...place, batchIndex: batchIndexOf(low) })
  return { key, chain: 0, value: Buffer.concat([noBlock, bytesOf(payload)]) }
}
