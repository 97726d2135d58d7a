// Known blocks, hot and cold, and finding them by time. Callers hold the transaction.

import { bytesOfHex } from '../../hex.ts'
import type { Block, Hash, Interval } from '../../model.ts'
import { byteaArray, hexTextOf, int4Array, int8Array } from './arrays.ts'
import type { Database, Row, Transaction } from './database.ts'
import { blockMax, requireBlockFits } from './place.ts'
import { correctBlocks } from './runs/transfer-runs.ts'
import type { StoreDatabase } from './store-database.ts'

function blockOf([number, hash, timestamp]: Row): Block {
  return { number: Number(number), hash: hexTextOf<Hash>(hash), timestamp: Number(timestamp) }
}

function columnsOf(blocks: readonly Block[]): [Buffer, Buffer, Buffer] {
  for (const { number } of blocks) requireBlockFits(number)
  const newestFirst = [...blocks].sort((a, b) => b.number - a.number)
  return [
    int4Array(newestFirst.map(block => block.number)),
    int8Array(newestFirst.map(block => block.timestamp)),
    byteaArray(newestFirst.map(block => bytesOfHex(block.hash))),
  ]
}

/**
 * The highest block whose rows are only cold, -1 where none are: those of hot blocks that are final are about to be
 * moved, and then both for a moment.
 */
export const coldEndSql = (chain: string): string => `coalesce((SELECT coalesce(
  (SELECT min(number) - 1 FROM hot_blocks WHERE chain = ordinal AND number <= finalized), finalized)
  FROM chains WHERE ordinal = ${chain}), -1)`

const given = 'unnest($2::int4[], $3::int8[], $4::bytea[]) AS given (number, timestamp, hash)'

/** Rows carry their block's hash and time: correcting a known block corrects its rows. */
export async function putColdBlocks(
  transaction: Transaction,
  ordinal: number,
  blocks: readonly Block[],
): Promise<void> {
  if (blocks.length === 0) return
  const columns = columnsOf(lastOfEach(blocks))
  const corrected = await transaction.query(
    `SELECT number FROM blocks JOIN ${given} USING (number)
     WHERE chain = $1 AND (blocks.hash, blocks.timestamp) <> (given.hash, given.timestamp)`,
    ordinal,
    ...columns,
  )
  await transaction.runCounted(
    `INSERT INTO blocks (chain, number, timestamp, hash) SELECT $1::int4, number, timestamp, hash FROM ${given}
     ON CONFLICT (chain, number) DO UPDATE SET hash = excluded.hash, timestamp = excluded.timestamp
     WHERE (blocks.hash, blocks.timestamp) <> (excluded.hash, excluded.timestamp)`,
    ordinal,
    ...columns,
  )
  if (corrected.length === 0) return
  await transaction.run(
    `UPDATE transfers SET hash = given.hash, timestamp = given.timestamp FROM ${given}
     WHERE contract IN (SELECT id FROM contracts WHERE chain = $1) AND block = given.number
       AND (transfers.hash, transfers.timestamp) <> (given.hash, given.timestamp)`,
    ordinal,
    ...columns,
  )
  const numbers = new Set(corrected.map(([number]) => Number(number)))
  const right = blocks.filter(({ number }) => numbers.has(number))
  await correctBlocks(
    transaction,
    ordinal,
    new Map(right.map(({ number, hash, timestamp }) => [number, { timestamp, hash: bytesOfHex(hash) }])),
  )
}

/** One statement cannot write one row twice. */
function lastOfEach(blocks: readonly Block[]): Block[] {
  return [...new Map(blocks.map(block => [block.number, block])).values()]
}

export async function putHotBlocks(transaction: Transaction, ordinal: number, blocks: readonly Block[]): Promise<void> {
  if (blocks.length === 0) return
  await transaction.run(
    `INSERT INTO hot_blocks (chain, number, timestamp, hash) SELECT $1::int4, number, timestamp, hash FROM ${given}`,
    ordinal,
    ...columnsOf(blocks),
  )
}

