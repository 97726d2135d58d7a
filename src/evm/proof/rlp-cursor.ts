// Walks over RLP without making an object for each item. Strict: an encoding other than the only right one is refused.

/** The bytes cannot be right. The message continues a sentence that names their source. */
export class UnreadableBytes extends Error {}

export class RlpCursor {
  bytes: Buffer
  #first: number
  /** Where the next item begins. */
  #next: number
  #end: number
  /** The current item: where its encoding begins, and its content. */
  start = 0
  from = 0
  to = 0
  isList = false

  constructor(bytes: Buffer, from = 0, to = bytes.length) {
    this.bytes = bytes
    this.#first = from
    this.#next = from
    this.#end = to
  }

  /** Walks over other items from now on: one cursor serves all logs of a block. */
  over(bytes: Buffer, from: number, to: number): this {
    this.bytes = bytes
    this.#first = from
    this.#next = from
    this.#end = to
    return this
  }

  /** What walks over the same items from the first on. */
  again(): RlpCursor {
    return new RlpCursor(this.bytes, this.#first, this.#end)
  }

  get isAtEnd(): boolean {
    return this.#next === this.#end
  }

  /** Moves to the next item; there must be one. */
  next(): this {
    const { bytes } = this
    const at = this.#next
    if (at >= this.#end) throw wrong('ends too early')
    const first = bytes[at]!
    this.start = at
    this.isList = first >= 0xc0
    if (first < 0x80) {
      this.from = at
      this.to = at + 1
    } else {
      const short = first - (this.isList ? 0xc0 : 0x80)
      if (short < 56) {
        this.from = at + 1
        this.to = at + 1 + short
        if (short === 1 && !this.isList && bytes[at + 1]! < 0x80) throw wrong('has a byte with a needless prefix')
      } else {
        const size = short - 55
        if (size > 4 || at + 1 + size > this.#end || bytes[at + 1] === 0) throw wrong('has an item of a wrong length')
        let length = 0
        for (let digit = 0; digit < size; digit++) length = length * 256 + bytes[at + 1 + digit]!
        if (length < 56) throw wrong('has an item of a wrong length')
        this.from = at + 1 + size
        this.to = this.from + length
      }
    }
    if (this.to > this.#end) throw wrong('has an item that is longer than the list around it')
    this.#next = this.to
    return this
  }

  /** Moves to the next item, which must be bytes: of this length, if one is given. */
  string(length?: number): this {
    this.next()
    if (this.isList || (length !== undefined && this.to - this.from !== length))
      throw wrong(
        `has ${this.isList ? 'a list' : `${this.to - this.from} bytes`} in the place of ${length ?? 'some'} bytes`,
      )
    return this
  }

  /** Moves to the next item, which must be a list, and gives what walks over it. */
  list(): RlpCursor {
    return this.listInto(new RlpCursor(this.bytes))
  }

  /** The same with a cursor that is there already. */
  listInto(cursor: RlpCursor): RlpCursor {
    if (!this.next().isList) throw wrong('has bytes in the place of a list')
    return cursor.over(this.bytes, this.from, this.to)
  }

  skip(items: number): this {
    for (let item = 0; item < items; item++) this.next()
    return this
  }

  /** Moves to the next item, a number that must fit: without leading zeros. */
  number(): number {
    this.string()
    let number = 0
    for (let at = this.from; at < this.to; at++) number = number * 256 + this.bytes[at]!
    if (number > Number.MAX_SAFE_INTEGER || (this.to > this.from && this.bytes[this.from] === 0))
      throw wrong('has a number that is too large or begins with zeros')
    return number
  }

  /** Moves to the next item, a number of at most 32 bytes, as nodes write it. */
  quantity(): string {
    const { from, to, bytes } = this.requireQuantity()
    if (from === to) return '0x0'
    const digits = bytes.toString('hex', from, to)
    return `0x${digits.charCodeAt(0) === 0x30 ? digits.slice(1) : digits}`
  }

  /** Moves to the next item, which must be a number of at most 32 bytes. */
  requireQuantity(): this {
    const { from, to, bytes } = this.string()
    if (to - from > 32 || (to > from && bytes[from] === 0))
      throw wrong('has a number that is too large or begins with zeros')
    return this
  }

  /** The content of the current item. A view of its own, which is cheaper than one of a Buffer. */
  content(): Uint8Array {
    return viewOf(this.bytes, this.from, this.to)
  }

  hex(): string {
    return `0x${this.bytes.toString('hex', this.from, this.to)}`
  }

  /** The current item as it is encoded. */
  encoded(): Uint8Array {
    return viewOf(this.bytes, this.start, this.to)
  }

  /** Nothing may follow. */
  end(): void {
    if (!this.isAtEnd) throw wrong('goes on after its end')
  }
}

/** The one list that bytes hold. */
export function rlpList(bytes: Buffer): RlpCursor {
  const whole = new RlpCursor(bytes)
  const list = whole.list()
  whole.end()
  return list
}

function viewOf(bytes: Buffer, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from)
}

function wrong(what: string): UnreadableBytes {
  return new UnreadableBytes(`has RLP that ${what}`)
}
