// Writing transfers, cold and hot, and the kept counts of the cold ones. Callers hold the transaction.

import { bytesOfHex } from '../../hex.ts'
import type { Address, Block, TransferRow } from '../../model.ts'
import { bucketBlocks } from '../schema.ts'
import { idCountOf, payloadFlags } from '../transfer-payload.ts'
import { byteaArray, int4Array, int8Array, writeInt8 } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import { noNumber } from './dictionary.ts'
import { isUniqueViolation } from './failures.ts'
import { wholeBucket } from './migrations.ts'
import { placeHigh, placeLow, requireFits } from './place.ts'

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

/** A row as the tables hold it. The place is two halves of 32 bits. */
export type StoredRow = {
  contract: number
  block: number
  placeHigh: number
  placeLow: number
  timestamp: number
  hash: Uint8Array
  payload: Uint8Array
}

/** Sorted as the index is: rows inserted in this order are appended within each contract. */
export function storedRows(
  rows: readonly TransferRow[],
  contracts: ReadonlyMap<Address, number>,
  blocks: ReadonlyMap<number, Block>,
): StoredRow[] {
  const hashes = new Map<number, Uint8Array>()
  const stored = rows.map(row => {
    requireFits(row)
    const block = blocks.get(row.block) as Block
    const hash = hashes.get(row.block) ?? bytesOfHex(block.hash)
    hashes.set(row.block, hash)
    const contract = contracts.get(row.contract)
    if (contract === undefined) throw noNumber(`contract ${row.contract}`)
    return {
      contract,
      block: row.block,
      placeHigh: placeHigh(row),
      placeLow: placeLow(row),
      timestamp: block.timestamp,
      hash,
      payload: row.payload,
    }
  })
  return stored.sort(
    (a, b) => a.contract - b.contract || b.block - a.block || b.placeHigh - a.placeHigh || b.placeLow - a.placeLow,
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
 * Returns how many rows were new. Almost always all are, and then COPY is twice as fast as an INSERT that checks: it is
 * tried first, and where the server refuses a stored row, the INSERT follows.
 */
export async function insertCold(transaction: Transaction, rows: readonly StoredRow[]): Promise<number> {
  let added = 0
  for (let at = 0; at < rows.length; at += copiedRowsMax) {
    const some = rows.slice(at, at + copiedRowsMax)
    const sql = `COPY transfers (${columns}) FROM STDIN (FORMAT binary)`
    if (await transaction.copyIn(sql, copyRows(some), isUniqueViolation)) {
      await addToCounts(transaction, countsOf(some))
      added += some.length
    } else added += await insertMissing(transaction, some)
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

async function insertMissing(transaction: Transaction, rows: readonly StoredRow[]): Promise<number> {
  const inserted = await transaction.write(
    `WITH changed AS (INSERT INTO transfers (${columns}) SELECT ${givenColumns} FROM ${given} ON CONFLICT DO NOTHING ${changed}) ${changesSql}`,
    ...columnsOf(rows),
  )
  const changes = inserted.map(changeOf)
  await addToCounts(transaction, changes)
  return changes.reduce((sum, { stored }) => sum + stored, 0)
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

export async function insertHot(transaction: Transaction, ordinal: number, rows: readonly StoredRow[]): Promise<void> {
  if (rows.length === 0) return
  await transaction.run(
    `INSERT INTO hot_transfers (${columns}, chain) SELECT ${givenColumns}, $8::int4 FROM ${given} ON CONFLICT DO NOTHING`,
    ...columnsOf(rows),
    ordinal,
  )
}

export async function copyTransfersToCold(transaction: Transaction, ordinal: number, upTo: number): Promise<void> {
  const copied = await transaction.write(
    `WITH changed AS (INSERT INTO transfers (${columns}) SELECT ${columns} FROM hot_transfers WHERE chain = $1 AND block <= $2
       ORDER BY contract, block DESC, place DESC ON CONFLICT DO NOTHING ${changed}) ${changesSql}`,
    ordinal,
    upTo,
  )
  await addToCounts(transaction, copied.map(changeOf))
}

// Transfers in PostgreSQL's binary COPY format, in pieces of bounded size.

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailer = Buffer.from([0xff, 0xff])
const pieceBytes = 256 * 1024
/** The field count, six lengths, and the fields but for hash and payload. */
const fixedBytes = 2 + 6 * 4 + 4 + 4 + 8 + 8

function* copyRows(rows: readonly StoredRow[]): Generator<Uint8Array> {
  yield signature
  let piece = Buffer.allocUnsafe(pieceBytes)
  let at = 0
  for (const row of rows) {
    const size = fixedBytes + row.hash.length + row.payload.length
    if (at + size > piece.length) {
      yield piece.subarray(0, at)
      piece = Buffer.allocUnsafe(Math.max(pieceBytes, size))
      at = 0
    }
    at = writeRow(piece, row, at)
  }
  yield piece.subarray(0, at)
  yield trailer
}

function writeRow(piece: Buffer, row: StoredRow, start: number): number {
  let at = piece.writeInt16BE(6, start)
  at = piece.writeInt32BE(4, at)
  at = piece.writeInt32BE(row.contract, at)
  at = piece.writeInt32BE(4, at)
  at = piece.writeInt32BE(row.block, at)
  at = piece.writeInt32BE(8, at)
  at = piece.writeInt32BE(row.placeHigh, at)
  at = piece.writeUInt32BE(row.placeLow, at)
  at = piece.writeInt32BE(8, at)
  at = writeInt8(piece, row.timestamp, at)
  for (const bytes of [row.hash, row.payload]) {
    at = piece.writeInt32BE(bytes.length, at)
    piece.set(bytes, at)
    at += bytes.length
  }
  return at
}