/** Those of the intervals that hold a cold block. */
export async function withColdBlocks(
  transaction: Transaction,
  ordinal: number,
  intervals: readonly Interval[],
): Promise<Interval[]> {
  if (intervals.length === 0) return []
  const rows = await transaction.query(
    `SELECT DISTINCT low, high FROM blocks JOIN unnest($2::int4[], $3::int4[]) AS given (low, high)
       ON number BETWEEN low AND high WHERE chain = $1`,
    ordinal,
    int4Array(intervals.map(({ from }) => from)),
    int4Array(intervals.map(({ to }) => to)),
  )
  return rows.map(([from, to]) => ({ from: Number(from), to: Number(to) }))
}

/** Those of the blocks that are known, hot or cold. */
export async function findBlocks(transaction: Transaction, ordinal: number, numbers: number[]): Promise<Block[]> {
  const where = 'WHERE chain = $1 AND number = ANY($2::int4[])'
  const rows = await transaction.query(
    `SELECT number, hash, timestamp FROM blocks ${where} UNION ALL SELECT number, hash, timestamp FROM hot_blocks ${where}`,
    ordinal,
    int4Array(numbers),
  )
  return rows.map(blockOf)
}

export async function lowestBlockOf(
  database: Database,
  ordinal: number,
  { from, to }: Interval,
): Promise<Block | undefined> {
  let lowest: Block | undefined
  // Hot ones first: what becomes final in between is found among the cold ones.
  for (const table of ['hot_blocks', 'blocks']) {
    const find = `SELECT number, hash, timestamp FROM ${table} WHERE chain = $1 AND number BETWEEN $2::int8 AND $3::int8 ORDER BY number LIMIT 1`
    const [row] = await database.read(find, ordinal, from, to)
    if (row !== undefined && Number(row[0]) < (lowest?.number ?? Number.POSITIVE_INFINITY)) lowest = blockOf(row)
  }
  return lowest
}

export async function blockWithHash(
  database: Database,
  ordinal: number,
  hash: Hash,
  { from, to }: Interval,
): Promise<Block | undefined> {
  // Hot ones first: what becomes final in between is found among the cold ones.
  for (const table of ['hot_blocks', 'blocks']) {
    const find = `SELECT number, hash, timestamp FROM ${table} WHERE chain = $1 AND number BETWEEN $2::int8 AND $3::int8 AND hash = $4::bytea LIMIT 1`
    const [row] = await database.read(find, ordinal, from, to, bytesOfHex(hash))
    if (row !== undefined) return blockOf(row)
  }
  return undefined
}

const hotBlocksSql =
  'SELECT number, hash, timestamp FROM hot_blocks JOIN chains ON ordinal = chain WHERE chain = $1 AND number > finalized ORDER BY number'

/** Without those that are final and about to be moved. */
export async function hotBlocksOf(from: Database | Transaction, ordinal: number): Promise<Block[]> {
  const rows = await ('read' in from ? from.read(hotBlocksSql, ordinal) : from.query(hotBlocksSql, ordinal))
  return rows.map(blockOf)
}

export async function dropBlocksAbove(
  transaction: Transaction,
  table: 'blocks' | 'hot_blocks',
  ordinal: number,
  number: number,
): Promise<void> {
  await transaction.run(`DELETE FROM ${table} WHERE chain = $1 AND number > $2`, ordinal, number)
}

/** Of cold blocks. */
export async function dropBlocksWithin(
  transaction: Transaction,
  ordinal: number,
  { from, to }: Interval,
): Promise<void> {
  await transaction.run('DELETE FROM blocks WHERE chain = $1 AND number BETWEEN $2 AND $3', ordinal, from, to)
}

export async function hasHotBlocksAbove(transaction: Transaction, ordinal: number, number: number): Promise<boolean> {
  const find = 'SELECT 1 FROM hot_blocks WHERE chain = $1 AND number > $2 LIMIT 1'
  return (await transaction.query(find, ordinal, number)).length > 0
}

