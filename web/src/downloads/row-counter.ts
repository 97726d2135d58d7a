// Counts the rows of a whole list as its bytes pass, and tells from its last line whether it is whole. Pure.

export type ListFormat = 'csv' | 'ndjson'

export const formats: Readonly<Record<ListFormat, { title: string; type: string }>> = {
  csv: { title: 'CSV', type: 'text/csv' },
  ndjson: { title: 'NDJSON', type: 'application/x-ndjson' },
}

export type EndMark = { rows: number; block: number }

const [lineFeed, quote] = [0x0a, 0x22]
/** Longer than any end mark. */
const tailBytes = 200

export class RowCounter {
  readonly #format: ListFormat
  #lines = 0
  /** A quoted field of CSV may hold line feeds, and even what looks like an end mark. */
  #isQuoted = false
  #tail = new Uint8Array()

  constructor(format: ListFormat) {
    this.#format = format
  }

  take(bytes: Uint8Array): void {
    const isCsv = this.#format === 'csv'
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === lineFeed && !this.#isQuoted) this.#lines++
      else if (isCsv && bytes[at] === quote) this.#isQuoted = !this.#isQuoted
    }
    const joined = bytes.length >= tailBytes ? bytes : new Uint8Array([...this.#tail, ...bytes])
    this.#tail = joined.slice(-tailBytes)
  }

  /** So far. The first line of CSV names the columns. */
  get rows(): number {
    return Math.max(0, this.#lines - (this.#format === 'csv' ? 1 : 0))
  }

  /** Undefined where the list does not end with one, or with one of another number of rows: it is not whole. */
  endMark(): EndMark | undefined {
    const lines = new TextDecoder().decode(this.#tail).split('\n')
    if (this.#isQuoted || lines.pop() !== '') return undefined
    const mark = markOf(lines.pop() ?? '', this.#format)
    return mark?.rows === this.rows - 1 ? mark : undefined
  }
}

function markOf(line: string, format: ListFormat): EndMark | undefined {
  const [, rows, block] =
    (format === 'csv'
      ? /^# complete rows=(\d+) block=(-?\d+)$/.exec(line)
      : /^\{"complete":true,"rows":(\d+),"block":(-?\d+)\}$/.exec(line)) ?? []
  return block === undefined ? undefined : { rows: Number(rows), block: Number(block) }
}
