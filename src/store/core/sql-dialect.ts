// Reads the statements of the core (`work.ts`, Statement) in the dialect of an engine. Pure.
import type { ColumnType } from '../schema.ts'

const listTypes = ['ints', 'texts', 'blobs'] as const
export type ListType = (typeof listTypes)[number]
/** Of a parameter that an engine has to write in its own way; an array: rows with columns of these types. */
export type SpecialType = ListType | 'utf8' | readonly ColumnType[]

export type Dialect = {
  parameter: (at: number, type: ColumnType | undefined) => string
  /** Instead of `IN $1:ints`, and of `EACH $1:ints`: a table of one column, `value`. */
  list: (at: number, type: ListType, as: 'IN' | 'EACH') => string
  /** Instead of `$2:rows(bytes, text)`. */
  rows: (at: number, types: readonly ColumnType[]) => string
  /** Words of statements, and what they are instead. */
  words: readonly (readonly [word: RegExp, instead: string])[]
}

/** `special`: the types of parameters, by their place. */
export type DialectText = { text: string; special: ReadonlyMap<number, SpecialType> }

const parameters = /(?:\b(IN|EACH) )?\$(\d+)(?::(?:rows\(([\w, ]+)\)|(\w+)))?/g

export function inDialect(sql: string, dialect: Dialect): DialectText {
  const special = new Map<number, SpecialType>()
  const worded = dialect.words.reduce((text, [word, instead]) => text.replace(word, instead), sql)
  const text = worded.replace(parameters, (_, as: string | undefined, number: string, row?: string, type?: string) => {
    const at = Number(number)
    if (isListType(type)) {
      special.set(at - 1, type)
      return dialect.list(at, type, as as 'IN' | 'EACH')
    }
    const before = as === undefined ? '' : `${as} `
    if (row === undefined) {
      if (type === 'utf8') special.set(at - 1, type)
      return before + dialect.parameter(at, type as ColumnType | undefined)
    }
    const types = row.split(', ') as ColumnType[]
    special.set(at - 1, types)
    return before + dialect.rows(at, types)
  })
  return { text, special }
}

function isListType(type: string | undefined): type is ListType {
  return (listTypes as readonly (string | undefined)[]).includes(type)
}
