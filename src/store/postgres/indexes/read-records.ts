// Reading records of indexes from tables and runs. One statement gives the first records of the tables and the first
// packs of the runs, in the order that is asked for; where these are not enough, it is asked again for more. On Citus,
// where hot records are on the coordinator, see `StoreDatabase.readHalves`.
import { type IndexQuery, type IndexRecords, noRecords } from '../../index-reader.ts'
import { indexOf, indexViews } from '../../indexes/all-indexes.ts'
import { withContract } from '../../indexes/by-token.ts'
import { byWallet } from '../../indexes/by-wallet.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { blockOfPlace, wordAt } from '../../runs/place-key.ts'
import { coldEndSql } from '../blocks.ts'
import type { Row, Value } from '../database.ts'
import { recordsPerPack } from '../runs/merges.ts'
import { blockEnd, hasContract, packsFrom } from '../runs/runs.ts'
import type { StoreDatabase } from '../store-database.ts'
import { slotOfRecord } from './derived-records.ts'
import { type AskedRecords, FoundRecords, foundKinds, isKept } from './found-records.ts'
import { fromKept } from './kept-indexes.ts'

type Order = IndexQuery['order']

// The parameters of each statement: view, chain, first and last key, how many rows; then the slot, how many packs, the
// lowest and the highest block; then the contract.

const directionOf = (order: Order): string => (order === 'keys' ? 'ASC' : 'DESC')

function tableSql(table: string, order: Order, { where = '', besides = 'NULL::int8' } = {}): string {
  return `SELECT ${foundKinds.rows}, NULL::int8, string_agg(key, ''), string_agg(value, ''),
      string_agg(int4send(octet_length(value)), ''), ${besides}
    FROM (SELECT key, value FROM ${table} WHERE view = $1::int4 AND chain = $2::int4
      AND key BETWEEN $3::bytea AND $4::bytea ${where} ORDER BY key ${directionOf(order)} LIMIT $5) AS first_rows`
}

const itsRuns = (index: IndexView): string => `FROM runs WHERE slot = $6::int4 AND view = $1::int4 AND chain = $2::int4
  AND from_block <= $9::int8 AND to_block >= $8::int8 ${index.byContract ? `AND ${hasContract('$10::int4')}` : ''}`

const itsPacks = `FROM packs WHERE packs.slot = $6::int4 AND run = id AND key <= $4::bytea
  AND key >= ${packsFrom('id', '$6::int4', '$3::bytea')}`

/** The first packs of all runs by their first keys; the last column is how many there are at most. */
function firstPacksSql(index: IndexView): string {
  return `SELECT ${foundKinds.pack}, id, bytes, NULL::bytea, NULL::bytea, packs_max
    FROM (SELECT id, pack_key, packs_max, row_number() OVER (ORDER BY pack_key) AS rank
      FROM (SELECT id, $7::int8 + count(*) OVER () AS packs_max ${itsRuns(index)}) AS its_runs
      CROSS JOIN LATERAL (SELECT key AS pack_key ${itsPacks} ORDER BY key LIMIT packs_max) AS its_keys) AS first_keys
    JOIN packs ON slot = $6::int4 AND run = id AND key = pack_key WHERE rank <= packs_max`
}

/**
 * Backwards the first keys of packs do not tell how far they reach: large runs give more of them, so that all come to
 * the same key. The last column is how many a run gives at most.
 */
function lastPacksSql(index: IndexView): string {
  return `SELECT ${foundKinds.pack}, id, bytes, NULL::bytea, NULL::bytea, packs_max
    FROM (SELECT id, 2 + $7::int8 * records / greatest(1, sum(records) OVER ())::int8 AS packs_max ${itsRuns(index)}) AS its_runs
    CROSS JOIN LATERAL (SELECT bytes ${itsPacks} ORDER BY key DESC LIMIT packs_max) AS its_packs`
}

/** Places count down. */
const upToHighest = ({ placeAt }: IndexView): string =>
  `AND substring(key FROM ${placeAt + 1} FOR 4) >= substring(int8send(4294967295 - $9::int8) FROM 5)`

const keptSql = `SELECT ${foundKinds.kept}, NULL, NULL, NULL, NULL, NULL ${fromKept('$1::int4', '$2::int4')}`

/** On Citus the half that is on the coordinator tells whether the index is kept. */
function sqlsOf(index: IndexView, order: Order): Record<'all' | 'cold' | 'hot', string> {
  const hot = tableSql('hot_view_records', order)
  const inSlot = 'AND slot = $6::int4'
  const inRuns = order === 'keys' ? firstPacksSql(index) : lastPacksSql(index)
  return {
    all: [hot, tableSql('view_records', order, { where: inSlot }), inRuns, keptSql].join(' UNION ALL '),
    cold: [tableSql('view_records', order, { where: `${inSlot} ${upToHighest(index)}` }), inRuns].join(' UNION ALL '),
    hot: `${tableSql('hot_view_records', order, { besides: coldEndSql('$2') })} UNION ALL ${keptSql}`,
  }
}

const sqls = new Map(
  indexViews.map(index => [index, { keys: sqlsOf(index, 'keys'), back: sqlsOf(index, 'back') }] as const),
)

