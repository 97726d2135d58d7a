// Reading transfers: pages as columns, and counts. A page is a few statements, never one for each row.
import { setImmediate } from 'node:timers/promises'
import type { Interval, Position } from '../../model.ts'
import { mergePages } from '../page-merge.ts'
import { bucketOf, countKey, countOf, countView } from '../runs/count-view.ts'
import { compareKeys } from '../runs/pack.ts'
import { transferView } from '../runs/transfer-view.ts'
import { bucketBlocks } from '../schema.ts'
import type { TransferPageQuery, TransferRange, TransferReader } from '../store.ts'
import { emptyPage, type TransferPage } from '../transfer-page.ts'
import { idCountOf } from '../transfer-payload.ts'
import type { Connection, Row } from './connection.ts'
import { KnownRuns } from './runs/known-runs.ts'
import { countInRun, pageOfRuns } from './runs/run-pages.ts'
import { cursorAt } from './runs/runs.ts'
import type { StoreFile } from './store-file.ts'
import { blockKeySpan } from './tables.ts'
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

type PageContext = { read: Connection; runs: KnownRuns; ordinal: number; contract: number }

/** All places are read in one snapshot: a finalize or a merge between two reads would hide or repeat rows. */
function transferPage(context: PageContext, query: TransferPageQuery): TransferPage {
  const { read, runs, ordinal, contract } = context
  return read.snapshot(() => {
    const known = runs.ofContract(read, contract)
    if (known.length === 0) return tablePage(context, query)
    const { order, limit, fromBlock = 0, toBlock = blockMax } = query
    const [from, to] = read.get(findTables, contract) as [number, number]
    const inTables = from > to ? [] : [{ from, to, page: () => tablePage(context, query) }]
    const asked = { contract, order, start: startOf(query), end: order === 'asc' ? toBlock : fromBlock, limit }
    return pageOfRuns(read, [...inTables, ...known], asked, keyBaseOf(ordinal))
  })
}

/** The stretch of the rows that tables have of a contract. Most pages from runs need none of them. */
const findTables = `SELECT min(ifnull((SELECT min(block) FROM transfers WHERE contract = ?1), ${blockMax}),
    ifnull((SELECT min(block) FROM hot_transfers WHERE contract = ?1), ${blockMax})),
  max(ifnull((SELECT max(block) FROM transfers WHERE contract = ?1), -1),
    ifnull((SELECT max(block) FROM hot_transfers WHERE contract = ?1), -1))`

function tablePage({ read, ordinal, contract }: PageContext, query: TransferPageQuery): TransferPage {
  const { order, fromBlock = 0, toBlock = blockMax } = query
  const { block, transactionIndex, logIndex, batchIndex } = startOf(query)
  const end = order === 'asc' ? toBlock : fromBlock
  const readPart = (part: Part, limit: number): TransferPage => {
    if (limit <= 0) return emptyPage
    const start = [keyBaseOf(ordinal), contract, block, transactionIndex, logIndex, batchIndex]
    const row = read.get(sql[part][order], ...start, end, limit) as Row
    return row[0] === null ? emptyPage : pageOf(row as Uint8Array[])
  }
  const whole = readPart('whole', query.limit)
  if (whole.length > 0) return whole
  const [first, second]: Part[] = order === 'desc' ? ['hot', 'cold'] : ['cold', 'hot']
  const begun = readPart(first!, query.limit)
  const rest = readPart(second!, query.limit - begun.length)
  return mergePages(begun, rest, order, query.limit)
}

