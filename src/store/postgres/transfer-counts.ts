// Counting transfers, from kept counts of tables and runs. A count is one statement, and on Citus several, as a page is
// (`transfer-pages.ts`).
import { bucketBlocks } from '../schema.ts'
import type { TransferRange } from '../store.ts'
import { bytesOf } from './arrays.ts'
import { coldEndSql } from './blocks.ts'
import { blockMax } from './place.ts'
import { type CountQuery, countIn, countSql, countValues, type Edge } from './runs/run-lookups.ts'
import { slotOfContract } from './runs/slots.ts'
import type { StoreDatabase } from './store-database.ts'
import { wholeBucket } from './tables.ts'
import { weightSql } from './transfer-rows.ts'

export type OfContract = { store: StoreDatabase; contract: number; ordinal: number }

const hotCountSql = (from: string, to: string): string =>
  `(SELECT coalesce(sum(${weightSql}), 0) FROM hot_transfers WHERE contract = $1 AND block BETWEEN ${from}::int4 AND ${to}::int4)`

// A contract without ERC-2309 ranges has as many transfers as rows, and then the index alone gives the count of an
// edge.
const edge = (sign: string, from: string, to: string): string => {
  const rows = `FROM transfers WHERE contract = $1 AND block BETWEEN ${from}::int4 AND ${to}::int4`
  return `${sign}::int8 * CASE WHEN (SELECT stored = transfers FROM transfer_counts WHERE contract = $1 AND bucket = ${wholeBucket})
    THEN (SELECT count(*) ${rows}) ELSE (SELECT coalesce(sum(${weightSql}), 0) ${rows}) END`
}

const inTablesKind = 0
const coldSql = `(SELECT coalesce(sum(transfers), 0) FROM transfer_counts WHERE contract = $1 AND bucket BETWEEN $2::int4 AND $3::int4)
  + ${edge('$4', '$5', '$6')} + ${edge('$7', '$8', '$9')}`
const allSql = `SELECT ${inTablesKind}, int8send((${hotCountSql('$19', '$20')} + ${coldSql})::int8) UNION ALL ${countSql(10)}`
const coldOnlySql = `SELECT ${inTablesKind}, int8send((${coldSql})::int8) UNION ALL ${countSql(10)}`
const hotSql = `SELECT ${hotCountSql('$2', '$3')}, ${coldEndSql('$4')}`

export async function transferCount(of: OfContract, range: TransferRange): Promise<number> {
  const { store, contract, ordinal } = of
  const from = Math.max(range.fromBlock ?? 0, 0)
  const to = Math.min(range.toBlock ?? blockMax, blockMax - 1)
  if (from > to) return 0
  const isWhole = from === 0 && to === blockMax - 1
  const slot = slotOfContract(await store.slots(), contract)
  const key = { table: 'transfers', value: contract } as const
  const asked = (split: Split): CountQuery => ({ slot, chain: ordinal, contract, ...split })
  const tableValues = ({ buckets, edges }: Split): number[] => [contract, ...buckets, ...edges[0], ...edges[1]]
  if (!store.distributed) {
    const split = isWhole ? wholeUpTo(to) : splitRange(from, to)
    const rows = await store.readOf(key, allSql, ...tableValues(split), ...countValues(asked(split)), from, to)
    return inTables(rows) + countIn(rows, asked(split))
  }
  const readHot = async () => {
    const [[rows, coldEnd] = []] = await store.readHere(hotSql, contract, from, to, ordinal)
    return { rows: Number(rows), coldEnd: Number(coldEnd) }
  }
  const readCold = async (coldEnd: number) => {
    const coldTo = Math.min(to, coldEnd)
    if (from > coldTo) return 0
    const split = isWhole ? wholeUpTo(coldTo) : splitRange(from, coldTo)
    const rows = await store.readOf(key, coldOnlySql, ...tableValues(split), ...countValues(asked(split)))
    return inTables(rows) + countIn(rows, asked(split))
  }
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  return hot + cold
}

function inTables(rows: readonly (string | null)[][]): number {
  const found = rows.find(([kind]) => Number(kind) === inTablesKind)
  return Number(bytesOf(found?.[1]).readBigInt64BE())
}

/** Whole buckets come from the kept counts; only the two edges and the hot rows are scanned. */
type Split = Pick<CountQuery, 'buckets' | 'edges'>

const noEdge: Edge = [1, 1, 0]

/** Without the rows above a block, which are few: those that became final after the hot ones were counted. */
function wholeUpTo(to: number): Split {
  const above: Edge = to >= blockMax - 1 ? noEdge : [-1, to + 1, blockMax]
  return { buckets: [wholeBucket, wholeBucket], edges: [noEdge, above] }
}

/** Of a bucket that the range cuts, the side with fewer blocks is scanned: at most half of it. */
function splitRange(from: number, to: number): Split {
  const first = Math.floor(from / bucketBlocks)
  const last = Math.floor(to / bucketBlocks)
  const firstStart = first * bucketBlocks
  const lastEnd = (last + 1) * bucketBlocks - 1
  const below: Edge = [-1, firstStart, from - 1]
  const above: Edge = [-1, to + 1, Math.min(lastEnd, blockMax)]
  if (first === last) {
    if (to - from < bucketBlocks / 2) return { buckets: [0, -1], edges: [[1, from, to], noEdge] }
    return { buckets: [first, last], edges: [below, above] }
  }
  const cutsFirst = from - firstStart > bucketBlocks / 2
  const cutsLast = lastEnd - to > bucketBlocks / 2
  return {
    buckets: [cutsFirst ? first + 1 : first, cutsLast ? last - 1 : last],
    edges: [
      cutsFirst ? [1, from, firstStart + bucketBlocks - 1] : below,
      cutsLast ? [1, last * bucketBlocks, to] : above,
    ],
  }
}
