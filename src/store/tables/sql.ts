// How the plain tables are written: rows by the names of their columns, whose types and keys `store-tables.ts` has. No
// IO here.
import { insert, type Value, type Work } from '../core/work.ts'
import { type Table, tableOf } from '../schema.ts'
import { storeTables } from './store-tables.ts'

/** For writes of plain tables, and of those that no answer shows. */
export const plain = { of: 'plain' } as const
export const plainUnseen = { of: 'plain', unseen: true } as const

/** Undefined is NULL. */
export type Cells = Readonly<Record<string, Value | undefined>>

/** What a row does that meets another of its key: each column is replaced, or set to this, where that is so. */
export type Meeting = { key?: readonly string[]; set?: Readonly<Record<string, string>>; where?: string }

const tables = new Map<string, Table>()

function tableNamed(name: string): Table {
  const known = tables.get(name) ?? tableOf(storeTables, name)
  tables.set(name, known)
  return known
}

/** Writes rows that all have the same columns. One call may not write one row twice: see `lastOfEach`. */
export function* put(table: string, given: readonly Cells[], meeting?: Meeting): Work<void> {
  if (given.length === 0) return
  const names = Object.keys(given[0]!)
  const types = new Map(tableNamed(table).columns.map(({ name, type }) => [name, type]))
  yield* insert(
    table,
    names.map(name => [name, types.get(name)!, given.map(cells => cells[name] ?? null)] as const),
    onConflict(table, names, meeting),
  )
}

/** What follows ON CONFLICT. */
export function onConflict(table: string, columns: readonly string[], { key, set = {}, where }: Meeting = {}): string {
  const unique = key ?? tableNamed(table).key
  const sets = columns.flatMap(name => (unique.includes(name) ? [] : `${name} = ${set[name] ?? `excluded.${name}`}`))
  return `(${unique}) DO UPDATE SET ${sets}${where === undefined ? '' : ` WHERE ${where}`}`
}

/** The last value of each key, in the order of keys: two writers that meet the same rows wait for each other once. */
export function lastOfEach<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const keyed = values.map(value => ({ key: keyOf(value), value }))
  // Long lists come in order.
  if (keyed.every(({ key }, index) => index === 0 || key > keyed[index - 1]!.key)) return [...values]
  const byKey = new Map(keyed.map(({ key, value }) => [key, value]))
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

/** Of a column of type `utf8`: PostgreSQL's text cannot hold every character, as chains have them. */
export function textOf(cell: Value): string | undefined {
  if (cell === null || typeof cell === 'number') return undefined
  return typeof cell === 'string' ? cell : Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString()
}
