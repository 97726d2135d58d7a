// The labels that a page shows, by the place where each stands. It does not know how they were found.
import { chunkAt, chunkStart, type LabelChunks, offsetIn } from './label-arena.ts'
import { labelChecksum, labelLength, labelTextAt, noLabel, packLabel } from './label-record.ts'

const wordBytes = 4

export class PageLabels {
  /**
   * For each stored row the sender's label, then the recipient's; `noLabel` where there is none. A plain array, because memory
   * beside the heap costs a page more.
   */
  readonly shown: number[]
  #chunks: LabelChunks
  #longest = 0

  /** Labels are positions in the chunks. */
  constructor(rows: number, chunks: LabelChunks) {
    this.shown = new Array<number>(rows * 2).fill(noLabel)
    this.#chunks = chunks
  }

  /** How many bytes the longest label takes in JSON, with its quotes. */
  get longest(): number {
    return this.#longest
  }

  show(label: number, place: number): void {
    this.shown[place] = label
    const length = labelLength(chunkAt(this.#chunks, label), offsetIn(label))
    if (length > this.#longest) this.#longest = length
  }

  /** Takes a label that is in no chunk. */
  add(text: string): number {
    const label = packLabel(text)
    this.#chunks = [...this.#chunks, new DataView(label.buffer, label.byteOffset, label.length)]
    return chunkStart(this.#chunks.length - 1)
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    return label === noLabel ? 0 : labelChecksum(chunkAt(this.#chunks, label), offsetIn(label))
  }

  /** Copies a label's JSON and up to three bytes more; returns where it ends. In words, because for so few bytes `set` costs more. */
  put(out: DataView, at: number, label: number): number {
    const chunk = chunkAt(this.#chunks, label)
    const offset = offsetIn(label)
    const length = labelLength(chunk, offset)
    const start = labelTextAt(offset)
    for (let index = 0; index < length; index += wordBytes) out.setInt32(at + index, chunk.getInt32(start + index))
    return at + length
  }
}
