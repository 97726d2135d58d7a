// The labels that a page shows, by the place where each stands. It does not know how they were found.
import { labelChecksum, labelLength, nowhere, packLabel, putLabel } from './label-record.ts'

/** In the place of a label. */
export const noLabel = nowhere

/** Copied for each page: filling an array takes three times as long, and one beside the heap ten times. */
const noLabels = new Array<number>(1_024).fill(noLabel)

export class PageLabels {
  /** For each stored row the sender's label, then the recipient's; `noLabel` where there is none. */
  readonly shown: number[]
  readonly #words: Int32Array
  /** Those that are not among the words. */
  readonly #added: Int32Array[] = []
  #longest = 0

  /** Labels are positions in the words. */
  constructor(rows: number, words: Int32Array) {
    while (noLabels.length < rows * 2) noLabels.push(noLabel)
    this.shown = noLabels.slice(0, rows * 2)
    this.#words = words
  }

  /** How many bytes the longest label takes in JSON, with its quotes. */
  get longest(): number {
    return this.#longest
  }

  show(label: number, place: number): void {
    this.shown[place] = label
    const length = label > 0 ? labelLength(this.#words, label) : labelLength(this.#added[~label]!, 0)
    if (length > this.#longest) this.#longest = length
  }

  /** Takes a label that is not among the words. */
  add(label: string): number {
    return ~(this.#added.push(packLabel(label)) - 1)
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    if (label === noLabel) return 0
    return label > 0 ? labelChecksum(this.#words, label) : labelChecksum(this.#added[~label]!, 0)
  }

  /** Copies a label's JSON and up to three bytes more; returns where it ends. */
  put(out: DataView, at: number, label: number): number {
    return label > 0 ? putLabel(out, at, this.#words, label) : putLabel(out, at, this.#added[~label]!, 0)
  }
}
