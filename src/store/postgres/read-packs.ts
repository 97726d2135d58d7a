// The packs of runs as the core asks for them (`../core/work.ts`): one statement gives all of a batch, with the count
// of the chain's changes. On a cluster, where the chain's row is on the coordinator, that is a statement of its own,
// after the others: where it is still the count of the mirror, nothing was folded before they were read.
import { blockEnd } from '../core/runs.ts'
import { type Slots, slotOfContract, slotOfKey } from '../core/slots.ts'
import type {
  Look,
  LooksAsk,
  LooksBatch,
  RecordsAsk,
  RecordsBatch,
  Row,
  SpansAsk,
  SpansBatch,
  WalletAsk,
  WalletBatch,
} from '../core/work.ts'
import { indexViews } from '../indexes/all-indexes.ts'
import { activityView } from '../runs/activity-view.ts'
import { countView } from '../runs/count-view.ts'
import { newestOfBlock, oldestOfBlock, writePlace } from '../runs/place-key.ts'
import { transferView } from '../runs/transfer-view.ts'
import type { IndexView, View, ViewName } from '../runs/view.ts'
import { arrayOf } from './arrays.ts'
import type { Value } from './database.ts'

/** Reads of one slot, and of the tables that stay on the coordinator. */
export type PackQueries = {
  slots: (here: PackQueries['here']) => Promise<Slots>
  isDistributed: boolean
  ofSlot: (slot: number, sql: string, ...values: Value[]) => Promise<Row[]>
  here: (sql: string, ...values: Value[]) => Promise<Row[]>
}

/** About how many records a pack has. */
const recordsPerPack: Readonly<Record<ViewName, number>> = {
  ...{ activity: 13, transfers: 28, counts: 80 },
  ...{ by_wallet: 20, by_token: 14, by_block: 80 },
}

/**
 * A page of the server holds two packs of transfers, which a page of answers reads one after the other, and eight packs
 * of what is looked up alone, because the server hands over whole packs.
 */
export function packBytesOf(view: View): number {
  return view === transferView ? 4_000 : 940
}

/**
 * Whether a run may have a contract. A list is searched as bytes, which finds some that it has not: then a pack is read
 * in vain. Of bits the server reads those alone that it is asked for.
 */
function hasContract(contract: string): string {
  const byte = `(${contract} - first_contract) / 8 + 6`
  return `CASE WHEN ${contract} < first_contract THEN false
    WHEN has_list = 1 THEN position(int4send(${contract}) IN contracts) > 0
    WHEN ${byte} > octet_length(contracts) THEN false
    ELSE get_byte(substring(contracts FROM ${byte} FOR 1), 0) >> ((${contract} - first_contract) % 8) & 1 = 1 END`
}

/** Where the packs of a span begin: with the one that may have its first key. */
const packsFrom = (slot: string, from: string): string =>
  `coalesce((SELECT key FROM packs WHERE slot = ${slot} AND run = id AND key <= ${from} ORDER BY key DESC LIMIT 1), ${from})`

// What the columns of a row are: a pack, the number of its run, its first key, and what follows from the statement; or
// the count of changes and whether the index is kept; or a run with its blocks.
const kinds = { pack: 0, chain: 1, run: 2 } as const

const chainSql = (view: string, chain: string): string => `SELECT ${kinds.chain}, changes, NULL::bytea, NULL::bytea,
  (SELECT count(*) FROM chain_indexes WHERE chain_indexes.chain = ordinal AND view = ${view} AND kept = 1
    AND (phase IS NULL OR phase <> 'remove')) FROM chains WHERE ordinal = ${chain}`

/** What `chainSql` answers among the rows, or, where they are of one slot alone, after them. */
async function stateOf(
  { here }: PackQueries,
  rows: readonly Row[] | undefined,
  view: View,
  chain: number,
): Promise<{ changes: number; isKept: boolean }> {
  const found = rows ?? (await here(chainSql('$1::int4', '$2::int4'), view.id, chain))
  const [, changes, , , kept] = found.find(([kind]) => kind === kinds.chain) ?? [0, -1, 0, 0, 0]
  return { changes, isKept: !indexViews.includes(view as IndexView) || kept > 0 }
}

