// Collects the lines of a portal's answers: whole ones alone, one for each block, within bounds on each and on all. It
// does not look into them.
import { checkStructure, spacesMax } from '../../rpc/body-structure.ts'

/** The portal sends what no block is. */
export class WrongLine extends Error {}

export type LineBounds = {
  /** What is enough for one range, however few blocks it is. */
  bytesEnough: number
  lineBytesMax: number
}

export class PortalLines {
  readonly #linesMax: number
  readonly #bounds: LineBounds
  #whole: Buffer[] = []
  /** Of a line that goes on. */
  #part: Buffer[] = []
  #partBytes = 0
  #blanks = 0
  count = 0
  bytes = 0
  /** All that came, but for empty lines: also what was cut. */
  received = 0

  /** Takes this number of lines, fewer once it has enough bytes. */
  constructor(linesMax: number, bounds: LineBounds) {
    this.#linesMax = linesMax
    this.#bounds = bounds
  }

  get isFull(): boolean {
    return this.count === this.#linesMax || this.bytes >= this.#bounds.bytesEnough
  }

  /** The chunk is kept: nothing else may write into it. */
  add(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0 && !this.isFull; end = chunk.indexOf(newline, from)) {
      if (end === from && this.#partBytes === 0) this.#skipBlank()
      else {
        this.#extend(chunk.subarray(from, end + 1))
        this.#endLine()
      }
      from = end + 1
    }
    if (!this.isFull && from < chunk.length) this.#extend(chunk.subarray(from))
  }

  /** The answer ended as it should: a last line may lack its end. */
  finish(): void {
    if (this.#partBytes === 0 || this.isFull) return
    if (isJson(Buffer.concat(this.#part))) {
      this.#extend(Buffer.of(newline))
      this.#endLine()
    } else this.dropPart()
  }

  /** The answer was cut. */
  dropPart(): void {
    this.#part = []
    this.#partBytes = 0
  }

  /** All lines, in memory of their own. */
  body(): Uint8Array<ArrayBuffer> {
    const body = new Uint8Array(this.bytes)
    let at = 0
    for (const piece of this.#whole) {
      body.set(piece, at)
      at += piece.length
    }
    return body
  }

  #extend(piece: Buffer): void {
    const { bytesEnough, lineBytesMax } = this.#bounds
    this.#partBytes += piece.length
    this.received += piece.length
    if (this.#partBytes > lineBytesMax) throw new WrongLine(`it sent a line of more than ${lineBytesMax} bytes`)
    // Answers that are cut again and again would be read without an end.
    if (this.received > 2 * (bytesEnough + lineBytesMax))
      throw new WrongLine(`it sent ${this.received} bytes and ${this.count} whole lines`)
    // Crumbs of a byte each would take a hundred times their size.
    if (this.#part.length > 10_000 + this.#partBytes / 256)
      throw new WrongLine('it sent a line in too many small chunks')
    this.#part.push(piece)
  }

  /** A gigabyte of them is packed in one megabyte. */
  #skipBlank(): void {
    if (++this.#blanks > spacesMax) throw new WrongLine(`it sent more than ${spacesMax} empty lines`)
  }

  #endLine(): void {
    for (const piece of this.#part) this.#whole.push(piece)
    this.bytes += this.#partBytes
    this.count++
    this.dropPart()
  }
}

const newline = 0x0a

function isJson(bytes: Buffer): boolean {
  try {
    checkStructure(bytes)
    JSON.parse(bytes.toString('utf8'))
    return true
  } catch {
    return false
  }
}
