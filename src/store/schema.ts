// The schema of a store: how its tables are read, in the words of an engine or for a copy of a store; their format, and
// which stores are refused. Pure.
import { AlmanacError } from '../errors.ts'
import { storeTables } from './tables/store-tables.ts'

/** Of the tables and of what is packed in them. Raise it with any change of either: no store changes its format. */
export const storeFormat = 21

/** For a caller that must not create a store: a typo in its address would look like an empty one. */
export function noStoreAt(location: string): AlmanacError {
  return new AlmanacError('not_found', `There is no store at ${location.replace(/^file:/, '')}.`, {
    hint: 'start the service once, which creates it; if it runs, run this in its folder, or give --store or --config.',
  })
}

/** Refuses a store of another format, which is left as it is. `what` begins the sentence: "The store file:a.db". */
export function requireFormat(format: number, what: string): void {
  const has = `${what} has format ${format}; this version of Almanac reads and writes ${storeFormat}.`
  if (format > storeFormat)
    throw new AlmanacError('store_newer', has, {
      hint: 'start the newer version of Almanac that wrote it, or name another store under store.',
    })
  if (format < storeFormat)
    throw new AlmanacError('store_older', has, {
      hint: 'name an empty store under store and index again, or go on with the version that wrote it; it was left as it is.',
    })
}

// Tables, as `tables/store-tables.ts` has them.

/** `utf8`: text of chains, which the text of PostgreSQL cannot hold: bytes there. */
export type ColumnType = 'int' | 'big' | 'float' | 'text' | 'utf8' | 'bytes'
export type Table = { columns: readonly { name: string; type: ColumnType }[]; key: readonly string[] }

const createTable = /^CREATE TABLE (\w+) \(([\s\S]*?)\);$/gm
const column = /(?<=^ *|, )(\w+) (int|big|float|text|utf8|bytes)\b/gm
const keyOfOne = /(\w+) \w+(?: BY BYTES)? PRIMARY KEY/
const keyOfMany = /,\s*PRIMARY KEY \((.*)\)\s*$/

/** How an engine says what is in the tables. */
export type TableDialect = {
  types: Readonly<Record<ColumnType, string>>
  /** Words of the tables, and what they are instead. */
  words: readonly (readonly [word: RegExp | string, instead: string])[]
  /** Tables whose rows are not stored in the order of their key: it is an index beside them. */
  keyBeside: readonly string[]
  kindOf: (name: string) => string
  optionsOf: (name: string, table: Table) => string
}

export function tablesIn(dialect: TableDialect, tables: string): string {
  const { types, words, keyBeside } = dialect
  const made = tables.replace(createTable, (_, name: string, body: string) => {
    const key = keyBeside.includes(name) ? keyOfMany.exec(body)?.[1] : undefined
    const left = key === undefined ? body : body.replace(keyOfMany, '\n')
    const columns = left.replace(column, (_, its: string, type: ColumnType) => `${its} ${types[type]}`)
    const index = key === undefined ? '' : `\nCREATE UNIQUE INDEX ${name}_key ON ${name} (${key});`
    return `CREATE ${dialect.kindOf(name)} ${name} (${columns})${dialect.optionsOf(name, parsed(body))};${index}`
  })
  return words.reduce((text, [word, instead]) => text.replaceAll(word, instead), made)
}

const known = new Map<string, Table>()

export function tableOf(name: string): Table {
  if (known.size === 0) for (const [, its, body] of storeTables.matchAll(createTable)) known.set(its!, parsed(body!))
  return known.get(name)!
}

function parsed(body: string): Table {
  const columns = Array.from(body.matchAll(column), ([, name, type]) => ({ name: name!, type: type as ColumnType }))
  const key = keyOfMany.exec(body) ?? keyOfOne.exec(body)
  return { columns, key: key![1]!.split(', ').map(each => each.replace(' DESC', '')) }
}
