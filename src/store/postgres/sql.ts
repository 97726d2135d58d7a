// The statements of the core in the dialect of PostgreSQL, and their values. It knows no table.
import { type Dialect, type DialectText, inDialect, type ListType } from '../core/sql-dialect.ts'
import type { Statement, Value } from '../core/work.ts'
import type { ColumnType } from '../schema.ts'
import { arrayOf } from './arrays.ts'
import type { Value as DatabaseValue } from './database.ts'
import { columnTypes } from './tables.ts'

const elements: Record<ListType, ColumnType> = { ints: 'big', texts: 'text', blobs: 'bytes' }

/** As the indexes of `tables.ts` have it: the same text, or they are not used. */
const folded = (bytes: string): string => `lower(encode(${bytes}, 'escape') COLLATE "C")`
const begin = (bytes: string): string => `left(${folded(bytes)}, 64)`

const dialect: Dialect = {
  parameter: (at, type) => (type === undefined ? `$${at}` : `$${at}::${columnTypes[type]}`),
  list(at, type, as) {
    const given = `$${at}::${columnTypes[elements[type]]}[]`
    return as === 'IN' ? `= ANY(${given})` : `(SELECT unnest(${given}) AS value)`
  },
  rows: (at, types) =>
    `(SELECT * FROM unnest(${types.map((type, place) => `$${at + place}::${columnTypes[type]}[]`).join()}))`,
  words: [
    [/\bFOR CHANGE\b/g, 'FOR NO KEY UPDATE'],
    [/\bJSON_NUMBER\((\w+), '(\w+)'\)/g, "($1::json->>'$2')::int8"],
    // `encode` writes nothing above the tilde, which is below 127.
    [/\bBEGINS\((\w+), ([^)]+)\)/g, `${begin('$1')} >= ${begin('$2')} AND ${begin('$1')} < ${begin('$2')} || chr(127)`],
    [/\bHAS\((\w+), ([^)]+)\)/g, `position(${folded('$2')} in ${folded('$1')}) > 0`],
    [/\bIS_NAMED\((\w+), ([^)]+)\)/g, `${begin('$1')} = ${begin('$2')} AND ${folded('$1')} = ${folded('$2')}`],
    [/\bBY_NAME\((\w+)\)/g, begin('$1')],
    [/\blisted\(/g, 'json_agg('],
    [/\bjoined\(([^)]*)\)/g, "string_agg($1, ''::bytea)"],
    [/\btexts\(([^)]*)\)/g, "string_agg($1, '\\xff'::bytea)"],
    [/\bby_key\(([^)]*)\)/g, 'ORDER BY $1'],
    [/\bhex\(([^)]*)\)/g, "encode($1, 'hex')"],
    [/\bnow_ms\(\)/g, '(extract(epoch FROM clock_timestamp()) * 1000)::int8'],
    [/\btoday\(\)/g, "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')"],
  ],
}

const texts = new Map<string, DialectText>()

/** A statement as the server takes it: its text and its values. */
export function inText({ sql, values }: Pick<Statement, 'sql' | 'values'>): [string, ...DatabaseValue[]] {
  const known = texts.get(sql) ?? inDialect(sql, dialect)
  texts.set(sql, known)
  const { text, special } = known
  if (special.size === 0) return [text, ...(values as DatabaseValue[])]
  const given = values.flatMap((value, at): DatabaseValue[] => {
    const type = special.get(at)
    if (type === undefined) return [value as DatabaseValue]
    if (type === 'utf8') return [Buffer.from(value as string)]
    if (typeof type === 'string') return [arrayOf[elements[type]](value as readonly Value[])]
    const rows = value as readonly (readonly Value[])[]
    return type.map((each, column) => arrayOf[each](rows.map(row => row[column]!)))
  })
  return [text, ...given]
}
