// How the labels of one address lie in memory, as words of four bytes, the first byte being the highest one. It knows no memory.
//
//   5 words   address
//   for each label, the stronger first:
//   2 words   chain, the higher word first; 0 for every chain
//   1 word    checksum of the text, the same in every process
//   1 word    length of the text, times two; one more if another label follows
//   …         the text in JSON with its quotes, filled up with zeros
import { crc32 } from 'node:zlib'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'

/** A label, or an address, that is not there; those that are have positions above. */
export const nowhere = 0

export const wordBytes = 4
export const addressWords = 5
const everyChain = 0
const chainWord = 2 ** 32
const lowChainAt = 1
const checksumAt = 2
const lengthAt = 3
const textAt = 4

/** Used from one label to the next: reading a million must not leave a million pieces of memory behind. */
let bytes = Buffer.alloc(1_024)

/** Writes labels of one address from `at` on, where there must be room; returns where the record ends. */
export function writeRecord(words: Int32Array, at: number, labels: readonly RankedLabel[]): number {
  writeAddress(words, at, labels[0]!.address)
  let end = at + addressWords
  for (const [index, { chain, label }] of labels.entries())
    end = writeLabel(words, end, { chain, label, isLast: index === labels.length - 1 })
  return end
}

/** How many words a record of these labels may take at most. */
export function recordLengthMax(labels: readonly RankedLabel[]): number {
  return labels.reduce((sum, { label }) => sum + labelLengthMax(label), addressWords)
}

/** The words of one label without an address. */
export function packLabel(label: string): Int32Array {
  const words = new Int32Array(labelLengthMax(label))
  writeLabel(words, 0, { chain: undefined, label, isLast: true })
  return words
}

export function writeAddress(words: Int32Array, at: number, address: Address): void {
  bytes.write(address.slice(2), 'hex')
  for (let word = 0; word < addressWords; word++) words[at + word] = bytes.readInt32BE(word * wordBytes)
}

function writeLabel(
  words: Int32Array,
  at: number,
  { chain, label, isLast }: { chain: ChainId | undefined; label: string; isLast: boolean },
): number {
  const text = JSON.stringify(label)
  if (bytes.length < labelLengthMax(label) * wordBytes) bytes = Buffer.alloc(labelLengthMax(label) * wordBytes)
  const length = bytes.write(text)
  const end = at + textAt + wordsIn(length)
  for (let index = length; index < wordsIn(length) * wordBytes; index++) bytes[index] = 0
  // Palm's number takes more than one word.
  words[at] = Math.floor((chain ?? everyChain) / chainWord)
  words[at + lowChainAt] = (chain ?? everyChain) % chainWord
  words[at + checksumAt] = crc32(text)
  words[at + lengthAt] = length * 2 + (isLast ? 0 : 1)
  for (let to = at + textAt, from = 0; to < end; to++, from += wordBytes) words[to] = bytes.readInt32BE(from)
  return end
}

/** A character takes up to six bytes in JSON. */
function labelLengthMax(label: string): number {
  return textAt + wordsIn(label.length * 6 + 2)
}

function wordsIn(bytes: number): number {
  return (bytes + wordBytes - 1) >>> 2
}

/** How many words the record takes. */
export function recordLength(words: Int32Array, record: number): number {
  for (let label = record + addressWords; ; label = labelAfter(words, label))
    if (!isFollowed(words, label)) return labelAfter(words, label) - record
}

/** Whether it is the record of the address at `at`. */
export function isOf(words: Int32Array, record: number, addresses: DataView, at: number): boolean {
  return (
    words[record] === addresses.getInt32(at) &&
    words[record + 1] === addresses.getInt32(at + 4) &&
    words[record + 2] === addresses.getInt32(at + 8) &&
    words[record + 3] === addresses.getInt32(at + 12) &&
    words[record + 4] === addresses.getInt32(at + 16)
  )
}

/** Negative where the address of the record lies before that at the beginning of the others, and zero where it is the same. */
export function compareAddresses(words: Int32Array, record: number, others: Int32Array): number {
  for (let index = 0; index < addressWords; index++) {
    const difference = (words[record + index]! >>> 0) - (others[index]! >>> 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Where the label begins that is shown on the chain, or `nowhere`. */
export function winnerOn(chain: ChainId, words: Int32Array, record: number): number {
  for (let label = record + addressWords; ; label = labelAfter(words, label)) {
    const of = words[label]! * chainWord + (words[label + lowChainAt]! >>> 0)
    if (of === everyChain || of === chain) return label
    if (!isFollowed(words, label)) return nowhere
  }
}

export function labelChecksum(words: Int32Array, label: number): number {
  return words[label + checksumAt]!
}

/** How many bytes its text takes, with the quotes. */
export function labelLength(words: Int32Array, label: number): number {
  return words[label + lengthAt]! >> 1
}

/** Copies the text and up to three zeros; returns where it ends. In words, because for so few bytes `set` costs more. */
export function putLabel(out: DataView, at: number, words: Int32Array, label: number): number {
  const end = at + labelLength(words, label)
  for (let to = at, from = label + textAt; to < end; to += wordBytes, from++) out.setInt32(to, words[from]!)
  return end
}

function isFollowed(words: Int32Array, label: number): boolean {
  return (words[label + lengthAt]! & 1) === 1
}

function labelAfter(words: Int32Array, label: number): number {
  return label + textAt + wordsIn(labelLength(words, label))
}

// The labels that a page shows, by the place where each stands. It does not know how they were found.

/** In the place of a label. */
export const noLabel = 0

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
