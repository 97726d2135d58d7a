// The statements of the core in the dialect of SQLite, and their values. It knows no table.
import type { SQLInputValue } from 'node:sqlite'
import { type Dialect, type DialectText, inDialect } from '../core/sql-dialect.ts'
import type { Parameter } from '../core/work.ts'

const dialect: Dialect = {
  // With a bare parameter as the limit SQLite plans a statement again at each call: 31 µs instead of 11.
  parameter: (at, type) => (type === 'int' ? `(?${at} + 0)` : `?${at}`),
  list(at, type, as) {
    const value = type === 'blobs' ? 'unhex(value)' : 'value'
    return `${as === 'IN' ? 'IN ' : ''}(SELECT ${value} AS value FROM json_each(?${at}))`
  },
  rows(at, types) {
    const cells = types.map((type, place) => (type === 'bytes' ? `unhex(value ->> ${place})` : `value ->> ${place}`))
    return `(SELECT ${cells.join()} FROM json_each(?${at}))`
  },
  words: [
    [/ FOR (CHANGE|SHARE|UPDATE SKIP LOCKED)\b/g, ''],
    [/\bJSON_NUMBER\((\w+), '(\w+)'\)/g, "json_extract($1, '$.$2')"],
    [/\bBEGINS\((\w+), ([^)]+)\)/g, '$1 COLLATE NOCASE >= $2 AND $1 COLLATE NOCASE < $2 || char(0x10ffff)'],
    [/\bHAS\((\w+), ([^)]+)\)/g, 'instr(lower($1), lower($2)) > 0'],
    [/\bIS_NAMED\((\w+), ([^)]+)\)/g, '$1 COLLATE NOCASE = $2'],
    [/\bBY_NAME\((\w+)\)/g, '$1 COLLATE NOCASE'],
    [/\blisted\(/g, 'json_group_array('],
    [/\bjoined\(([^)]*)\)/g, "CAST(group_concat($1, '') AS BLOB)"],
    [/\btexts\(([^)]*)\)/g, "CAST(group_concat($1, x'ff') AS BLOB)"],
    [/\bby_key\([^)]*\)/g, ''],
    [/\bgreatest\(/g, 'max('],
    [/\bleast\(/g, 'min('],
  ],
}

const texts = new Map<string, DialectText>()

export function textOf(sql: string): DialectText {
  const made = texts.get(sql) ?? inDialect(sql, dialect)
  texts.set(sql, made)
  return made
}

export function valuesOf(values: readonly Parameter[], { special }: DialectText): SQLInputValue[] {
  if (special.size === 0) return values as SQLInputValue[]
  return values.map(value => (Array.isArray(value) ? JSON.stringify(value.map(inJson)) : (value as SQLInputValue)))
}

/** Bytes are hex digits there. */
function inJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inJson)
  if (!(value instanceof Uint8Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
}