// The parameters of a walk: view, chain, lowest and highest key, slot, how many packs, the lowest and the highest
// block; then the contract.
const itsRuns = ({ contract }: RecordsAsk): string => `FROM runs WHERE slot = $5::int4 AND view = $1::int4
  AND chain = $2::int4 AND from_block <= $8::int8 AND to_block >= $7::int8
  ${contract === undefined ? '' : `AND ${hasContract('$9::int4')}`}`
const itsPacks = `FROM packs WHERE packs.slot = $5::int4 AND run = id AND key <= $4::bytea
  AND key >= ${packsFrom('$5::int4', '$3::bytea')}`

/** The first packs of all runs by their first keys; the last column is how many there are at most. */
const firstPacksSql = (ask: RecordsAsk): string => `SELECT ${kinds.pack}, id, bytes, pack_key, packs_max
  FROM (SELECT id, pack_key, packs_max, row_number() OVER (ORDER BY pack_key) AS rank
    FROM (SELECT id, $6::int8 + count(*) OVER () AS packs_max ${itsRuns(ask)}) AS its_runs
    CROSS JOIN LATERAL (SELECT key AS pack_key ${itsPacks} ORDER BY key LIMIT packs_max) AS its_keys) AS first_keys
  JOIN packs ON slot = $5::int4 AND run = id AND key = pack_key WHERE rank <= packs_max`

/**
 * Backwards the first keys of packs do not tell how far they reach: large runs give more of them, so that all come to
 * the same key. The last column is how many a run gives at most.
 */
const lastPacksSql = (ask: RecordsAsk): string => `SELECT ${kinds.pack}, id, bytes, NULL::bytea, packs_max
  FROM (SELECT id, 2 + $6::int8 * records / greatest(1, sum(records) OVER ())::int8 AS packs_max ${itsRuns(ask)}) AS its_runs
  CROSS JOIN LATERAL (SELECT bytes ${itsPacks} ORDER BY key DESC LIMIT packs_max) AS its_packs`

/** Of one subject: runs in the order of their blocks, and as many packs of the first of them as asked for. */
function packsInOrderSql(ask: RecordsAsk): string {
  const [inOrder, direction] = ask.order === 'keys' ? ['to_block DESC', 'ASC'] : ['from_block', 'DESC']
  // A merge leaves runs that say that they have a contract, and have it no more.
  // With OFFSET the server looks into each run: before it knows how large the table is it would read all packs instead.
  return `(WITH having_it AS MATERIALIZED (SELECT id, from_block, to_block ${itsRuns(ask)}
      AND EXISTS (SELECT 1 ${itsPacks} OFFSET 0))
    SELECT ${kinds.run}, id, NULL::bytea, NULL::bytea, ${ask.order === 'keys' ? 'to_block' : 'from_block'} FROM having_it
    UNION ALL SELECT * FROM (SELECT ${kinds.pack}, id, bytes, key, 0::int8
      FROM (SELECT id, from_block, to_block FROM having_it ORDER BY ${inOrder}, id) AS in_order
      CROSS JOIN LATERAL (SELECT key, bytes ${itsPacks} ORDER BY key ${direction}) AS its_packs
      LIMIT $6::int8) AS first_packs)`
}

/** Of few packs a page of transfers is made; small packs of indexes are better read from all runs at once. */
function isInOrder({ view, isOneSubject }: RecordsAsk): boolean {
  return view === transferView && isOneSubject
}

const texts = new Map<string, string>()

