// What the core asks of an engine. The core is written once, as generators that yield what they want to have read or
// written, whole batches at a time; an engine that answers at once runs them to their end, another awaits each answer.
// No IO here.
import type { Interval } from '../../model.ts'
import type { Pack } from '../runs/pack.ts'
import type { View } from '../runs/view.ts'
import { type ColumnType, tableOf } from '../schema.ts'

export type Value = number | string | Uint8Array | null
/** A list is one parameter: `IN $1:ints`, and so are rows of several columns: `IN $2:rows(bytes, text)`. */
export type Parameter = Value | readonly Value[] | readonly (readonly Value[])[]
// biome-ignore lint/suspicious/noExplicitAny: each reader knows the columns that it asked for.
export type Row = any[]

/**
 * Statements are written once, and each engine reads them in its own dialect: `$1` is a parameter, `$1:big` one whose
 * type the statement does not tell, `IN $1:ints` any of a list, `IN $2:rows(bytes, text)` any of some rows (the last
 * parameter), `FROM EACH $1:ints AS x` the values of a list as `x.value`, and
 *   FOR CHANGE   a row that no other transaction changes before the end of this one; `FOR SHARE` and `FOR UPDATE SKIP
 *                LOCKED` are PostgreSQL's. They say nothing where a file has one writer
 *   now_ms()     unix milliseconds, and
 *   today()      the day as YYYY-MM-DD in UTC, by the clock of the server, or of the process where there is none
 *   hex(x)       the hex digits of bytes, in any case
 *   listed(x), joined(x), texts(x)   a column of all rows as one value: a JSON array, bytes without a separator, texts
 *                with the byte FF between them, which no UTF-8 has
 *   by_key(x)    their order; nothing where rows lie in that order and are read so
 *   BEGINS(x, $1:utf8), IS_NAMED(x, $1:utf8), HAS(x, $1:utf8), BY_NAME(x)   whether a name begins with a text, is it
 *                or has it, of which an index finds the first two, and the order of that index
 *   JSON_NUMBER(x, 'name')   a number in a column of JSON
 *   greatest(), least()      of values that are not NULL
 * `written` writes and answers the rows that it wrote. `of`: rows with one key, by which a cluster spreads them.
 */
export type Statement = {
  kind: 'rows' | 'run' | 'written'
  sql: string
  values: readonly Parameter[]
  of?: RowKey | undefined
}
export type RowKey = { table: 'solana_accounts'; value: Uint8Array }

/** Many rows at once, given as columns. `conflict`: what follows ON CONFLICT. */
export type Insert = {
  kind: 'insert'
  table: string
  columns: readonly (readonly [name: string, type: ColumnType, values: readonly Value[]])[]
  conflict: string | undefined
}

/** Packs for one part of a run, in the order of their keys. */
export type InsertPacks = { kind: 'packs'; slot: number; run: number; packs: readonly Pack[] }

/** The number of a new run. */
export type NextNumber = { kind: 'next' }

/**
 * Held to the end of the transaction. `runs`: a change of the runs of a chain excludes all others, and work that relies
 * on them (`shared`) excludes such changes; `try`: does not wait, and is told whether it has them.
 */
export type Lock = { kind: 'lock'; what: 'runs' | 'coverage'; how?: 'shared' | 'try' | undefined; chain: number }

/** The same of work with any of these names. */
export type NamesLock = { kind: 'names'; names: readonly string[] }

/**
 * Ends the transaction and begins the next. `part`: only where a transaction is not visible at one moment (a cluster).
 * Answers whether it did.
 */
export type End = { kind: 'end'; of: 'step' | 'part' }

/** The first packs of runs that a walk over the keys of a view meets. */
export type RecordsAsk = {
  kind: 'records'
  chain: number
  view: View
  /** Its number, for a view by contract. Undefined: all. */
  contract: number | undefined
  order: 'keys' | 'back'
  /** Keys in the order of the walk, both included. */
  first: Uint8Array
  last: Uint8Array
  limit: number
  /** Which blocks records of the walk can have. */
  blocks: Interval
  /** Runs that begin above it are left out: those of a fold that is under way. Undefined: none are. */
  fold: number | undefined
  /** Keys differ in the place alone: a walk meets runs in the order of their blocks. */
  isOneSubject: boolean
  /** As if records lay evenly, times this. */
  packsFactor: number
  /** How many runs the batches before this one gave: one object asks for all batches of a walk. */
  runsGiven: number
}

