// The first rows of a whole list that came as CSV or NDJSON, as cells, and its end mark. Pure.
import { type EndMark, formats, type ListFormat, RowCounter } from '../downloads/row-counter.ts'

export type ListRows = {
  format: ListFormat
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  /** Undefined where the list is not whole. */
  mark: EndMark | undefined
}

/** More would take long to show, and are read in the file. */
const shownMax = 100

/** Undefined for an answer of another type. */
export function listRowsOf(type: string, text: string): ListRows | undefined {
  const format = (Object.keys(formats) as ListFormat[]).find(each => type.startsWith(formats[each].type))
  if (format === undefined) return undefined
  const counter = new RowCounter(format)
  counter.take(new TextEncoder().encode(text))
  const mark = counter.endMark()
  const [columns = [], ...rows] = format === 'csv' ? csvCells(text) : jsonCells(text)
  return { format, columns, rows: rows.slice(0, mark?.rows), mark }
}

/** The names of the columns, then rows. A quoted cell may hold commas, line feeds and doubled quotes. */
function csvCells(text: string): string[][] {
  const lines: string[][] = []
  let cells: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    lines.push(cells)
    cells = []
    if (end === '' || lines.length > shownMax) break
  }
  // What follows the last line feed is none, and the end mark is no row.
  return lines.filter(([first = '', ...others]) => others.length > 0 || !(first === '' || first.startsWith('# ')))
}

function jsonCells(text: string): string[][] {
  const lines = text.split('\n', shownMax).filter(Boolean)
  const values = lines.flatMap(line => {
    const value = JSON.parse(line) as Record<string, unknown>
    return value.complete === true && 'rows' in value ? [] : [value]
  })
  const columns = Object.keys(values[0] ?? {})
  const cellOf = (value: unknown) =>
    value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  return [columns, ...values.map(value => columns.map(column => cellOf(value[column])))]
}