/** Returns the highest of them; -1 where there are none. */
export async function copyBlocksToCold(transaction: Transaction, ordinal: number, upTo: number): Promise<number> {
  const found = await transaction.query(
    'SELECT number, hash, timestamp FROM hot_blocks WHERE chain = $1 AND number <= $2',
    ordinal,
    upTo,
  )
  const blocks = found.map(blockOf)
  await putColdBlocks(transaction, ordinal, blocks)
  return blocks.reduce((highest, { number }) => Math.max(highest, number), -1)
}

/**
 * Timestamps never decrease with the number, so halving the numbers finds the first block at or after a moment: about
 * 30 point reads within one statement, and no index of timestamps.
 */
const halvingSql = `
  WITH RECURSIVE halving (low, high) AS (
    SELECT min(number)::int8, max(number)::int8 + 1 FROM blocks WHERE chain = $1 AND number <= $3
    UNION ALL
    SELECT CASE WHEN found.timestamp < $2 THEN found.number + 1 ELSE low END,
      CASE WHEN found.timestamp < $2 THEN high ELSE middle END
    FROM halving, LATERAL (SELECT (low + high) / 2 AS middle) AS halves, LATERAL (
      SELECT number::int8, timestamp FROM blocks WHERE chain = $1 AND number >= middle ORDER BY number LIMIT 1
    ) AS found
    WHERE low < high
  ), cut (number) AS (SELECT max(low) FROM halving)`
const hotSides = {
  before: '(SELECT * FROM hot_blocks WHERE chain = $1 AND timestamp < $2 ORDER BY number DESC LIMIT 1)',
  after: '(SELECT * FROM hot_blocks WHERE chain = $1 AND timestamp >= $2 ORDER BY number LIMIT 1)',
}
const coldSides = {
  before: '(SELECT * FROM blocks WHERE chain = $1 AND number < (SELECT number FROM cut) ORDER BY number DESC LIMIT 1)',
  after:
    '(SELECT * FROM blocks WHERE chain = $1 AND number >= (SELECT number FROM cut) AND number <= $3 ORDER BY number LIMIT 1)',
}

function sidesSql(...sides: readonly (typeof hotSides)[]): string {
  const nearest = (side: 'before' | 'after', direction: string): string => `SELECT '${side}', number, hash, timestamp
    FROM (SELECT * FROM (${sides.map(of => of[side]).join(' UNION ALL ')}) AS temperatures ORDER BY number ${direction} LIMIT 1) AS ${side}`
  return `${nearest('before', 'DESC')} UNION ALL ${nearest('after', 'ASC')}`
}

const bothAroundSql = `${halvingSql} ${sidesSql(hotSides, coldSides)}`
const coldAroundSql = `${halvingSql} ${sidesSql(coldSides)}`
const hotAroundSql = `SELECT 'end', ${coldEndSql('$1')}, NULL, NULL UNION ALL ${sidesSql(hotSides)}`

type Around = { before: Block | undefined; after: Block | undefined }

export async function blocksAround(store: StoreDatabase, ordinal: number, timestamp: number): Promise<Around> {
  const key = { table: 'blocks', value: ordinal } as const
  if (!store.distributed) return aroundOf(await store.readOf(key, bothAroundSql, ordinal, timestamp, blockMax))
  const readHot = async () => {
    const [[, end] = [], ...rows] = await store.readHere(hotAroundSql, ordinal, timestamp)
    return { rows: aroundOf(rows), coldEnd: Number(end) }
  }
  const readCold = async (end: number) => aroundOf(await store.readOf(key, coldAroundSql, ordinal, timestamp, end))
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  // Cold blocks are below hot ones.
  return { before: hot.before ?? cold.before, after: cold.after ?? hot.after }
}

function aroundOf(rows: readonly Row[]): Around {
  const found: Around = { before: undefined, after: undefined }
  for (const [side, ...row] of rows) found[side as keyof Around] = blockOf(row)
  return found
}
