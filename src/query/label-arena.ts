// The records of labels in a few large pieces of memory, to which is only added: a page may go on reading a record that has been
// replaced. It does not know which records are found.
import { addressBytes, recordLength } from './label-record.ts'

/** No record; those that there are have positions above. */
export const noRecord = 0

/** A position is the number of a chunk and, in the lower bits, where in it something begins. */
const offsetBits = 22
const chunkBytes = 2 ** offsetBits
/** Left free at the end: whoever reads in whole words, or before the length is known, reads beyond a record. */
const slackBytes = 64
const endMax = chunkBytes - slackBytes

/** Pieces instead of an object for each label, of which a million would be work for every collection. */
export type LabelChunks = readonly DataView[]

export function chunkAt(chunks: LabelChunks, position: number): DataView {
  return chunks[position >>> offsetBits]!
}

export function offsetIn(position: number): number {
  return position & (chunkBytes - 1)
}

/** Where the chunk with this number begins. */
export function chunkStart(number: number): number {
  return number * chunkBytes
}

export class LabelArena {
  readonly #chunks: DataView[] = []
  #end = endMax
  #bytes = 0
  #lostBytes = 0

  /** What records take, lost ones too. */
  get bytes(): number {
    return this.#bytes
  }

  get chunks(): LabelChunks {
    return this.#chunks
  }

  get lostBytes(): number {
    return this.#lostBytes
  }

  /** Returns its position, or `noRecord` where it is too long for any chunk. */
  append(record: Uint8Array): number {
    if (record.length >= endMax) return noRecord
    if (this.#end + record.length > endMax) {
      this.#chunks.push(new DataView(new ArrayBuffer(chunkBytes)))
      // The very first byte is left out, because that is the position of no record.
      this.#end = 1
    }
    const position = chunkStart(this.#chunks.length - 1) + this.#end
    this.#bytesAt(position, record.length).set(record)
    this.#end += record.length
    this.#bytes += record.length
    return position
  }

  /** Nobody will look for the record from now on. */
  lose(position: number): void {
    this.#lostBytes += this.#lengthAt(position)
  }

  isEqual(position: number, record: Uint8Array): boolean {
    const length = this.#lengthAt(position)
    return length === record.length && Buffer.compare(this.#bytesAt(position, length), record) === 0
  }

  addressAt(position: number): Uint8Array {
    return this.#bytesAt(position, addressBytes)
  }

  #lengthAt(position: number): number {
    return recordLength(chunkAt(this.#chunks, position), offsetIn(position))
  }

  #bytesAt(position: number, length: number): Uint8Array {
    return new Uint8Array(chunkAt(this.#chunks, position).buffer, offsetIn(position), length)
  }
}