/** The packs of a run in the order of the walk, the first with the one that may have the first key. */
export type RunPacks = {
  /** `packKey`: the first key of the pack before. Undefined at the end of what is here. */
  next: (packKey: () => Uint8Array) => Uint8Array<ArrayBuffer> | undefined
  /** The run may have more than what is here. */
  isCut: boolean
}

export type RecordsBatch = {
  runs: RunPacks[]
  /** Nothing is answered from an index that is not kept, or is emptied. */
  isKept: boolean
  /** The count of the chain's changes in the moment of the batch. */
  changes: number
  /**
   * What was left out comes at this key or later in the walk; of runs that are cut without one, right after what is
   * here.
   */
  horizon?: Uint8Array | undefined
  /** Of the nearest run that was not given, the block that the walk meets first. All batches are of one moment then. */
  nextBlock?: number | undefined
}

/** A key of which the last record at or before it is looked for, in runs of these blocks. */
export type Look = { contract: number; key: Uint8Array; blocks: Interval }

/** Packs that may have the records of single keys of contracts. */
export type LooksAsk = {
  kind: 'looks'
  chain: number
  view: View
  looks: readonly Look[]
  fold?: number | undefined
  /** Only in some runs of each contract, in the order of their lowest blocks. */
  runs?: { from: number; to: number }
}

export type LooksBatch = {
  isKept: boolean
  changes: number
  /** `looks`: the places in the list of those that the pack may answer. */
  packs: { looks: readonly number[]; bytes: Uint8Array }[]
  /** Of contracts with further runs, the lowest block of these. */
  beyond: ReadonlyMap<number, number>
}

/** All packs of spans of keys of a contract, up to `packsMax` of each: those with the first keys. */
export type SpansAsk = {
  kind: 'spans'
  chain: number
  fold: number
  contract: number
  spans: readonly { view: View; from: Uint8Array; to: Uint8Array }[]
  packsMax: number
}
/** In the order of spans. `horizon`: what was left out of a span comes at this key or later. */
export type SpansBatch = { changes: number; spans: { packs: Uint8Array[]; horizon: Uint8Array | undefined }[] }

/** The pack of each run of `activity`, of all chains, that may have an address. */
export type WalletAsk = { kind: 'wallet'; key: Uint8Array }
export type WalletBatch = { changes: ReadonlyMap<number, number>; packs: { chain: number; bytes: Uint8Array }[] }

export type Ask =
  | Statement
  | Insert
  | InsertPacks
  | NextNumber
  | Lock
  | NamesLock
  | End
  | RecordsAsk
  | LooksAsk
  | SpansAsk
  | WalletAsk
export type Work<T> = Generator<Ask, T, unknown>

export function* rows(sql: string, ...values: Parameter[]): Work<Row[]> {
  return (yield { kind: 'rows', sql, values }) as Row[]
}

export function* row(sql: string, ...values: Parameter[]): Work<Row | undefined> {
  return ((yield { kind: 'rows', sql, values }) as Row[])[0]
}

/** Of a column of type `utf8`: PostgreSQL's text cannot hold every character, as chains have them. */
export function textOf(cell: Value): string | undefined {
  if (cell === null || typeof cell === 'number') return undefined
  return typeof cell === 'string' ? cell : Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString()
}

/** Of rows with one key. */
export function* rowOf(of: RowKey, sql: string, ...values: Parameter[]): Work<Row | undefined> {
  return ((yield { kind: 'rows', sql, values, of }) as Row[])[0]
}

export function* written(sql: string, ...values: Parameter[]): Work<Row[]> {
  return (yield { kind: 'written', sql, values }) as Row[]
}

/** Answers how many rows it wrote. */
export function* run(sql: string, ...values: Parameter[]): Work<number> {
  return (yield { kind: 'run', sql, values }) as number
}

/** A row by the names of its columns, whose types its table knows. Undefined is NULL. */
export type Cells = Readonly<Record<string, Value | undefined>>

/** Rows that are new and have the same columns. `conflict`: what follows ON CONFLICT. */
export function* insert(table: string, given: readonly Cells[], conflict?: string): Work<void> {
  if (given.length === 0) return
  const types = new Map(tableOf(table).columns.map(({ name, type }) => [name, type]))
  const columns = Object.keys(given[0]!).map(name => {
    return [name, types.get(name)!, given.map(cells => cells[name] ?? null)] as const
  })
  yield { kind: 'insert', table, columns, conflict }
}

/** What a row does that meets another of its key: each column is replaced, or set to this, where that is so. */
export type Meeting = { key?: readonly string[]; set?: Readonly<Record<string, string>>; where?: string }