/** The key of block 0 in the table of blocks. */
export function keyBaseOf(ordinal: number): number {
  return ordinal * blockKeySpan + blockKeySpan - 1
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

/** Scanning some 20,000 rows takes two milliseconds, in which nobody is answered: more are scanned in steps. */
const rowsPerStep = 20_000
const attemptsMax = 4

/** Opens a moment of the store in which a contract can be counted. */
type InMoment = <Result>(count: (scan: Scan) => Result, none: Result) => Result

/**
 * Whole buckets come from the kept counts; only the two edges and the hot rows are scanned. An edge with many rows is
 * scanned over several moments, and all of it anew where rows became final, came or went in between.
 */
async function transferCount(inMoment: InMoment, range: TransferRange): Promise<number> {
  const from = Math.max(range.fromBlock ?? 0, 0)
  const to = Math.min(range.toBlock ?? blockMax, blockMax)
  if (from > to) return 0
  for (let attempt = 1; ; attempt++) {
    const steps: Step[] | undefined = attempt < attemptsMax ? [] : undefined
    const first = inMoment(scan => ({ whole: wholeCold(scan), count: countIn(scan, { from, to }, steps) }), undefined)
    if (first === undefined) return 0
    let count: number | undefined = first.count
    for (const { sign, ...interval } of steps ?? []) {
      await setImmediate()
      const rows = inMoment(
        scan => (wholeCold(scan) === first.whole ? countRows(scan, interval) : undefined),
        undefined,
      )
      count = rows === undefined ? undefined : count + sign * rows
      if (count === undefined) break
    }
    if (count !== undefined) return count
  }
}

function countIn(scan: Scan, { from, to }: Interval, steps: Step[] | undefined): number {
  const hot = countInTable(scan, 'hot_transfers', { from, to })
  return hot + (from === 0 && to === blockMax ? wholeCold(scan) : countCold({ ...scan, steps }, { from, to }))
}

/** All transfers of final blocks, from kept counts. */
function wholeCold(scan: Scan): number {
  return scan.transfers + keptInRuns(scan, -1, -1)
}

type CountContext = { read: Connection; runs: KnownRuns; countRuns: KnownRuns; contract: number }
type Scan = CountContext & { transfers: number; hasRanges: boolean }
/** Blocks whose rows are still to be added or taken away. */
type Step = Interval & { sign: 1 | -1 }
/** Without `steps` all is scanned at once. */
type EdgeScan = Scan & { steps: Step[] | undefined }

function inMomentOf(context: CountContext): <Result>(count: (scan: Scan) => Result) => Result {
  const { read, contract } = context
  return count =>
    read.snapshot(() => {
      const facts = read.get('SELECT transfers, has_ranges FROM contracts WHERE id = ?', contract) as Row
      return count({ ...context, transfers: facts[0] as number, hasRanges: facts[1] === 1 })
    })
}

function countCold(scan: EdgeScan, { from, to }: Interval): number {
  const [first, last] = [bucketOf(from), bucketOf(to)]
  const below = countEdge(scan, first, { from: first * bucketBlocks, to: from - 1 })
  const above = countEdge(scan, last, { from: to + 1, to: (last + 1) * bucketBlocks - 1 })
  return keptCount(scan, first, last) - below - above
}

/** Counts the part of a bucket outside of the range, by scanning the side with fewer blocks. */
function countEdge(scan: EdgeScan, bucket: number, part: Interval): number {
  if (part.from > part.to) return 0
  const start = bucket * bucketBlocks
  const end = start + bucketBlocks - 1
  const kept = keptCount(scan, bucket, bucket)
  if (kept === 0) return 0
  if (part.to - part.from < bucketBlocks / 2) return countOrPut(scan, { ...part, sign: -1 }, kept)
  const rest = part.from === start ? { from: part.to + 1, to: end } : { from: start, to: part.from - 1 }
  return kept - countOrPut(scan, { ...rest, sign: 1 }, kept)
}

/** The rows of an edge, or none of them where they are many: then they are put to be scanned later. */
function countOrPut(scan: EdgeScan, { from, to, sign }: Step, inBucket: number): number {
  if (scan.steps === undefined || inBucket <= rowsPerStep) return countRows(scan, { from, to })
  const blocks = Math.max(1, Math.floor((rowsPerStep * bucketBlocks) / inBucket))
  for (let start = from; start <= to; start += blocks)
    scan.steps.push({ from: start, to: Math.min(to, start + blocks - 1), sign })
  return 0
}

function keptCount(scan: Scan, firstBucket: number, lastBucket: number): number {
  const inTable = scan.read.get(
    'SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = ? AND bucket BETWEEN ? AND ?',
    ...[scan.contract, firstBucket, lastBucket],
  ) as Row
  return (inTable[0] as number) + keptInRuns(scan, firstBucket, lastBucket)
}

function keptInRuns({ read, countRuns, contract }: Scan, firstBucket: number, lastBucket: number): number {
  const [first, last] = [countKey(contract, firstBucket), countKey(contract, lastBucket)]
  let count = 0
  for (const { id } of countRuns.ofContract(read, contract)) {
    const cursor = cursorAt(read, countView, id, first)
    if (cursor === undefined) continue
    do {
      if (compareKeys(cursor.reader.key, last) > 0) break
      count += countOf(cursor.reader.value)
    } while (cursor.step())
  }
  return count
}

function countRows(scan: Scan, interval: Interval): number {
  const { read, runs, contract } = scan
  const having = runs.ofContract(read, contract).filter(({ from, to }) => from <= interval.to && to >= interval.from)
  return (
    countInTable(scan, 'transfers', interval) +
    having.reduce((count, { id }) => count + countInRun(read, id, contract, interval), 0)
  )
}

function countInTable(scan: Scan, table: 'transfers' | 'hot_transfers', { from, to }: Interval): number {
  const { read, contract, hasRanges } = scan
  const where = `FROM ${table} WHERE contract = ? AND block BETWEEN ? AND ?`
  const row = read.get(`SELECT count(*) ${where}`, contract, from, to) as Row
  let count = row[0] as number
  if (!hasRanges) return count
  for (const [payload] of read.all(`SELECT payload ${where} AND ${isRangeSql}`, contract, from, to))
    count += idCountOf(payload as Uint8Array) - 1
  return count
}

export function transferReader(file: StoreFile): TransferReader {
  const runs = new KnownRuns(transferView)
  const countRuns = new KnownRuns(countView)
  return {
    transferPage: async query =>
      file.ofContract(query, emptyPage, (read, ordinal, contract) =>
        transferPage({ read, runs, ordinal, contract }, query),
      ),
    transferCount: range =>
      transferCount(
        (count, none) =>
          file.ofContract(range, none, (read, _ordinal, contract) =>
            inMomentOf({ read, runs, countRuns, contract })(count),
          ),
        range,
      ),
  }
}
