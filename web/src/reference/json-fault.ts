// Where a text stops being JSON, and what would have to stand there. Browsers say it in different ways, and of some
// faults not at all. Pure.

/** `position`: in the text. */
export type JsonFault = { message: string; position: number }

/** Deeper than any body. */
const depthMax = 200
const space = /[ \t\n\r]*/y
const simple =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/uy

export function jsonFaultOf(text: string): JsonFault | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    const { position, wanted } = new Reader(text).fault()
    const lines = text.slice(0, position).split('\n')
    const found = position >= text.length ? 'the text ends' : `there is ${text[position]}`
    const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
    return { message: `Not JSON at ${place}: ${wanted} is expected, and ${found}.`, position }
  }
}

class Reader {
  readonly #text: string
  #at = 0
  #wanted = ''

  constructor(text: string) {
    this.#text = text
  }

  fault(): { position: number; wanted: string } {
    if (this.#value(0)) this.#wanted = 'nothing more'
    return { position: this.#at, wanted: this.#wanted }
  }

  /** Whether one was read; else what is wanted at the place where reading stopped. */
  #value(depth: number): boolean {
    this.#skip(space)
    if (depth > depthMax) return this.#want('a simpler body')
    if (this.#take('{')) return this.#list('}', depth, () => this.#field(depth))
    if (this.#take('[')) return this.#list(']', depth, () => this.#value(depth + 1))
    return this.#isRead(simple) || this.#want('a value')
  }

  #field(depth: number): boolean {
    this.#skip(space)
    if (this.#text[this.#at] !== '"' || !this.#isRead(simple)) return this.#want('a name in double quotes')
    this.#skip(space)
    return this.#take(':') ? this.#value(depth + 1) : this.#want('a colon')
  }

  #list(end: string, depth: number, readOne: () => boolean): boolean {
    this.#skip(space)
    if (this.#take(end)) return depth > 0 || this.#isAtEnd()
    do {
      if (!readOne()) return false
      this.#skip(space)
    } while (this.#take(','))
    if (!this.#take(end)) return this.#want(`a comma or ${end}`)
    return depth > 0 || this.#isAtEnd()
  }

  #isAtEnd(): boolean {
    this.#skip(space)
    return this.#at >= this.#text.length || this.#want('nothing more')
  }

  #want(wanted: string): false {
    this.#wanted = wanted
    return false
  }

  #take(character: string): boolean {
    const isThere = this.#text[this.#at] === character
    if (isThere) this.#at++
    return isThere
  }

  #isRead(pattern: RegExp): boolean {
    const before = this.#at
    this.#skip(pattern)
    return this.#at > before
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at
    if (pattern.test(this.#text)) this.#at = pattern.lastIndex
  }
}
