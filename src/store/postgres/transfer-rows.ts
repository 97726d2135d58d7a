// Writing transfers, cold and hot, and the kept counts of the cold ones. Callers hold the transaction.
import { bucketBlocks } from '../schema.ts'
import { idCountOf, payloadFlags } from '../transfer-payload.ts'
import { byteaArray, bytesOf, int4Array, int8Array } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import { isUniqueViolation } from './failures.ts'
import { copyRows, type StoredRow } from './stored-rows.ts'
import { wholeBucket } from './tables.ts'

// Kept counts of cold transfers: for each contract as a whole and for each bucket of blocks. An ERC-2309 range is one
// stored row and as many transfers as it has ids.

export type CountChange = { contract: number; bucket: number; stored: number; transfers: number }

/** The number of transfers of a row, in SQL: the last four bytes of the payload where it is a range. */
export const weightSql = `CASE WHEN get_byte(payload, 0) & ${payloadFlags.range} = 0 THEN 1
  ELSE ('x' || encode(substring(payload FROM octet_length(payload) - 3), 'hex'))::bit(32)::int8 END`

/** Counts of what a writing statement returned under the name `changed`. */
export const changesSql = `SELECT contract, bucket, count(*), sum(weight) FROM changed GROUP BY contract, bucket`

export function changeOf([contract, bucket, stored, transfers]: Row): CountChange {
  return {
    contract: Number(contract),
    bucket: Number(bucket),
    stored: Number(stored),
    transfers: Number(transfers),
  }
}

/** Every process takes rows in one order: two that count for one contract wait and do not deadlock. */
export async function addToCounts(
  transaction: Transaction,
  changes: readonly CountChange[],
  sign: 1 | -1 = 1,
): Promise<void> {
  if (changes.length === 0) return
  const wholes = new Map<number, CountChange>()
  for (const { contract, stored, transfers } of changes) {
    const whole = wholes.get(contract) ?? { contract, bucket: wholeBucket, stored: 0, transfers: 0 }
    wholes.set(contract, { ...whole, stored: whole.stored + stored, transfers: whole.transfers + transfers })
  }
  const all = [...changes, ...wholes.values()].sort((a, b) => a.contract - b.contract || a.bucket - b.bucket)
  await transaction.run(
    `INSERT INTO transfer_counts (contract, bucket, stored, transfers)
     SELECT contract, bucket, $5 * stored, $5 * transfers
     FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[]) AS given (contract, bucket, stored, transfers)
     ON CONFLICT (contract, bucket) DO UPDATE SET stored = transfer_counts.stored + excluded.stored,
       transfers = transfer_counts.transfers + excluded.transfers`,
    int4Array(all.map(change => change.contract)),
    int4Array(all.map(change => change.bucket)),
    int8Array(all.map(change => change.stored)),
    int8Array(all.map(change => change.transfers)),
    sign,
  )
  if (sign === -1)
    await transaction.run(
      'DELETE FROM transfer_counts WHERE contract = ANY($1::int4[]) AND stored = 0',
      int4Array([...wholes.keys()]),
    )
}

const columns = 'contract, block, place, timestamp, hash, payload'
const given = `unnest($1::int4[], $2::int4[], $3::int4[], $4::int8[], $5::int8[], $6::bytea[], $7::bytea[])
  AS given (contract, block, high, low, timestamp, hash, payload)`
const givenColumns = 'contract, block, (high::int8 << 32) | low, timestamp, hash, payload'
const changed = `RETURNING contract, block / ${bucketBlocks} AS bucket, ${weightSql} AS weight`

function columnsOf(rows: readonly StoredRow[]): Buffer[] {
  return [
    int4Array(rows.map(row => row.contract)),
    int4Array(rows.map(row => row.block)),
    int4Array(rows.map(row => row.placeHigh)),
    int8Array(rows.map(row => row.placeLow)),
    int8Array(rows.map(row => row.timestamp)),
    byteaArray(rows.map(row => row.hash)),
    byteaArray(rows.map(row => row.payload)),
  ]
}

/** The rows of one COPY: far less than would make it look stalled. */
const copiedRowsMax = 20_000

/**
 * Returns the rows that were new. Almost always all are, and then COPY is twice as fast as an INSERT that checks: it is
 * tried first, and where the server refuses a stored row, the INSERT follows.
 */
export async function insertCold(transaction: Transaction, rows: readonly StoredRow[]): Promise<StoredRow[]> {
  const added: StoredRow[] = []
  for (let at = 0; at < rows.length; at += copiedRowsMax) {
    const some = rows.slice(at, at + copiedRowsMax)
    const sql = `COPY transfers (${columns}) FROM STDIN (FORMAT binary)`
    const isCopied = await transaction.copyIn(sql, copyRows(some), isUniqueViolation)
    const inserted = isCopied ? some : await insertMissing(transaction, 'transfers', some)
    await addToCounts(transaction, countsOf(inserted))
    added.push(...inserted)
  }
  return added
}

