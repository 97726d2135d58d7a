// Reads the statements of the core (`work.ts`, Statement) in the dialect of an engine. Pure.
import type { ColumnType } from './work.ts'

export type ListType = 'ints' | 'texts' | 'blobs'

export type Dialect = {
  parameter: (at: number, type: ColumnType | undefined) => string
  /** Instead of `IN $1:ints`, and of `EACH $1:ints`: a table of one column, `value`. */
  list: (at: number, type: ListType, as: 'IN' | 'EACH') => string
  forChange: string
  /** A number in a column of JSON: `JSON_NUMBER(value, 'block')`. */
  jsonNumber: (column: string, name: string) => string
}

/** `lists`: the types of the parameters that are lists, by their place. */
export type DialectText = { text: string; lists: ReadonlyMap<number, ListType> }

const parameters = /(?:\b(IN|EACH) )?\$(\d+)(?::(\w+))?|\bFOR CHANGE\b|\bJSON_NUMBER\((\w+), '(\w+)'\)/g

export function inDialect(sql: string, dialect: Dialect): DialectText {
  const lists = new Map<number, ListType>()
  const text = sql.replace(
    parameters,
    (_, as?: string, number?: string, type?: string, column?: string, name?: string) => {
      if (number === undefined) return name === undefined ? dialect.forChange : dialect.jsonNumber(column!, name)
      const at = Number(number)
      if (type === undefined || !isListType(type))
        return (as === undefined ? '' : `${as} `) + dialect.parameter(at, type as ColumnType | undefined)
      lists.set(at - 1, type)
      return dialect.list(at, type, as as 'IN' | 'EACH')
    },
  )
  return { text, lists }
}

function isListType(type: string): type is ListType {
  return type === 'ints' || type === 'texts' || type === 'blobs'
}
