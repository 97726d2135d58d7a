// Reads the entries of the outermost map or list of a JSON document, or of its list `tokens`, with their line numbers.
// It holds and parses one entry at a time, so that a document may have any size.

export type JsonEntry =
  /** `key` is undefined for the elements of a list. */
  { line: number; key: string | undefined; value: unknown } | { line: number; problem: string }

const entryCharactersMax = 65_536
/** The list within a token list's map. */
const listMember = /^\s*"tokens"\s*:\s*$/

const code = {
  newline: 10,
  space: 32,
  quote: 34,
  comma: 44,
  openList: 91,
  backslash: 92,
  closeList: 93,
  openMap: 123,
  closeMap: 125,
}

type Container = 'map' | 'list'

export class JsonEntries {
  /** The containers that entries are taken from; the innermost last. */
  readonly #containers: Container[] = []
  /** The text of the current entry; cut once it is too long. */
  #entry = ''
  /** The line where it begins; undefined while only white space was read. */
  #entryLine: number | undefined
  #tooLong = false
  #line = 1
  /** How many maps and lists are open within the entry. */
  #depth = 0
  #inString = false
  #escaped = false
  #state: 'before' | 'within' | 'after' = 'before'

  push(piece: string): JsonEntry[] {
    const entries: JsonEntry[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const character = piece.charCodeAt(at)
      if (character === code.newline) this.#line += 1
      else if (character > code.space) this.#entryLine ??= this.#line
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (character === code.backslash) this.#escaped = true
        else if (character === code.quote) this.#inString = false
        continue
      }
      if (character === code.quote) this.#inString = true
      if (!isStructural(character)) continue
      if (this.#state !== 'within') {
        if (this.#state === 'before' && (character === code.openMap || character === code.openList)) {
          this.#open(character)
          from = at + 1
        }
        continue
      }
      if (character === code.openMap || character === code.openList) {
        const isTokens =
          this.#depth === 0 &&
          character === code.openList &&
          this.#containers.length === 1 &&
          listMember.test(this.#entry + piece.slice(from, at))
        if (isTokens) {
          this.#open(character)
          from = at + 1
        } else this.#depth += 1
      } else if (this.#depth > 0) {
        if (character !== code.comma) this.#depth -= 1
      } else {
        this.#take(piece.slice(from, at), entries)
        from = at + 1
        if (character !== code.comma) this.#close()
      }
    }
    if (this.#state === 'within') this.#append(piece.slice(from))
    return entries
  }

  end(): JsonEntry[] {
    return this.#state === 'after' ? [] : [{ line: this.#line, problem: 'the document ends before it is closed' }]
  }

  #open(character: number): void {
    this.#containers.push(character === code.openMap ? 'map' : 'list')
    this.#state = 'within'
    this.#startEntry()
  }

  /** After the list of a token list its map goes on. */
  #close(): void {
    this.#containers.pop()
    if (this.#containers.length === 0) this.#state = 'after'
  }

  #startEntry(): void {
    this.#entry = ''
    this.#entryLine = undefined
    this.#tooLong = false
  }

  #append(text: string): void {
    if (!this.#tooLong) this.#entry += text
    if (this.#entry.length <= entryCharactersMax) return
    // Its beginning holds the key.
    this.#entry = this.#entry.slice(0, 100)
    this.#tooLong = true
  }

  #take(text: string, entries: JsonEntry[]): void {
    this.#append(text)
    const written = this.#entry.trim()
    const line = this.#entryLine ?? this.#line
    const isMap = this.#containers.at(-1) === 'map'
    if (this.#tooLong) {
      const key = isMap ? /^"([^"\\]*)"/.exec(written)?.[1] : undefined
      entries.push(
        key === undefined
          ? { line, problem: `the entry is longer than ${entryCharactersMax} characters` }
          : { line, key, value: undefined },
      )
    } else if (written !== '') {
      try {
        const parsed = JSON.parse(isMap ? `{${written}}` : `[${written}]`) as Record<string, unknown> | unknown[]
        const [[key, value] = [undefined, undefined]] = Object.entries(parsed)
        entries.push({ line, key: isMap ? key : undefined, value })
      } catch (error) {
        entries.push({ line, problem: `it is not JSON: ${(error as Error).message}` })
      }
    }
    this.#startEntry()
  }
}

function isStructural(character: number): boolean {
  return (
    character === code.comma ||
    character === code.openMap ||
    character === code.closeMap ||
    character === code.openList ||
    character === code.closeList
  )
}
