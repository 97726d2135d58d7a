// Reading transfers: pages as columns, and counts. Each is one statement and so one snapshot. On Citus, where hot rows
// are on the coordinator and cold ones on a worker, it is two: see `StoreDatabase.readHalves`.
import { mergePages } from '../page-merge.ts'
import { bucketBlocks } from '../schema.ts'
import {
  emptyPage,
  type TransferPage,
  type TransferPageQuery,
  type TransferRange,
  type TransferReader,
} from '../store.ts'
import { bytesOf } from './arrays.ts'
import { coldEndSql } from './blocks.ts'
import type { ShardKey } from './citus-workers.ts'
import type { Row } from './database.ts'
import { wholeBucket } from './migrations.ts'
import { type Bound, batchIndexOf, blockMax, boundOf, isAfter, logIndexOf, transactionIndexOf } from './place.ts'
import type { StoreDatabase } from './store-database.ts'
import { weightSql } from './transfer-rows.ts'

const keyOf = (contract: number): ShardKey => ({ table: 'transfers', value: contract })

/** Of a contract, with that of its chain. */
type Numbers = { contract: number; ordinal: number }

type Order = TransferPageQuery['order']

// The rows come as three values, because the driver pays for each value (0.43 ms against 0.48 ms for 100 rows). Limits
// within keep both branches on their index, whatever the planner assumes of the contract's size.
function pageSql(order: Order, tables: readonly string[], besides = ''): string {
  const [direction, beyond, within] = order === 'asc' ? ['ASC', '>', '<='] : ['DESC', '<', '>=']
  const branch = (table: string): string => `(SELECT block, place, timestamp, hash, payload FROM ${table}
    WHERE contract = $1 AND (block, place) ${beyond} ($2::int4, $3::int8) AND block ${within} $4::int4
    ORDER BY block ${direction}, place ${direction} LIMIT $5)`
  return `SELECT string_agg(int4send(block) || int8send(place) || int8send(timestamp), ''), string_agg(hash, ''), string_agg(payload, '')${besides}
    FROM (SELECT * FROM (${tables.map(branch).join(' UNION ALL ')}) AS temperatures
      ORDER BY block ${direction}, place ${direction} LIMIT $5) AS page`
}

const pageSqls = (tables: readonly string[], besides?: string): Record<Order, string> => ({
  ...{ asc: pageSql('asc', tables, besides), desc: pageSql('desc', tables, besides) },
})
const bothPageSql = pageSqls(['hot_transfers', 'transfers'])
const hotPageSql = pageSqls(['hot_transfers'], `, ${coldEndSql('$6')}`)
const coldPageSql = pageSqls(['transfers'])
const positionBytes = 4 + 8 + 8

async function transferPage(
  store: StoreDatabase,
  { contract, ordinal }: Numbers,
  query: TransferPageQuery,
): Promise<TransferPage> {
  const from = Math.max(0, query.fromBlock ?? 0)
  const to = Math.min(query.toBlock ?? blockMax, blockMax - 1)
  if (from > to || query.limit <= 0) return emptyPage
  const { order, limit } = query
  const bounds = boundsOf(query, from, to)
  if (!store.distributed)
    return pageOf(await store.readOf(keyOf(contract), bothPageSql[order], contract, ...bounds, limit))
  const readHot = async () => {
    const rows = await store.readHere(hotPageSql[order], contract, ...bounds, limit, ordinal)
    return { rows: pageOf(rows), coldEnd: Number(rows[0]?.[3]) }
  }
  const readCold = async (coldEnd: number) => {
    const coldTo = Math.min(to, coldEnd)
    if (from > coldTo) return emptyPage
    const coldBounds = boundsOf(query, from, coldTo)
    return pageOf(await store.readOf(keyOf(contract), coldPageSql[order], contract, ...coldBounds, limit))
  }
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  return mergePages(hot, cold, order, limit)
}

/** Where the page starts, and its last block. */
function boundsOf(query: TransferPageQuery, from: number, to: number): [number, bigint, number] {
  const { block, place } = startOf(query, from, to)
  return [block, place, query.order === 'asc' ? to : from]
}

/** Rows are strictly beyond it: the edge of the range or the cursor, whichever comes later. */
function startOf({ order, after }: TransferPageQuery, from: number, to: number): Bound {
  const edge: Bound = order === 'asc' ? { block: from, place: -1n } : { block: to + 1, place: -1n }
  if (after === undefined) return edge
  const cursor = boundOf(after)
  return isAfter(cursor, edge) === (order === 'asc') ? cursor : edge
}

function pageOf([row]: Row[]): TransferPage {
  if (row === undefined || row[0] === null) return emptyPage
  const [positions, blockHashes, payloads] = [bytesOf(row[0]), bytesOf(row[1]), bytesOf(row[2])]
  const length = positions.length / positionBytes
  const blocks = new Array<number>(length)
  const transactionIndexes = new Array<number>(length)
  const logIndexes = new Array<number>(length)
  const batchIndexes = new Array<number>(length)
  const timestamps = new Array<number>(length)
  for (let row = 0, at = 0; row < length; row++, at += positionBytes) {
    const high = positions.readUInt32BE(at + 4)
    const low = positions.readUInt32BE(at + 8)
    blocks[row] = positions.readUInt32BE(at)
    transactionIndexes[row] = transactionIndexOf(high)
    logIndexes[row] = logIndexOf(high, low)
    batchIndexes[row] = batchIndexOf(low)
    timestamps[row] = positions.readUInt32BE(at + 12) * 2 ** 32 + positions.readUInt32BE(at + 16)
  }
  return { length, blocks, transactionIndexes, logIndexes, batchIndexes, timestamps, blockHashes, payloads }
}

