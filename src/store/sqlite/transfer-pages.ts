// Reading transfers: pages as columns, and counts. A page is one or two statements, never one for each row.
import type { Position } from '../../model.ts'
import { bucketBlocks } from '../schema.ts'
import {
  emptyPage,
  type TransferPage,
  type TransferPageQuery,
  type TransferRange,
  type TransferReader,
} from '../store.ts'
import { idCountOf } from '../transfer-payload.ts'
import type { Connection, Row } from './connection.ts'
import { blockKeySpan } from './migrations.ts'
import type { StoreFile } from './store-file.ts'
import { isRangeSql } from './transfer-rows.ts'

const blockMax = blockKeySpan - 1

/** `whole`: the cold rows of a contract that has no hot ones; nothing of another. */
type Part = 'hot' | 'cold' | 'whole'
type Order = TransferPageQuery['order']

// group_concat turns a page into three values, because node:sqlite pays for each value that it hands over (measured: 69
// µs against 180 µs for 100 rows of 5 columns). It keeps NUL bytes. CROSS JOIN fixes the order of the tables. There is
// one bound on each side, because SQLite may search by a second one and walk from there to the page. With a bare
// parameter as the limit SQLite plans the statement again at each call: 200 µs a page instead of 155.
function pageSql(table: '' | 'hot_', order: Order, condition = ''): string {
  const direction = order === 'asc' ? 'ASC' : 'DESC'
  const [beyond, within] = order === 'asc' ? ['>', '<='] : ['<', '>=']
  const numbers = numberColumns.map(column => `group_concat(${column}) || ','`).join(' || ')
  return `SELECT CAST(${numbers} AS BLOB), CAST(group_concat(hash, '') AS BLOB), CAST(group_concat(payload, '') AS BLOB)
    FROM (SELECT ${numberColumns.join()}, hash, payload
      FROM ${table}transfers CROSS JOIN ${table}blocks ON key = ?1 - block
      WHERE contract = ?2 AND (block, tx, log, pos) ${beyond} (?3, ?4, ?5, ?6) AND block ${within} ?7 ${condition}
      ORDER BY block ${direction}, tx ${direction}, log ${direction}, pos ${direction} LIMIT ?8 + 0)`
}

const numberColumns = ['block', 'tx', 'log', 'pos', 'timestamp']

/** Most contracts have no hot rows most of the time; then this one statement is the page. */
const unlessHot = 'AND NOT EXISTS (SELECT 1 FROM hot_transfers WHERE contract = ?2)'

const sql: Record<Part, Record<Order, string>> = {
  hot: { asc: pageSql('hot_', 'asc'), desc: pageSql('hot_', 'desc') },
  cold: { asc: pageSql('', 'asc'), desc: pageSql('', 'desc') },
  whole: { asc: pageSql('', 'asc', unlessHot), desc: pageSql('', 'desc', unlessHot) },
}

/** Where the page starts, exclusive: the given position, or the edge of the range if that comes later. */
function startOf({ order, after, fromBlock = 0, toBlock = blockMax }: TransferPageQuery): Position {
  const outside = { transactionIndex: -1, logIndex: -1, batchIndex: -1 }
  if (order === 'asc') return after === undefined || after.block < fromBlock ? { ...outside, block: fromBlock } : after
  return after === undefined || after.block > toBlock ? { ...outside, block: toBlock + 1 } : after
}

function transferPage(
  connection: Connection,
  ordinal: number,
  contract: number,
  query: TransferPageQuery,
): TransferPage {
  const { order, fromBlock = 0, toBlock = blockMax } = query
  const { block, transactionIndex, logIndex, batchIndex } = startOf(query)
  const keyBase = ordinal * blockKeySpan + blockKeySpan - 1
  const end = order === 'asc' ? toBlock : fromBlock
  const read = (part: Part, limit: number): TransferPage => {
    if (limit <= 0) return emptyPage
    const start = [keyBase, contract, block, transactionIndex, logIndex, batchIndex]
    const row = connection.get(sql[part][order], ...start, end, limit) as Row
    return row[0] === null ? emptyPage : pageOf(row as Uint8Array[])
  }
  // Rows that become hot or final after this look may be missed or found: a page of either moment is right.
  const whole = read('whole', query.limit)
  if (whole.length > 0) return whole
  // Both temperatures in one snapshot: a finalize between the two reads would hide or repeat rows.
  return connection.snapshot(() => {
    const [first, second]: Part[] = order === 'desc' ? ['hot', 'cold'] : ['cold', 'hot']
    const begun = read(first!, query.limit)
    const rest = read(second!, query.limit - begun.length)
    return rest.length === 0 ? begun : begun.length === 0 ? rest : joinPages([begun, rest])
  })
}