/** The same of rows that replace those of their keys. One call may not write one row twice: see `lastOfEach`. */
export function* put(table: string, given: readonly Cells[], meeting?: Meeting): Work<void> {
  if (given.length > 0) yield* insert(table, given, onConflict(table, Object.keys(given[0]!), meeting))
}

/** What follows ON CONFLICT. */
export function onConflict(
  table: string,
  columns: readonly string[],
  { key = tableOf(table).key, set = {}, where }: Meeting = {},
): string {
  const sets = columns.flatMap(name => (key.includes(name) ? [] : `${name} = ${set[name] ?? `excluded.${name}`}`))
  if (sets.length === 0) return 'DO NOTHING'
  return `(${key}) DO UPDATE SET ${sets}${where === undefined ? '' : ` WHERE ${where}`}`
}

/** The last value of each key, in the order of keys: two writers that meet the same rows wait for each other once. */
export function lastOfEach<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const keyed = values.map(value => ({ key: keyOf(value), value }))
  // Long lists come in order.
  if (keyed.every(({ key }, index) => index === 0 || key > keyed[index - 1]!.key)) return [...values]
  const byKey = new Map(keyed.map(({ key, value }) => [key, value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

export function* insertPacks(slot: number, of: number, packs: readonly Pack[]): Work<void> {
  if (packs.length > 0) yield { kind: 'packs', slot, run: of, packs }
}

export function* nextNumber(): Work<number> {
  return (yield { kind: 'next' }) as number
}

export function* lock(what: Lock['what'], chain: number, how?: Lock['how']): Work<boolean> {
  return (yield { kind: 'lock', what, how, chain }) as boolean
}

/** Sorted, so that two never wait for each other. */
export function* lockNames(names: Iterable<string>): Work<void> {
  yield { kind: 'names', names: [...new Set(names)].sort() }
}

/** Ends the transaction: what was done so far stays, and others get their turn. */
export function* endStep(): Work<void> {
  yield { kind: 'end', of: 'step' }
}

export function* endPart(): Work<boolean> {
  return (yield { kind: 'end', of: 'part' }) as boolean
}

export function* records(ask: RecordsAsk): Work<RecordsBatch> {
  return (yield ask) as RecordsBatch
}

export function* looks(ask: LooksAsk): Work<LooksBatch> {
  return (yield ask) as LooksBatch
}

export function* spans(ask: SpansAsk): Work<SpansBatch> {
  return (yield ask) as SpansBatch
}

export function* wallet(ask: WalletAsk): Work<WalletBatch> {
  return (yield ask) as WalletBatch
}

export function runNow<Asked, T>(work: Generator<Asked, T, unknown>, answer: (ask: Asked) => unknown): T {
  let step = work.next()
  while (!step.done) step = work.next(answer(step.value))
  return step.value
}

export async function runAwaiting<Asked, T>(
  work: Generator<Asked, T, unknown>,
  answer: (ask: Asked) => Promise<unknown>,
): Promise<T> {
  let step = work.next()
  while (!step.done) step = work.next(await answer(step.value))
  return step.value
}

/** Where work runs. */
export interface Place {
  /** One moment, as far as the engine can; what it yields is read alone. */
  read<T>(work: () => Work<T>): Promise<T>
  /** One transaction, or several that `endStep` and `endPart` end. Run again from its start where the server asks. */
  write<T>(work: () => Work<T>, options?: WriteOptions): Promise<T>
}

/** How an engine runs the work of the core. */
export interface Engine extends Place {
  /** Bytes of a full pack. */
  packBytesOf(view: View): number
  /** The same with a check in each transaction, which throws to undo it. */
  fenced(check: () => Work<void>): Engine
  /**
   * What processes tell each other: a request that is only counted never waits for a commit of history. `state` runs
   * statements that need no transaction around them.
   */
  shared: Place & { state<T>(work: () => Work<T>): Promise<T> }
  /** The count of changes of labels: a version that costs nothing, statements that read it and count it up. */
  labelCount: { version(): number; read: string; up: string; committed(count: number): void }
}

/**
 * `unseen`: nothing of it can be seen in an answer. `of`: rows of chains, if nothing is said; `plain` ones, which are
 * one transaction everywhere, and those of them that a cluster spreads.
 */
export type WriteOptions = { unseen?: boolean; of?: 'plain' | 'spread' }
export const plain = { of: 'plain' } as const satisfies WriteOptions
export const plainUnseen = { of: 'plain', unseen: true } as const satisfies WriteOptions