function walkSql(ask: RecordsAsk, isWhole: boolean): string {
  const name = [ask.order, isInOrder(ask), ask.contract === undefined, isWhole].join()
  let text = texts.get(name)
  if (text === undefined) {
    text = isInOrder(ask) ? packsInOrderSql(ask) : ask.order === 'keys' ? firstPacksSql(ask) : lastPacksSql(ask)
    if (isWhole) text = `${text} UNION ALL ${chainSql('$1::int4', '$2::int4')}`
    texts.set(name, text)
  }
  return text
}

export async function readRecords(queries: PackQueries, ask: RecordsAsk): Promise<RecordsBatch> {
  const { view, chain, order, first, last, limit, blocks, contract, packsFactor } = ask
  const slots = await queries.slots(queries.here)
  const isInAll = { address: !ask.isOneSubject, contract: contract === undefined, place: false }[view.keysBeginWith]
  const wanted = isInAll ? slots : [slotOfKey(slots, view, chain, first)]
  const packs = Math.ceil(packsFactor * (Math.ceil(limit / recordsPerPack[view.name]) + 2))
  const [low, high] = order === 'keys' ? [first, last] : [last, first]
  const isWhole = !queries.isDistributed && wanted.length === 1
  const read = async (slot: number): Promise<Row[]> => {
    const values = [view.id, chain, low, high, slot, packs, blocks.from, Math.min(blocks.to, ask.fold ?? blockEnd)]
    return await queries.ofSlot(slot, walkSql(ask, isWhole), ...values, ...(contract === undefined ? [] : [contract]))
  }
  const parts = await Promise.all(wanted.map(read))
  const state = await stateOf(queries, isWhole ? parts[0] : undefined, view, chain)
  const found = parts.map(rows => (isInOrder(ask) ? runsInOrder(rows!, ask, packs) : runsIn(rows!, order)))
  const horizon = found.map(each => each.horizon).reduce((a, b) => nearest(a, b, order), undefined)
  const runs = found.flatMap(each => each.runs)
  return { ...state, runs, horizon }
}

type FoundRuns = Pick<RecordsBatch, 'runs' | 'horizon'>

/** The first of both in the walk: before it nothing was left out of either. */
function nearest(
  a: Uint8Array | undefined,
  b: Uint8Array | undefined,
  order: RecordsAsk['order'],
): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Buffer.compare(a, b) <= 0 === (order === 'keys') ? a : b
}

function packsOf(rows: readonly Row[], isCut: boolean): RecordsBatch['runs'][number] {
  let at = 0
  return { next: () => rows[at++]?.[2], isCut }
}

/** Forwards packs are those with the first keys of all, so what is left out comes after the last of these keys. */
function runsIn(rows: readonly Row[], order: RecordsAsk['order']): FoundRuns {
  const packs = rows.filter(([kind]) => kind === kinds.pack)
  const byRun = [...Map.groupBy(packs, ([, run]) => run).values()]
  if (order === 'back') return { runs: byRun.map(its => packsOf(its, its.length >= its[0]![4])), horizon: undefined }
  const isAnyLeftOut = packs.length >= (packs[0]?.[4] ?? Number.POSITIVE_INFINITY)
  const inOrder = (its: readonly Row[]): Row[] => its.toSorted((a, b) => Buffer.compare(a[3], b[3]))
  const horizon = isAnyLeftOut ? inOrder(packs).at(-1)![3] : undefined
  return { runs: byRun.map(its => packsOf(inOrder(its), isAnyLeftOut)), horizon }
}

/** What is left out of the last run that was reached comes after its last pack here; others begin with their blocks. */
function runsInOrder(rows: readonly Row[], ask: RecordsAsk, packsMax: number): FoundRuns {
  const { order } = ask
  const packs = rows.filter(([kind]) => kind === kinds.pack)
  const byRun = Map.groupBy(packs, ([, run]) => run)
  const isAnyLeftOut = packs.length >= packsMax
  const runs = [...byRun.values()].map(its => packsOf(its, false))
  if (!isAnyLeftOut) return { runs, horizon: undefined }
  const ofBlocks = rows
    .filter(([kind, run]) => kind === kinds.run && !byRun.has(run))
    .map(([, , , , block]) => keyOfBlock(ask, block))
  return { runs, horizon: [packs.at(-1)![3], ...ofBlocks].reduce((a, b) => nearest(a, b, order)) }
}

