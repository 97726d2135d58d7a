// The records of labels behind each other in one array, to which is only added: a page may go on reading a record that has been
// replaced. It does not know which records are found.
import { nowhere, recordLength, wordBytes } from './label-record.ts'

const bytesMin = 64 * 1024
const growth = 8
/** From here on it takes all that it may: memory in which nothing was written takes none, and copying more would stop the thread. */
const bytesCopiedMax = 4 * 1024 * 1024

export class LabelArena {
  /** One array instead of an object for each label, of which a million would be work for every collection. */
  #words = new Int32Array(0)
  #wordsMax: number
  /** The first word is left out, because its position stands for no record. */
  #end = 1
  #lost = 0

  constructor(bytesMax: number) {
    this.#wordsMax = Math.floor(bytesMax / wordBytes)
  }

  get words(): Int32Array {
    return this.#words
  }

  /** What records take, lost ones too. */
  get bytes(): number {
    return this.#end * wordBytes
  }

  get lostBytes(): number {
    return this.#lost * wordBytes
  }

  /** Takes the first words as a record. Returns its position, or `nowhere` if there is no room. */
  append(record: Int32Array, length: number): number {
    const position = this.#end
    const end = position + length
    while (end <= this.#wordsMax && end > this.#words.length) this.#grow()
    if (end > this.#wordsMax) return nowhere
    for (let index = 0; index < length; index++) this.#words[position + index] = record[index]!
    this.#end = end
    return position
  }

  /** Nobody will look for the record from now on. */
  lose(position: number): void {
    this.#lost += recordLength(this.#words, position)
  }

  /** Whether the first words are the record at the position. */
  isEqual(position: number, record: Int32Array, length: number): boolean {
    if (recordLength(this.#words, position) !== length) return false
    for (let index = 0; index < length; index++) if (record[index] !== this.#words[position + index]) return false
    return true
  }

  #grow(): void {
    const { byteLength } = this.#words
    const bytes = byteLength < bytesCopiedMax ? Math.max(bytesMin, byteLength * growth) : Infinity
    const words = allocated(Math.min(this.#wordsMax, bytes / wordBytes))
    if (words === undefined) {
      this.#wordsMax = this.#words.length
      return
    }
    words.set(this.#words)
    this.#words = words
  }
}

/** Undefined where the system has no such memory: what is at hand then has to do. */
function allocated(words: number): Int32Array<ArrayBuffer> | undefined {
  try {
    return new Int32Array(words)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