function countsOf(rows: readonly StoredRow[]): CountChange[] {
  const changes: CountChange[] = []
  let open: CountChange | undefined
  for (const { contract, block, payload } of rows) {
    const bucket = Math.floor(block / bucketBlocks)
    if (open?.contract !== contract || open.bucket !== bucket) {
      open = { contract, bucket, stored: 0, transfers: 0 }
      changes.push(open)
    }
    open.stored += 1
    open.transfers += idCountOf(payload)
  }
  return changes
}

/** Of rows at one place the first counts. */
async function insertMissing(
  transaction: Transaction,
  table: 'transfers' | 'hot_transfers',
  rows: readonly StoredRow[],
  ordinal?: number,
): Promise<StoredRow[]> {
  const ofChain = ordinal === undefined ? ['', ''] : [', chain', ', $8::int4']
  const inserted = await transaction.write(
    `INSERT INTO ${table} (${columns}${ofChain[0]}) SELECT ${givenColumns}${ofChain[1]} FROM ${given}
     ON CONFLICT DO NOTHING RETURNING contract, block, place >> 32, place & 4294967295`,
    ...columnsOf(rows),
    ...(ordinal === undefined ? [] : [ordinal]),
  )
  const places = new Set(inserted.map(row => row.join()))
  return rows.filter(row => places.delete([row.contract, row.block, row.placeHigh, row.placeLow].join()))
}

/** Deletes cold rows of contracts or of a whole chain, and subtracts them from the counts. Returns how many. */
export async function deleteCold(
  transaction: Transaction,
  of: { contract: number } | { contracts: readonly number[] } | { ordinal: number },
  { from, to }: { from: number; to: number },
): Promise<number> {
  const [whose, which] =
    'contract' in of
      ? ['contract = $1', of.contract]
      : 'contracts' in of
        ? ['contract = ANY($1::int4[])', int4Array(of.contracts)]
        : ['contract IN (SELECT id FROM contracts WHERE chain = $1)', of.ordinal]
  const deleted = await transaction.write(
    `WITH changed AS (DELETE FROM transfers WHERE ${whose} AND block BETWEEN $2::int8 AND $3::int8 ${changed}) ${changesSql}`,
    which,
    from,
    to,
  )
  const changes = deleted.map(changeOf)
  await addToCounts(transaction, changes, -1)
  return changes.reduce((sum, { stored }) => sum + stored, 0)
}

/** Which of the contracts have rows, hot or cold. Citus cannot look for one row of each: there the counts tell. */
export async function withRows(
  { database, distributed }: { database: Database; distributed: boolean },
  contracts: readonly number[],
): Promise<ReadonlySet<number>> {
  const hot = 'SELECT DISTINCT contract FROM hot_transfers WHERE contract = ANY($1::int4[])'
  const byCounts = `SELECT contract FROM transfer_counts WHERE contract = ANY($1::int4[]) AND bucket = ${wholeBucket} AND stored > 0`
  const byRows = `SELECT id FROM unnest($1::int4[]) AS id WHERE EXISTS (SELECT 1 FROM transfers WHERE contract = id)`
  // Hot ones first: what becomes final in between is found among the cold ones.
  const found = await database.read(hot, int4Array(contracts))
  found.push(...(await database.read(distributed ? byCounts : byRows, int4Array(contracts))))
  return new Set(found.map(([contract]) => Number(contract)))
}

/** Returns the rows that were new. */
export async function insertHot(
  transaction: Transaction,
  ordinal: number,
  rows: readonly StoredRow[],
): Promise<StoredRow[]> {
  return rows.length === 0 ? [] : await insertMissing(transaction, 'hot_transfers', rows, ordinal)
}

/** In the order of `storedRows`. */
export async function hotRowsUpTo(transaction: Transaction, ordinal: number, upTo: number): Promise<StoredRow[]> {
  const rows = await transaction.query(
    `SELECT contract, block, place >> 32, place & 4294967295, timestamp, hash, payload FROM hot_transfers
     WHERE chain = $1 AND block <= $2 ORDER BY contract, block DESC, place DESC`,
    ordinal,
    upTo,
  )
  return rows.map(([contract, block, high, low, timestamp, hash, payload]) => ({
    ...{ contract: Number(contract), block: Number(block), placeHigh: Number(high), placeLow: Number(low) },
    ...{ timestamp: Number(timestamp), hash: bytesOf(hash), payload: bytesOf(payload) },
  }))
}