function pageOf(row: readonly Uint8Array[]): TransferPage {
  const [numbers, blockHashes, payloads] = row as [Uint8Array, Uint8Array, Uint8Array]
  const length = blockHashes.length / 32
  const reader = { text: numbers, at: 0 }
  return {
    length,
    blocks: nextColumn(reader, length),
    transactionIndexes: nextColumn(reader, length),
    logIndexes: nextColumn(reader, length),
    batchIndexes: nextColumn(reader, length),
    timestamps: nextColumn(reader, length),
    blockHashes,
    payloads,
  }
}

const zero = 48

/** Integers, each with a comma after it. Splitting texts and reading the pieces takes four times as long. */
function nextColumn(reader: { text: Uint8Array; at: number }, length: number): number[] {
  const { text } = reader
  const column = new Array<number>(length)
  let at = reader.at
  for (let row = 0; row < length; row++) {
    let value = 0
    for (let byte = text[at++]!; byte >= zero; byte = text[at++]!) value = value * 10 + byte - zero
    column[row] = value
  }
  reader.at = at
  return column
}

function joinPages(parts: readonly TransferPage[]): TransferPage {
  return {
    length: parts.reduce((sum, part) => sum + part.length, 0),
    blocks: parts.flatMap(part => part.blocks),
    transactionIndexes: parts.flatMap(part => part.transactionIndexes),
    logIndexes: parts.flatMap(part => part.logIndexes),
    batchIndexes: parts.flatMap(part => part.batchIndexes),
    timestamps: parts.flatMap(part => part.timestamps),
    blockHashes: Buffer.concat(parts.map(part => part.blockHashes)),
    payloads: Buffer.concat(parts.map(part => part.payloads)),
  }
}

/** Whole buckets come from the kept counts; only the two edges and the hot rows are scanned. */
function transferCount(connection: Connection, contract: number, range: TransferRange): number {
  const from = Math.max(range.fromBlock ?? 0, 0)
  const to = Math.min(range.toBlock ?? blockMax, blockMax)
  if (from > to) return 0
  return connection.snapshot(() => {
    const facts = connection.get('SELECT transfers, has_ranges FROM contracts WHERE id = ?', contract) as Row
    const scan = { connection, contract, hasRanges: facts[1] === 1 }
    const hot = countRows(scan, 'hot_transfers', from, to)
    if (from === 0 && to === blockMax) return hot + (facts[0] as number)
    return hot + countCold(scan, from, to)
  })
}

type Scan = { connection: Connection; contract: number; hasRanges: boolean }

function countCold(scan: Scan, from: number, to: number): number {
  const firstBucket = Math.floor(from / bucketBlocks)
  const lastBucket = Math.floor(to / bucketBlocks)
  const kept = scan.connection.get(
    'SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = ? AND bucket BETWEEN ? AND ?',
    scan.contract,
    firstBucket,
    lastBucket,
  ) as Row
  const below = countEdge(scan, firstBucket, { from: firstBucket * bucketBlocks, to: from - 1 })
  const above = countEdge(scan, lastBucket, { from: to + 1, to: (lastBucket + 1) * bucketBlocks - 1 })
  return (kept[0] as number) - below - above
}

/** Counts the part of a bucket outside of the range, by scanning the side with fewer blocks. */
function countEdge(scan: Scan, bucket: number, part: { from: number; to: number }): number {
  if (part.from > part.to) return 0
  const start = bucket * bucketBlocks
  const end = start + bucketBlocks - 1
  if (part.to - part.from < bucketBlocks / 2) return countRows(scan, 'transfers', part.from, part.to)
  const kept = scan.connection.get(
    'SELECT transfers FROM transfer_counts WHERE contract = ? AND bucket = ?',
    scan.contract,
    bucket,
  )
  if (kept === undefined) return 0
  const rest = part.from === start ? { from: part.to + 1, to: end } : { from: start, to: part.from - 1 }
  return (kept[0] as number) - countRows(scan, 'transfers', rest.from, rest.to)
}

function countRows(scan: Scan, table: 'transfers' | 'hot_transfers', from: number, to: number): number {
  const { connection, contract, hasRanges } = scan
  const where = `FROM ${table} WHERE contract = ? AND block BETWEEN ? AND ?`
  const row = connection.get(`SELECT count(*) ${where}`, contract, from, to) as Row
  let count = row[0] as number
  if (!hasRanges) return count
  for (const [payload] of connection.all(`SELECT payload ${where} AND ${isRangeSql}`, contract, from, to))
    count += idCountOf(payload as Uint8Array) - 1
  return count
}

export function transferReader(file: StoreFile): TransferReader {
  return {
    transferPage: async query =>
      file.ofContract(query, emptyPage, (read, ordinal, number) => transferPage(read, ordinal, number, query)),
    transferCount: async range =>
      file.ofContract(range, 0, (read, _ordinal, number) => transferCount(read, number, range)),
  }
}
