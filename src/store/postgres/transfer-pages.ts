// Reading transfers: pages as columns, and counts. Each is one statement and so one snapshot.
import { bucketBlocks } from '../schema.ts'
import {
  emptyPage,
  type TransferPage,
  type TransferPageQuery,
  type TransferRange,
  type TransferReader,
} from '../store.ts'
import { bytesOf } from './arrays.ts'
import type { ShardKey } from './citus-workers.ts'
import { wholeBucket } from './migrations.ts'
import { type Bound, batchIndexOf, blockMax, boundOf, isAfter, logIndexOf, transactionIndexOf } from './place.ts'
import type { StoreDatabase } from './store-database.ts'
import { weightSql } from './transfer-rows.ts'

const keyOf = (contract: number): ShardKey => ({ table: 'transfers', value: contract })

type Order = TransferPageQuery['order']

// The rows come as three values, because the driver pays for each value (0.43 ms against 0.48 ms for 100 rows). Limits
// within keep both branches on their index, whatever the planner assumes of the contract's size.
function pageSql(order: Order): string {
  const [direction, beyond, within] = order === 'asc' ? ['ASC', '>', '<='] : ['DESC', '<', '>=']
  const branch = (table: string): string => `(SELECT block, place, timestamp, hash, payload FROM ${table}
    WHERE contract = $1 AND (block, place) ${beyond} ($2::int4, $3::int8) AND block ${within} $4::int4
    ORDER BY block ${direction}, place ${direction} LIMIT $5)`
  return `SELECT string_agg(int4send(block) || int8send(place) || int8send(timestamp), ''), string_agg(hash, ''), string_agg(payload, '')
    FROM (SELECT * FROM (${branch('hot_transfers')} UNION ALL ${branch('transfers')}) AS both_temperatures
      ORDER BY block ${direction}, place ${direction} LIMIT $5) AS page`
}

const pageSqlOf: Record<Order, string> = { asc: pageSql('asc'), desc: pageSql('desc') }
const positionBytes = 4 + 8 + 8

async function transferPage(store: StoreDatabase, contract: number, query: TransferPageQuery): Promise<TransferPage> {
  const from = Math.max(0, query.fromBlock ?? 0)
  const to = Math.min(query.toBlock ?? blockMax, blockMax - 1)
  if (from > to || query.limit <= 0) return emptyPage
  const start = startOf(query, from, to)
  const end = query.order === 'asc' ? to : from
  const [row] = await store.readOf(
    keyOf(contract),
    pageSqlOf[query.order],
    contract,
    start.block,
    start.place,
    end,
    query.limit,
  )
  if (row === undefined || row[0] === null) return emptyPage
  return pageOf(bytesOf(row[0]), bytesOf(row[1]), bytesOf(row[2]))
}

/** Rows are strictly beyond it: the edge of the range or the cursor, whichever comes later. */
function startOf({ order, after }: TransferPageQuery, from: number, to: number): Bound {
  const edge: Bound = order === 'asc' ? { block: from, place: -1n } : { block: to + 1, place: -1n }
  if (after === undefined) return edge
  const cursor = boundOf(after)
  return isAfter(cursor, edge) === (order === 'asc') ? cursor : edge
}

function pageOf(positions: Buffer, blockHashes: Buffer, payloads: Buffer): TransferPage {
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

const hotCountSql = `(SELECT coalesce(sum(${weightSql}), 0) FROM hot_transfers WHERE contract = $1 AND block BETWEEN $2::int4 AND $3::int4)`
const wholeSql = `(SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = $1 AND bucket = ${wholeBucket})`
const wholeCountSql = `SELECT ${hotCountSql} + ${wholeSql}`

// A contract without ERC-2309 ranges has as many transfers as rows, and then the index alone gives the count of an
// edge.
const edge = (from: string, to: string): string => {
  const rows = `FROM transfers WHERE contract = $1 AND block BETWEEN ${from}::int4 AND ${to}::int4`
  return `CASE WHEN (SELECT stored = transfers FROM transfer_counts WHERE contract = $1 AND bucket = ${wholeBucket})
    THEN (SELECT count(*) ${rows}) ELSE (SELECT coalesce(sum(${weightSql}), 0) ${rows}) END`
}
const boundedCountSql = `SELECT ${hotCountSql} +
  (SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = $1 AND bucket BETWEEN $4::int4 AND $5::int4) +
  $6::int8 * ${edge('$7', '$8')} + $9::int8 * ${edge('$10', '$11')}`

/** Whole buckets come from the kept counts; only the two edges and the hot rows are scanned. */
async function transferCount(store: StoreDatabase, contract: number, range: TransferRange): Promise<number> {
  const from = Math.max(range.fromBlock ?? 0, 0)
  const to = Math.min(range.toBlock ?? blockMax, blockMax - 1)
  if (from > to) return 0
  if (from === 0 && to === blockMax - 1) {
    const [row] = await store.readOf(keyOf(contract), wholeCountSql, contract, from, to)
    return Number(row?.[0])
  }
  const { buckets, lower, upper } = splitRange(from, to)
  const [row] = await store.readOf(keyOf(contract), boundedCountSql, contract, from, to, ...buckets, ...lower, ...upper)
  return Number(row?.[0])
}

/** Blocks to scan, and whether to add their rows to those of the buckets or to subtract them. */
type Edge = [sign: 1 | -1, from: number, to: number]
const noEdge: Edge = [1, 1, 0]

/** Of a bucket that the range cuts, the side with fewer blocks is scanned: at most half of it. */
function splitRange(from: number, to: number): { buckets: [first: number, last: number]; lower: Edge; upper: Edge } {
  const first = Math.floor(from / bucketBlocks)
  const last = Math.floor(to / bucketBlocks)
  const firstStart = first * bucketBlocks
  const lastEnd = (last + 1) * bucketBlocks - 1
  const below: Edge = [-1, firstStart, from - 1]
  const above: Edge = [-1, to + 1, Math.min(lastEnd, blockMax)]
  if (first === last) {
    if (to - from < bucketBlocks / 2) return { buckets: [0, -1], lower: [1, from, to], upper: noEdge }
    return { buckets: [first, last], lower: below, upper: above }
  }
  const cutsFirst = from - firstStart > bucketBlocks / 2
  const cutsLast = lastEnd - to > bucketBlocks / 2
  return {
    buckets: [cutsFirst ? first + 1 : first, cutsLast ? last - 1 : last],
    lower: cutsFirst ? [1, from, firstStart + bucketBlocks - 1] : below,
    upper: cutsLast ? [1, last * bucketBlocks, to] : above,
  }
}

export function transferReader(store: StoreDatabase): TransferReader {
  return {
    transferPage: query => store.ofContract(query, emptyPage, number => transferPage(store, number, query)),
    transferCount: range => store.ofContract(range, 0, number => transferCount(store, number, range)),
  }
}
