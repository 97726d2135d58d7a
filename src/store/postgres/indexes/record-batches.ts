// The records of an index as the core asks for them (`../../core/disk.ts`): one statement gives the first rows of the
// tables and the first packs of the runs, in the order of the walk. On Citus, where hot records are on the coordinator,
// see `StoreDatabase.readHalves`.
import { type RecordRows, type RecordsAsk, type RecordsBatch, runAwaiting } from '../../core/disk.ts'
import { readRecords } from '../../core/read-records.ts'
import { type IndexQuery, type IndexRecords, noRecords } from '../../index-reader.ts'
import { indexOf, indexViews } from '../../indexes/all-indexes.ts'
import { byWallet } from '../../indexes/by-wallet.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { wordAt } from '../../runs/place-key.ts'
import { bytesOf } from '../arrays.ts'
import { coldEndSql } from '../blocks.ts'
import type { Row, Value } from '../database.ts'
import { recordsPerPack } from '../runs/merges.ts'
import { blockEnd, hasContract, packsFrom } from '../runs/runs.ts'
import type { StoreDatabase } from '../store-database.ts'
import { slotOfRecord } from './derived-records.ts'
import { fromKept } from './kept-indexes.ts'

type Order = IndexQuery['order']

/**
 * What the columns of a row are: keys, values and their lengths; a pack of a run, its first key and how many there are
 * at most; or that the index is kept.
 */
const kinds = { rows: 0, pack: 1, kept: 2 } as const

// The parameters of each statement: view, chain, lowest and highest key, how many rows; then the slot, how many packs,
// the lowest and the highest block; then the contract.

const directionOf = (order: Order): string => (order === 'keys' ? 'ASC' : 'DESC')

function tableSql(table: string, order: Order, { where = '', besides = 'NULL::int8' } = {}): string {
  return `SELECT ${kinds.rows}, NULL::int8, string_agg(key, ''), string_agg(value, ''),
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
  return `SELECT ${kinds.pack}, id, bytes, pack_key, NULL::bytea, packs_max
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
  return `SELECT ${kinds.pack}, id, bytes, NULL::bytea, NULL::bytea, packs_max
    FROM (SELECT id, 2 + $7::int8 * records / greatest(1, sum(records) OVER ())::int8 AS packs_max ${itsRuns(index)}) AS its_runs
    CROSS JOIN LATERAL (SELECT bytes ${itsPacks} ORDER BY key DESC LIMIT packs_max) AS its_packs`
}

/** Places count down. */
const upToHighest = ({ placeAt }: IndexView): string =>
  `AND substring(key FROM ${placeAt + 1} FOR 4) >= substring(int8send(4294967295 - $9::int8) FROM 5)`

const keptSql = `SELECT ${kinds.kept}, NULL, NULL, NULL, NULL, NULL ${fromKept('$1::int4', '$2::int4')}`

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
  const view = indexOf(query.index)
  const chain = await store.dictionary.ordinalOf(query.chain)
  if (chain === undefined) return noRecords
  const contract = view.byContract ? await store.dictionary.contractOf(chain, query.contract!) : undefined
  if (view.byContract && contract === undefined) return noRecords
  const found = await runAwaiting(readRecords({ ...query, view, chain, contract }), ask =>
    store.distributed ? readHalves(store, ask) : readAll(store, ask, { sql: 'all', highest: undefined }),
  )
  return { ...found, contracts: await store.dictionary.addressesOf([...found.contracts]) }
}

type Which = { sql: 'all' | 'cold'; highest: number | undefined }

/** Of one slot, except where the span has more than one wallet. */
async function readAll(store: StoreDatabase, ask: RecordsAsk, which: Which): Promise<RecordsBatch | undefined> {
  const slots = await store.slots()
  const isOfMany = ask.view === byWallet && !ask.isOneSubject
  const wanted = isOfMany ? slots : [slotOfRecord(slots, ask.view, ask.chain, ask.first)]
  const batches = await Promise.all(wanted.map(slot => readSlot(store, slot, ask, which)))
  return batches.reduce((all, each) => (all === undefined || each === undefined ? undefined : joined(all, each)))
}

