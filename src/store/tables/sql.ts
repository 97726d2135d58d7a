// How the plain tables are read and written: statements, written once for both engines, in generators that yield them.
// An engine says where they run and turns its few words into its own SQL (`sql.ts` of each). No IO here.
//
// Statements are PostgreSQL's, with `$1` for values, as far as SQLite knows it too, and these words:
//   now_ms()     unix milliseconds, and
//   today()      the day as YYYY-MM-DD in UTC, by the clock of the server, or of the process where there is none
//   items($1)    the texts of a JSON array: `name IN items($1)`
//   given        the rows of a `GivenSql`: `FROM given`; `IN given` where it has one column
//   hex(x)       the hex digits of bytes, in any case
//   listed(x), joined(x), texts(x)   a column of all rows as one value: a JSON array, bytes without a separator, texts
//                with the byte FF between them, which no UTF-8 has
//   by_key(x)    their order; nothing where rows lie in that order and are read so
//   least(), greatest()   of values that are not NULL
// `FOR SHARE` and `FOR UPDATE SKIP LOCKED` say nothing where a file has one writer.
// Integers are numbers, up to 2^53; flags 1 and 0; unsigned 64-bit integers decimal text. Text with any character, as
// chains have it, is given in a column of type `utf8` and read by `textOf`: PostgreSQL's text cannot hold every one.
import type { ChainId } from '../../model.ts'

export type Cell = string | number | Uint8Array | null
export type Row = readonly Cell[]

export type Statement = {
  /** `run` answers one row: how many rows were written. `lock` locks what `values` name, to the transaction's end. */
  does: 'read' | 'write' | 'run' | 'lock'
  sql: string
  values: readonly Cell[]
  given?: { columns: readonly GivenColumn[]; rows: readonly Row[] }
}

export type Sql<T> = Generator<Statement, T, Row[]>

export function* rows<R extends Row>(sql: string, ...values: Cell[]): Sql<R[]> {
  return (yield { does: 'read', sql, values }) as readonly Row[] as R[]
}

export function* row<R extends Row>(sql: string, ...values: Cell[]): Sql<R | undefined> {
  return (yield* rows<R>(sql, ...values))[0]
}

/** Returns how many rows were written. */
export function* run(sql: string, ...values: Cell[]): Sql<number> {
  const [count] = yield { does: 'run', sql, values }
  return count![0] as number
}

/** A statement that writes and returns what it wrote. */
export function* written<R extends Row>(sql: string, ...values: Cell[]): Sql<R[]> {
  return (yield { does: 'write', sql, values }) as readonly Row[] as R[]
}

/** One at a time for each name, until the transaction ends. Sorted, so that two never wait for each other. */
export function* lock(names: Iterable<string>): Sql<void> {
  yield { does: 'lock', sql: '', values: [...new Set(names)].sort() }
}

export type GivenColumn = { name: string; type: 'int4' | 'int8' | 'text' | 'utf8' | 'bytea' }

/** A statement over a table `given` of any number of rows, which come with the call. */
export type GivenSql = { columns: readonly GivenColumn[]; sql: string }

/** `columns`: their names and types, as in CREATE TABLE. */
export function over(columns: string, sql: string): GivenSql {
  const named = columns.split(',').map(column => column.trim().split(/\s+/) as [string, GivenColumn['type']])
  return { columns: named.map(([name, type]) => ({ name, type })), sql }
}

export function* rowsOver<R extends Row>(
  { columns, sql }: GivenSql,
  given: readonly Row[],
  ...values: Cell[]
): Sql<R[]> {
  if (given.length === 0) return []
  return (yield { does: 'read', sql, values, given: { columns, rows: given } }) as readonly Row[] as R[]
}

/** Returns how many rows were written. One statement may not write one row twice: see `lastOfEach`. */
export function* runOver({ columns, sql }: GivenSql, given: readonly Row[], ...values: Cell[]): Sql<number> {
  if (given.length === 0) return 0
  const [count] = yield { does: 'run', sql, values, given: { columns, rows: given } }
  return count![0] as number
}

/** The last value of each key, in the order of keys: two writers that meet the same rows wait for each other once. */
export function lastOfEach<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const keyed = values.map(value => ({ key: keyOf(value), value }))
  // Long lists come in order.
  if (keyed.every(({ key }, index) => index === 0 || key > keyed[index - 1]!.key)) return [...values]
  const byKey = new Map(keyed.map(({ key, value }) => [key, value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

/** Of a column of type `utf8`. */
export function textOf(cell: Cell): string | undefined {
  if (cell === null || typeof cell === 'number') return undefined
  return typeof cell === 'string' ? cell : Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString()
}

/** For ON CONFLICT … DO UPDATE SET. */
export function replacing(...columns: string[]): string {
  return columns.map(column => `${column} = excluded.${column}`).join()
}

/** The numbers that stand for chains. */
export type Ordinals = ReadonlyMap<ChainId, number>

/** Finds the numbers of chains, and gives new ones. */
export type Numbers = {
  ordinalOf(chain: ChainId): Promise<number | undefined>
  addOrdinals(chains: readonly ChainId[]): Promise<Ordinals>
}

/** Where work runs: on which connection, in which transaction, and how often it is tried. Work may be begun again. */
export interface Tables {
  ordinalOf(chain: ChainId | undefined): Promise<number | undefined>
  reading<T>(work: () => Sql<T>): Promise<T>
  /** One transaction; the revision counts up when it changed anything. `adding` get numbers where they have none. */
  writing<T>(work: (ordinals: Ordinals) => Sql<T>, adding?: readonly ChainId[]): Promise<T>
  /** A read of rows with one key, by which a cluster spreads them. */
  readingOf<T>(key: { table: 'solana_accounts'; value: Uint8Array }, work: () => Sql<T>): Promise<T>
  /** `writing` of rows that a cluster spreads. */
  writingSpread<T>(work: () => Sql<T>): Promise<T>
  /** One transaction that changes nothing an answer can show: the revision stays. */
  writingUnseen<T>(work: () => Sql<T>): Promise<T>
  /** What processes tell each other: a request that is only counted never waits for a commit of history. */
  shared: {
    reading<T>(work: () => Sql<T>): Promise<T>
    writing<T>(work: () => Sql<T>): Promise<T>
    /** Statements that need no transaction around them. */
    stating<T>(work: () => Sql<T>): Promise<T>
  }
  /** The count of changes of labels: a version that costs nothing, statements that read it and count it up. */
  labelCount: { version(): number; read: string; up: string; committed(count: number): void }
  /** How names are searched for a text: conditions on a column, with the text as `$1`, and their order. */
  names: Record<'begins' | 'has' | 'order', (column: string) => string> & { text(text: string): Cell }
}
