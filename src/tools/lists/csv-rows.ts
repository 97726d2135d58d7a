// Reads CSV text, in pieces of any size, into rows with line numbers. It does not know columns. A library would lose
// the rest of the file at a stray quotation mark, where this loses one row; and nearly all rows have no quotation marks
// and are just split.

export type CsvRow = { line: number; fields: readonly string[] } | { line: number; problem: string }

/** A quoted row that is longer counts as left open. */
const rowCharactersMax = 65_536
const delimiters = [',', ';', '\t'] as const

export class CsvRows {
  #text = ''
  #line = 1
  #delimiter: string | undefined

  /** The rows that are whole so far. */
  push(piece: string): CsvRow[] {
    this.#text += piece
    return this.#rows(false)
  }

  end(): CsvRow[] {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#text += '\n'
    return this.#rows(true)
  }

  #rows(ended: boolean): CsvRow[] {
    const text = this.#text
    const rows: CsvRow[] = []
    let at = 0
    while (true) {
      const lineEnd = text.indexOf('\n', at)
      if (lineEnd === -1) break
      const row = withoutReturn(text.slice(at, lineEnd))
      if (!row.includes('"')) {
        if (row !== '') rows.push({ line: this.#line, fields: row.split(this.#delimiterOf(row)) })
        at = lineEnd + 1
        this.#line += 1
        continue
      }
      const quoted = readQuoted(text, at, this.#delimiterOf(row))
      if (quoted === 'unfinished' && !ended && text.length - at < rowCharactersMax) break
      if (typeof quoted === 'string') {
        rows.push({ line: this.#line, problem: problems[quoted] })
        at = lineEnd + 1
        this.#line += 1
        continue
      }
      rows.push({ line: this.#line, fields: quoted.fields })
      this.#line += linesIn(text, at, quoted.end)
      at = quoted.end
    }
    this.#text = text.slice(at)
    if (this.#text.length > rowCharactersMax && !this.#text.includes('\n')) {
      rows.push({ line: this.#line, problem: `the line is longer than ${rowCharactersMax} characters` })
      // The line's end, when it comes, ends an empty row.
      this.#text = ''
    }
    return rows
  }

  /** The header decides the delimiter. */
  #delimiterOf(header: string): string {
    this.#delimiter ??= delimiters.toSorted((a, b) => header.split(b).length - header.split(a).length)[0] as string
    return this.#delimiter
  }
}

const problems = {
  unfinished: 'a quotation mark is left open',
  stray: 'text follows a closing quotation mark',
} as const

/** Reads one row at `start`. A doubled quotation mark stands for one within quotes. */
function readQuoted(
  text: string,
  start: number,
  delimiter: string,
): { fields: string[]; end: number } | keyof typeof problems {
  const fields: string[] = []
  let at = start
  while (true) {
    let field = ''
    if (text[at] === '"') {
      at += 1
      while (true) {
        const quote = text.indexOf('"', at)
        if (quote === -1 || quote - start > rowCharactersMax) return 'unfinished'
        field += text.slice(at, quote)
        at = quote + 1
        if (text[at] !== '"') break
        field += '"'
        at += 1
      }
      if (text[at] === '\r' && text[at + 1] === '\n') at += 1
      if (at === text.length || (text[at] === '\r' && at + 1 === text.length)) return 'unfinished'
      if (text[at] !== delimiter && text[at] !== '\n') return 'stray'
    } else {
      const from = at
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at += 1
      if (at === text.length) return 'unfinished'
      field = text[at] === '\n' ? withoutReturn(text.slice(from, at)) : text.slice(from, at)
    }
    fields.push(field)
    at += 1
    if (text[at - 1] === '\n') return { fields, end: at }
  }
}

function withoutReturn(row: string): string {
  return row.endsWith('\r') ? row.slice(0, -1) : row
}

function linesIn(text: string, start: number, end: number): number {
  let lines = 0
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}