function joined(a: RecordsBatch, b: RecordsBatch): RecordsBatch {
  const [rows, runs] = [
    [...a.rows, ...b.rows],
    [...a.runs, ...b.runs],
  ]
  return { rows, runs, highest: a.highest ?? b.highest, horizon: nearest(a.horizon, b.horizon) }
}

/** The first of both: before it nothing was left out of either. */
function nearest(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Buffer.compare(a, b) <= 0 ? a : b
}

async function readSlot(
  store: StoreDatabase,
  slot: number,
  ask: RecordsAsk,
  { sql, highest }: Which,
): Promise<RecordsBatch | undefined> {
  const { view, order, limit, blocks, contract, packsFactor } = ask
  const packs = packsFactor * (Math.ceil(limit / recordsPerPack.get(view)!) + 2)
  const values = [...tableValues(ask), slot, packs, blocks.from, Math.min(blocks.to, highest ?? blockEnd)]
  if (contract !== undefined) values.push(contract)
  const rows = await store.readOf({ table: 'packs', value: slot }, sqls.get(view)![order][sql], ...values)
  if (sql === 'all' && !isKept(rows)) return undefined
  return { rows: rowsIn(rows), ...runsIn(rows, order), highest }
}

function tableValues({ view, chain, order, first, last, limit }: RecordsAsk): Value[] {
  return [view.id, chain, ...(order === 'keys' ? [first, last] : [last, first]), limit]
}

function isKept(rows: readonly Row[]): boolean {
  return rows.some(([kind]) => Number(kind) === kinds.kept)
}

function rowsIn(rows: readonly Row[]): RecordRows[] {
  return rows.flatMap(([kind, , keys, values, lengths]) => {
    if (Number(kind) !== kinds.rows || keys === null) return []
    const words = bytesOf(lengths)
    const count = words.length / 4
    return {
      keys: bytesOf(keys),
      values: bytesOf(values),
      lengths: Array.from({ length: count }, (_, at) => wordAt(words, 4 * at)),
    }
  })
}

/** Forwards packs are those with the first keys of all, so what is left out comes after the last of these keys. */
function runsIn(rows: readonly Row[], order: Order): Pick<RecordsBatch, 'runs' | 'horizon'> {
  const packs = rows.filter(([kind]) => Number(kind) === kinds.pack)
  const isAnyLeftOut = order === 'keys' && packs.length >= Number(packs[0]?.[5] ?? Infinity)
  const horizon = isAnyLeftOut ? packs.map(([, , , key]) => bytesOf(key)).reduce(latest) : undefined
  const runs = [...Map.groupBy(packs, ([, run]) => run).values()].map(its => {
    let at = 0
    return {
      next: () => (its[at] === undefined ? undefined : (bytesOf(its[at++]![2]) as Uint8Array<ArrayBuffer>)),
      isCut: order === 'keys' ? isAnyLeftOut : its.length >= Number(its[0]![5]),
    }
  })
  return { runs, horizon }
}

const latest = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) >= 0 ? a : b)

async function readHalves(store: StoreDatabase, ask: RecordsAsk): Promise<RecordsBatch | undefined> {
  const none: RecordsBatch = { rows: [], runs: [] }
  const readHot = async () => {
    const rows = await store.readHere(sqls.get(ask.view)![ask.order].hot, ...tableValues(ask))
    const [, , , , , coldEnd] = rows.find(([kind]) => Number(kind) === kinds.rows) ?? []
    const batch = isKept(rows) ? { ...none, rows: rowsIn(rows) } : undefined
    return { rows: batch as RecordsBatch | undefined, coldEnd: Number(coldEnd) }
  }
  const readCold = (coldEnd: number) =>
    coldEnd < 0 ? Promise.resolve(none) : readAll(store, ask, { sql: 'cold', highest: coldEnd })
  const { hot, cold } = await store.readHalves(ask.chain, readHot, readCold)
  return hot === undefined || cold === undefined ? undefined : joined(hot, cold)
}
