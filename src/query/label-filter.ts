// Which addresses may have a label, in so few bits that those of a million stay in the processor's last cache: one look tells that
// an address has none. It knows hashes alone, and never forgets one.

/** Two bits of a word are set for each hash: of those that were not added, one in 25 to 90 passes. */
const bitsPerHashMin = 12
const bitsPerWord = 32
const wordsMin = 2

export class LabelFilter {
  /** The upper bits of a hash choose the word, the lower ones the bits in it. */
  readonly words: Int32Array
  readonly shift: number
  #added = 0

  /** For so many hashes. */
  constructor(hashes: number) {
    const words = 2 ** Math.ceil(Math.log2(Math.max(wordsMin, (hashes * bitsPerHashMin) / bitsPerWord)))
    this.words = new Int32Array(words)
    this.shift = bitsPerWord - Math.log2(words)
  }

  add(hash: number): void {
    const at = hash >>> this.shift
    const bits = filterBits(hash)
    if ((this.words[at]! & bits) === bits) return
    this.words[at]! |= bits
    this.#added++
  }

  hasRoomFor(hashes: number): boolean {
    return (this.#added + hashes) * bitsPerHashMin <= this.words.length * bitsPerWord
  }
}

export function filterBits(hash: number): number {
  return (1 << hash) | (1 << (hash >>> 5))
}