export async function indexRecords(store: StoreDatabase, query: IndexQuery): Promise<IndexRecords> {
  const index = indexOf(query.index)
  const ordinal = await store.dictionary.ordinalOf(query.chain)
  if (ordinal === undefined || query.limit <= 0) return noRecords
  const contract = index.byContract ? await store.dictionary.contractOf(ordinal, query.contract!) : undefined
  if (index.byContract && contract === undefined) return noRecords
  const span = spanOf(query, contract)
  if (span === undefined) return noRecords
  const asked = { index, ...span, order: query.order, limit: query.limit }
  const found = store.distributed
    ? await readHalves(store, ordinal, asked)
    : await readAll(store, ordinal, asked, { sql: 'all', highest: blockEnd })
  const records = found.records(contract === undefined ? 0 : contractBytes)
  const numbers = contractsIn(index, records)
  return { ...records, contracts: await store.dictionary.addressesOf(numbers) }
}

const contractBytes = 4

function contractsIn(
  { contractAt }: IndexView,
  { values, valueEnds }: Pick<IndexRecords, 'values' | 'valueEnds'>,
): number[] {
  if (contractAt === undefined) return []
  return [...new Set(valueEnds.map((_, record) => wordAt(values, (valueEnds[record - 1] ?? 0) + contractAt)))]
}

/** Keys as they are stored; undefined where nothing is left of the span. */
function spanOf(
  { from, to, after, order }: IndexQuery,
  contract: number | undefined,
): Pick<AskedRecords, 'from' | 'to'> | undefined {
  const first = order === 'keys' && after !== undefined ? later(from, neighbour(after, 1)) : from
  const last = order === 'back' && after !== undefined ? earlier(to, neighbour(after, -1)) : to
  if (first === undefined || last === undefined || Buffer.compare(first, last) > 0) return undefined
  return contract === undefined
    ? { from: first, to: last }
    : { from: withContract(contract, first), to: withContract(contract, last) }
}

const later = (a: Uint8Array, b: Uint8Array | undefined) => (b === undefined || Buffer.compare(a, b) < 0 ? b : a)
const earlier = (a: Uint8Array, b: Uint8Array | undefined) => (b === undefined || Buffer.compare(a, b) > 0 ? b : a)

/** The key right after or before one; undefined at the end. */
function neighbour(key: Uint8Array, step: 1 | -1): Uint8Array | undefined {
  const next = Uint8Array.from(key)
  const [turning, turned] = step === 1 ? [0xff, 0] : [0, 0xff]
  for (let at = next.length - 1; at >= 0; at--) {
    if (next[at] !== turning) {
      next[at]! += step
      return next
    }
    next[at] = turned
  }
  return undefined
}

type Which = { sql: 'all' | 'cold'; highest: number }

/** Of one slot, except where the span has more than one wallet. */
async function readAll(
  store: StoreDatabase,
  ordinal: number,
  asked: AskedRecords,
  which: Which,
): Promise<FoundRecords> {
  const slots = await store.slots()
  const isOfMany = asked.index === byWallet && !isOneSubject(asked)
  const wanted = isOfMany ? slots : [slotOfRecord(slots, asked.index, ordinal, asked.from)]
  const found = await Promise.all(wanted.map(slot => readSlot(store, { slot, ordinal }, asked, which)))
  return found.reduce((all, each) => all.with(each))
}

async function readSlot(
  store: StoreDatabase,
  { slot, ordinal }: { slot: number; ordinal: number },
  asked: AskedRecords,
  { sql, highest }: Which,
): Promise<FoundRecords> {
  const { index, order, limit, from } = asked
  const blocks = blocksOfSpan(asked)
  const contract = index.byContract ? [wordAt(from, 0)] : []
  for (let packs = Math.ceil(limit / recordsPerPack.get(index)!) + 2; ; packs *= 4) {
    const values: Value[] = [...tableValues(asked, ordinal), slot, packs]
    values.push(blocks.from, Math.min(blocks.to, highest), ...contract)
    const rows = await store.readOf({ table: 'packs', value: slot }, sqls.get(index)![order][sql], ...values)
    const found = new FoundRecords(asked, highest)
    if (sql === 'all' && !isKept(rows)) return found
    if (found.take(rows)) return found
  }
}

const tableValues = ({ index, from, to, limit }: AskedRecords, ordinal: number): Value[] => [
  ...[index.id, ordinal, from, to, limit],
]

/** Blocks that a span can have records of: known where all its keys are of one wallet or token. */
function blocksOfSpan(asked: AskedRecords): { from: number; to: number } {
  const { placeAt } = asked.index
  if (!isOneSubject(asked)) return { from: 0, to: blockEnd }
  return { from: blockOfPlace(asked.to, placeAt), to: blockOfPlace(asked.from, placeAt) }
}

function isOneSubject({ index: { placeAt }, from, to }: AskedRecords): boolean {
  return Buffer.compare(from.subarray(0, placeAt), to.subarray(0, placeAt)) === 0
}

async function readHalves(store: StoreDatabase, ordinal: number, asked: AskedRecords): Promise<FoundRecords> {
  let kept = true
  const readHot = async () => {
    const rows: Row[] = await store.readHere(sqls.get(asked.index)![asked.order].hot, ...tableValues(asked, ordinal))
    const found = new FoundRecords(asked)
    kept = isKept(rows)
    if (kept) found.take(rows)
    const [, , , , , coldEnd] = rows.find(([kind]) => Number(kind) === foundKinds.rows) ?? []
    return { rows: found, coldEnd: Number(coldEnd) }
  }
  const readCold = async (coldEnd: number) =>
    coldEnd < 0 ? new FoundRecords(asked) : await readAll(store, ordinal, asked, { sql: 'cold', highest: coldEnd })
  const { hot, cold } = await store.readHalves(ordinal, readHot, readCold)
  return kept ? hot.with(cold) : hot
}
