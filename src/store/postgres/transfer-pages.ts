// Reading pages of transfers as columns, from tables and runs. A page is one statement and so one snapshot. On Citus,
// where hot rows are on the coordinator and cold ones on workers, it is several: see `StoreDatabase.readHalves`.
import type { Interval, Position } from '../../model.ts'
import { mergePages } from '../page-merge.ts'
import type { TransferPageQuery, TransferReader } from '../store.ts'
import { emptyPage, type TransferPage } from '../transfer-page.ts'
import { bytesOf } from './arrays.ts'
import { coldEndSql } from './blocks.ts'
import type { Row, Value } from './database.ts'
import { type Bound, batchIndexOf, blockMax, boundOf, isAfter, logIndexOf, transactionIndexOf } from './place.ts'
import { firstBound, nextBound, pageOfRuns, type RunPageQuery, runPageSql, runPageValues } from './runs/run-pages.ts'
import { slotOfContract } from './runs/slots.ts'
import type { StoreDatabase } from './store-database.ts'
import { type OfContract, transferCount } from './transfer-counts.ts'

type Order = TransferPageQuery['order']

const inTablesKind = 0
const tableParameters = 5

// The rows come as three values, because the driver pays for each value (0.43 ms against 0.48 ms for 100 rows). Limits
// within keep both branches on their index, whatever the planner assumes of the contract's size.
function pageSql(order: Order, tables: readonly string[], besides = ''): string {
  const [direction, beyond, within] = order === 'asc' ? ['ASC', '>', '<='] : ['DESC', '<', '>=']
  const branch = (table: string): string => `(SELECT block, place, timestamp, hash, payload FROM ${table}
    WHERE contract = $1 AND (block, place) ${beyond} ($2::int4, $3::int8) AND block ${within} $4::int4
    ORDER BY block ${direction}, place ${direction} LIMIT $5)`
  return `SELECT ${inTablesKind}, NULL::int8, string_agg(int4send(block) || int8send(place) || int8send(timestamp), ''),
      string_agg(hash, ''), string_agg(payload, '')${besides}
    FROM (SELECT * FROM (${tables.map(branch).join(' UNION ALL ')}) AS temperatures
      ORDER BY block ${direction}, place ${direction} LIMIT $5) AS page`
}

const sqlsOf = (sql: (order: Order) => string): Record<Order, string> => ({ asc: sql('asc'), desc: sql('desc') })
const withRuns = (tables: readonly string[]): Record<Order, string>[] =>
  [false, true].map(perRun =>
    sqlsOf(order => `${pageSql(order, tables)} UNION ALL ${runPageSql(order, { first: tableParameters + 1, perRun })}`),
  )
const allSqls = withRuns(['hot_transfers', 'transfers'])
const coldSqls = withRuns(['transfers'])
const hotSql = sqlsOf(order => pageSql(order, ['hot_transfers'], `, ${coldEndSql('$6')}`))

async function transferPage(of: OfContract, query: TransferPageQuery): Promise<TransferPage> {
  const { store, contract, ordinal } = of
  const { order, limit } = query
  const from = Math.max(0, query.fromBlock ?? 0)
  const to = Math.min(query.toBlock ?? blockMax, blockMax - 1)
  if (from > to || limit <= 0) return emptyPage
  const key = { table: 'transfers', value: contract } as const
  const read = (sqls: readonly Record<Order, string>[], blocks: Interval): Promise<TransferPage> =>
    readPage(of, query, blocks, (perRun, values) => store.readOf(key, sqls[Number(perRun)]![order], ...values))
  if (!store.distributed) return await read(allSqls, { from, to })
  const readHot = async () => {
    const values = tableValues(contract, query, { from, to })
    const rows = await store.readHere(hotSql[order], ...values, ordinal)
    return { rows: pageInTables(rows), coldEnd: Number(rows[0]?.[5]) }
  }
  const readCold = async (coldEnd: number) => {
    const coldTo = Math.min(to, coldEnd)
    return from > coldTo ? emptyPage : await read(coldSqls, { from, to: coldTo })
  }
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  return mergePages(hot, cold, order, limit)
}

async function readPage(
  { store, contract, ordinal }: OfContract,
  query: TransferPageQuery,
  blocks: Interval,
  read: (perRun: boolean, values: Value[]) => Promise<Row[]>,
): Promise<TransferPage> {
  const { order, limit } = query
  const inTables = tableValues(contract, query, blocks)
  const inRuns: RunPageQuery = {
    ...{ slot: slotOfContract(await store.slots(), contract), chain: ordinal, contract, order, limit },
    ...{ start: startInRuns(query, blocks), end: order === 'asc' ? blocks.to : blocks.from },
  }
  for (let bound = firstBound(limit); ; bound = nextBound(bound)) {
    const rows = await read(bound.perRun, [...inTables, ...runPageValues(inRuns, bound)])
    const ofRuns = pageOfRuns(rows, inRuns, bound)
    if (ofRuns !== undefined) return mergePages(pageInTables(rows), ofRuns, order, limit)
  }
}

function tableValues(contract: number, query: TransferPageQuery, blocks: Interval): Value[] {
  const { block, place } = startOf(query, blocks)
  return [contract, block, place, query.order === 'asc' ? blocks.to : blocks.from, query.limit]
}

/** Rows are strictly beyond it: the edge of the range or the cursor, whichever comes later. */
function startOf({ order, after }: TransferPageQuery, { from, to }: Interval): Bound {
  const edge: Bound = order === 'asc' ? { block: from, place: -1n } : { block: to + 1, place: -1n }
  if (after === undefined) return edge
  const cursor = boundOf(after)
  return isAfter(cursor, edge) === (order === 'asc') ? cursor : edge
}

/** The same, as runs take it. */
function startInRuns({ order, after }: TransferPageQuery, { from, to }: Interval): Position {
  const outside = { transactionIndex: -1, logIndex: -1, batchIndex: -1 }
  if (order === 'asc') return after === undefined || after.block < from ? { ...outside, block: from } : after
  return after === undefined || after.block > to ? { ...outside, block: to + 1 } : after
}

const positionBytes = 4 + 8 + 8

function pageInTables(rows: readonly Row[]): TransferPage {
  const found = rows.find(([kind, , first]) => Number(kind) === inTablesKind && first !== null)
  if (found === undefined) return emptyPage
  const [, , first, second, third] = found
  const [positions, blockHashes, payloads] = [bytesOf(first), bytesOf(second), bytesOf(third)]
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

export function transferReader(store: StoreDatabase): TransferReader {
  return {
    transferPage: query => store.ofContract(query, emptyPage, numbers => transferPage({ store, ...numbers }, query)),
    transferCount: range => store.ofContract(range, 0, numbers => transferCount({ store, ...numbers }, range)),
  }
}
