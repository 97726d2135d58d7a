// Writes lines of JSON records as lines of CSV (RFC 4180, with a line feed as the line end). Null is empty, and so are
// fields that a record lacks; fields that are not among the columns are left out. Texts are those of contracts and
// labels: one that a spreadsheet would calculate gets an apostrophe before it.
//
// Bytes to bytes: a record is written once for both forms, and nothing is parsed but texts with an escape.
import { LentBytes, type Memory, takeMemory } from '../answer-memory.ts'

const [quote, comma, backslash, lineFeed, brace, endBrace, bracket, endBracket, letterN] = Buffer.from('",\\\n{}[]n')

export class CsvLines {
  readonly #columns: readonly Buffer[]
  readonly header: string

  constructor(columns: readonly string[]) {
    this.#columns = columns.map(name => Buffer.from(name))
    this.header = `${columns.join(',')}\n`
  }

  /** Takes the lines over, and gives them back. */
  of(rows: number, lines: LentBytes): LentBytes {
    const source = lines.bytes
    // A field takes fewer bytes than with its name, which is why only those that a record lacks need more.
    const out = takeMemory(source.length + rows * this.#columns.length)
    let end = 0
    for (let at = 0; at < source.length; ) {
      end = this.#put(out, end, source, at)
      at = recordEnd
    }
    lines.release()
    return new LentBytes(out, end)
  }

  /** Returns where the line of CSV ends. */
  #put({ bytes: out }: Memory, start: number, source: Buffer, recordAt: number): number {
    const columns = this.#columns
    let to = start
    let column = 0
    // Behind the brace; then behind the comma of each field.
    for (let at = recordAt + 1; ; at++) {
      const found = this.#columnAt(source, at + 1, column)
      if (found === -1) {
        at = skipValue(source, source.indexOf('":', at + 1) + 2)
      } else {
        while (column < found) if (column++ > 0) out[to++] = comma!
        if (column++ > 0) out[to++] = comma!
        to = putValue(out, to, source, at + columns[found]!.length + 3)
        at = valueEnd
      }
      if (source[at] === comma) continue
      while (column < columns.length) if (column++ > 0) out[to++] = comma!
      out[to++] = lineFeed!
      // Behind the brace and the line end.
      recordEnd = at + 2
      return to
    }
  }

  /** Most often it is the very next one. */
  #columnAt(source: Buffer, nameAt: number, from: number): number {
    for (let column = from; column < this.#columns.length; column++)
      if (isName(source, nameAt, this.#columns[column]!)) return column
    return -1
  }
}

// Where what was read last ends: results beside those that functions return, without an object for each.
let recordEnd = 0
let valueEnd = 0

function isName(source: Buffer, at: number, name: Buffer): boolean {
  if (source[at + name.length] !== quote) return false
  for (let index = 0; index < name.length; index++) if (source[at + index] !== name[index]) return false
  return true
}

/** What a spreadsheet calculates when it opens the file. A number that is negative is one all the same. */
const formula = /^(?!-\d+(\.\d+)?$)[=+\-@\t\r\n＝＋－＠]/
/** The first bytes of these that come without an escape. Those of the wide forms begin with 0xef. */
const formulaBytes = new Set(Buffer.from('=+-@\u{ff1d}'))

/** Returns where it ends in the output. */
function putValue(out: Buffer, start: number, source: Buffer, at: number): number {
  let to = start
  if (source[at] !== quote) {
    valueEnd = skipValue(source, at)
    if (source[at] === letterN) return to
    for (let index = at; index < valueEnd; index++) out[to++] = source[index]!
    return to
  }
  for (let index = at + 1; ; index++) {
    const byte = source[index]!
    if (byte === quote) {
      valueEnd = index + 1
      return to
    }
    if (byte === backslash || byte === comma || (index === at + 1 && formulaBytes.has(byte))) break
    out[to++] = byte
  }
  valueEnd = skipValue(source, at)
  const given = JSON.parse(source.toString('utf8', at, valueEnd)) as string
  // The name of the field took more than the apostrophe does.
  const text = formula.test(given) ? `'${given}` : given
  return start + out.write(/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text, start)
}

/** Returns the place behind a value. */
function skipValue(source: Buffer, start: number): number {
  let at = start
  for (let depth = 0; at < source.length; at++) {
    const byte = source[at]
    if (byte === quote) {
      for (at++; source[at] !== quote; at++) if (source[at] === backslash) at++
    } else if (byte === brace || byte === bracket) depth++
    else if (byte === comma && depth === 0) return at
    else if ((byte === endBrace || byte === endBracket) && depth-- === 0) return at
  }
  return at
}