/** The first key of a block that the walk meets. */
function keyOfBlock({ view, order, first }: RecordsAsk, block: number): Uint8Array {
  const key = Uint8Array.from(first)
  writePlace(key, view.placeAt!, { ...(order === 'keys' ? newestOfBlock : oldestOfBlock), block })
  return key
}

// Looking up single keys of contracts: one statement gives each pack that may have some of them once, with the numbers
// of the keys. Its parameters: contracts, keys, lowest and highest blocks, slot, chain, view, up to which run, the
// fold, after which run.

const looksSql = `WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::int4[], $2::bytea[], $3::int8[], $4::int8[])
      WITH ORDINALITY AS given (of_contract, look_key, lowest, highest, at)
  ), its_runs AS MATERIALIZED (
    SELECT of_contract, id, from_block, to_block,
      row_number() OVER (PARTITION BY of_contract ORDER BY from_block, id) AS rank
    FROM (SELECT of_contract, min(lowest) AS lowest, max(highest) AS highest FROM given GROUP BY of_contract) AS contracts
    CROSS JOIN LATERAL (SELECT id, from_block, to_block FROM runs WHERE slot = $5::int4 AND chain = $6::int4
      AND view = $7::int4 AND from_block <= least(highest, $9::int8) AND to_block >= lowest
      AND ${hasContract('of_contract')}) AS having_it
  )
  SELECT ${kinds.pack}, id, bytes, wanted, 0::int8 FROM (SELECT id, pack_key, string_agg(int4send(at::int4), '') AS wanted
      FROM given JOIN its_runs USING (of_contract)
      CROSS JOIN LATERAL (SELECT key AS pack_key FROM packs WHERE slot = $5::int4 AND run = id AND key <= look_key
        ORDER BY key DESC LIMIT 1) AS its_pack
      WHERE from_block <= highest AND to_block >= lowest AND rank > $10::int8 AND rank <= $8::int8
      GROUP BY id, pack_key) AS looked
    JOIN packs ON slot = $5::int4 AND run = id AND key = pack_key
  UNION ALL SELECT ${kinds.run}, of_contract, NULL, NULL, min(from_block) FROM its_runs WHERE rank > $8::int8
    GROUP BY of_contract`
const looksHereSql = `${looksSql} UNION ALL ${chainSql('$7::int4', '$6::int4')}`
const allRuns = { from: 0, to: 2 ** 31 }

export async function readLooks(queries: PackQueries, ask: LooksAsk): Promise<LooksBatch> {
  const { chain, view, looks, runs = allRuns } = ask
  const slots = await queries.slots(queries.here)
  const isWhole = !queries.isDistributed
  const bySlot = Map.groupBy(looks.keys(), at => slotOfContract(slots, looks[at]!.contract))
  const packs: LooksBatch['packs'] = []
  const beyond = new Map<number, number>()
  const read = async (slot: number, places: readonly number[]): Promise<Row[]> => {
    const some = places.map(at => looks[at]!)
    const rows = await queries.ofSlot(
      slot,
      isWhole ? looksHereSql : looksSql,
      ...columnsOf(some),
      ...[slot, chain, view.id, Math.min(runs.to, allRuns.to), ask.fold ?? blockEnd, runs.from],
    )
    for (const [kind, number, bytes, wanted, block] of rows)
      if (kind === kinds.run) beyond.set(number, block)
      else if (kind === kinds.pack) packs.push({ bytes, looks: wantedOf(wanted).map(at => places[at - 1]!) })
    return rows
  }
  // Without looks the count of changes alone is asked for.
  if (isWhole && bySlot.size === 0) bySlot.set(slots[0]!, [])
  const parts = await Promise.all(Array.from(bySlot, ([slot, places]) => read(slot, places)))
  return { ...(await stateOf(queries, isWhole ? parts[0] : undefined, view, chain)), packs, beyond }
}