const hotCountSql = (from: string, to: string): string =>
  `(SELECT coalesce(sum(${weightSql}), 0) FROM hot_transfers WHERE contract = $1 AND block BETWEEN ${from}::int4 AND ${to}::int4)`
const wholeSql = `(SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = $1 AND bucket = ${wholeBucket})`

// A contract without ERC-2309 ranges has as many transfers as rows, and then the index alone gives the count of an
// edge.
const edge = (from: string, to: string): string => {
  const rows = `FROM transfers WHERE contract = $1 AND block BETWEEN ${from}::int4 AND ${to}::int4`
  return `CASE WHEN (SELECT stored = transfers FROM transfer_counts WHERE contract = $1 AND bucket = ${wholeBucket})
    THEN (SELECT count(*) ${rows}) ELSE (SELECT coalesce(sum(${weightSql}), 0) ${rows}) END`
}
const boundedSql = `(SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = $1 AND bucket BETWEEN $2::int4 AND $3::int4) +
  $4::int8 * ${edge('$5', '$6')} + $7::int8 * ${edge('$8', '$9')}`

const hotCountOnlySql = `SELECT ${hotCountSql('$2', '$3')}, ${coldEndSql('$4')}`
/** Without the rows that became final after the hot ones were counted. */
const coldWholeCountSql = `SELECT ${wholeSql} - ${edge('$2', `${blockMax}`)}`
const coldBoundedCountSql = `SELECT ${boundedSql}`
const wholeCountSql = `SELECT ${hotCountSql('$2', '$3')} + ${wholeSql}`
const boundedCountSql = `SELECT ${hotCountSql('$10', '$11')} + ${boundedSql}`

/** Whole buckets come from the kept counts; only the two edges and the hot rows are scanned. */
async function transferCount(
  store: StoreDatabase,
  { contract, ordinal }: Numbers,
  range: TransferRange,
): Promise<number> {
  const from = Math.max(range.fromBlock ?? 0, 0)
  const to = Math.min(range.toBlock ?? blockMax, blockMax - 1)
  if (from > to) return 0
  const isWhole = from === 0 && to === blockMax - 1
  const read = async (sql: string, ...values: number[]): Promise<number> => {
    const [row] = await store.readOf(keyOf(contract), sql, contract, ...values)
    return Number(row?.[0])
  }
  if (!store.distributed)
    return isWhole
      ? await read(wholeCountSql, from, to)
      : await read(boundedCountSql, ...splitRange(from, to), from, to)
  const readHot = async () => {
    const [[rows, coldEnd] = []] = await store.readHere(hotCountOnlySql, contract, from, to, ordinal)
    return { rows: Number(rows), coldEnd: Number(coldEnd) }
  }
  const readCold = async (coldEnd: number) => {
    const coldTo = Math.min(to, coldEnd)
    if (from > coldTo) return 0
    if (isWhole) return await read(coldWholeCountSql, coldTo + 1)
    return await read(coldBoundedCountSql, ...splitRange(from, coldTo))
  }
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  return hot + cold
}

/** Blocks to scan, and whether to add their rows to those of the buckets or to subtract them. */
type Edge = [sign: 1 | -1, from: number, to: number]
const noEdge: Edge = [1, 1, 0]

/**
 * The buckets and their edges. Of a bucket that the range cuts, the side with fewer blocks is scanned: at most half of
 * it.
 */
function splitRange(from: number, to: number): [first: number, last: number, ...lower: Edge, ...upper: Edge] {
  const first = Math.floor(from / bucketBlocks)
  const last = Math.floor(to / bucketBlocks)
  const firstStart = first * bucketBlocks
  const lastEnd = (last + 1) * bucketBlocks - 1
  const below: Edge = [-1, firstStart, from - 1]
  const above: Edge = [-1, to + 1, Math.min(lastEnd, blockMax)]
  if (first === last) {
    if (to - from < bucketBlocks / 2) return [0, -1, 1, from, to, ...noEdge]
    return [first, last, ...below, ...above]
  }
  const cutsFirst = from - firstStart > bucketBlocks / 2
  const cutsLast = lastEnd - to > bucketBlocks / 2
  const lower: Edge = cutsFirst ? [1, from, firstStart + bucketBlocks - 1] : below
  const upper: Edge = cutsLast ? [1, last * bucketBlocks, to] : above
  return [cutsFirst ? first + 1 : first, cutsLast ? last - 1 : last, ...lower, ...upper]
}

export function transferReader(store: StoreDatabase): TransferReader {
  return {
    transferPage: query => store.ofContract(query, emptyPage, numbers => transferPage(store, numbers, query)),
    transferCount: range => store.ofContract(range, 0, numbers => transferCount(store, numbers, range)),
  }
}