function columnsOf(looks: readonly Look[]): Value[] {
  return [
    arrayOf.int(looks.map(({ contract }) => contract)),
    arrayOf.bytes(looks.map(({ key }) => key)),
    arrayOf.big(looks.map(({ blocks }) => blocks.from)),
    arrayOf.big(looks.map(({ blocks }) => blocks.to)),
  ]
}

function wantedOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readInt32BE(4 * at))
}

// Spans: slot, chain, contract, how many packs, the fold; then of each the view, the first and the last key.

function spansSql(count: number): string {
  const branches = Array.from({ length: count }, (_, at) => {
    const [view, from, to] = [`$${6 + 3 * at}::int4`, `$${7 + 3 * at}::bytea`, `$${8 + 3 * at}::bytea`]
    return `(SELECT ${kinds.pack}, ${at}::int8, bytes, key, 0::int8 FROM runs
      CROSS JOIN LATERAL (SELECT key, bytes FROM packs WHERE packs.slot = $1::int4 AND run = id AND key <= ${to}
        AND key >= ${packsFrom('$1::int4', from)} ORDER BY key LIMIT $4::int8) AS its_packs
      WHERE runs.slot = $1::int4 AND chain = $2::int4 AND view = ${view} AND from_block <= $5::int8
        AND ${hasContract('$3::int4')}
      ORDER BY key LIMIT $4::int8)`
  })
  return branches.join(' UNION ALL ')
}

export async function readSpans(queries: PackQueries, ask: SpansAsk): Promise<SpansBatch> {
  const { chain, contract, spans, packsMax, fold } = ask
  const slot = slotOfContract(await queries.slots(queries.here), contract)
  const values = spans.flatMap(({ view, from, to }) => [view.id, from, to])
  const isWhole = !queries.isDistributed
  const ofSpans = spansSql(spans.length)
  const sql = isWhole ? `${ofSpans} UNION ALL ${chainSql(`${countView.id}`, '$2::int4')}` : ofSpans
  const rows = await queries.ofSlot(slot, sql, slot, chain, contract, Math.min(packsMax, 2 ** 40) + 1, fold, ...values)
  const { changes } = await stateOf(queries, isWhole ? rows : undefined, countView, chain)
  const bySpan = Map.groupBy(
    rows.filter(([kind]) => kind === kinds.pack),
    ([, at]) => at as number,
  )
  return {
    changes,
    spans: spans.map((_, at) => {
      const packs = (bySpan.get(at) ?? []).sort((a, b) => Buffer.compare(a[3], b[3]))
      return { packs: packs.slice(0, packsMax).map(([, , bytes]) => bytes), horizon: packs[packsMax]?.[3] }
    }),
  }
}

const walletSql = `SELECT chain, bytes, NULL::int8 FROM runs CROSS JOIN LATERAL (SELECT bytes FROM packs
  WHERE packs.slot = $2::int4 AND run = id AND key <= $1::bytea ORDER BY key DESC LIMIT 1) AS its_pack
  WHERE runs.slot = $2::int4 AND view = ${activityView.id}`
const changesSql = 'SELECT ordinal, NULL::bytea, changes FROM chains'

export async function readWallet(queries: PackQueries, { key }: WalletAsk): Promise<WalletBatch> {
  const slot = slotOfKey(await queries.slots(queries.here), activityView, 0, key)
  const rows = queries.isDistributed
    ? [...(await queries.ofSlot(slot, walletSql, key, slot)), ...(await queries.here(changesSql))]
    : await queries.ofSlot(slot, `${walletSql} UNION ALL ${changesSql}`, key, slot)
  return {
    changes: new Map(rows.filter(([, bytes]) => bytes === null).map(([chain, , changes]) => [chain, changes])),
    packs: rows.filter(([, bytes]) => bytes !== null).map(([chain, bytes]) => ({ chain, bytes })),
  }
}
