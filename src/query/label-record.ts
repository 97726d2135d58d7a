// How the labels of one address lie in memory, and the labels of a page. It does not find labels.
//
// A record is words of four bytes:
//
//   5 words   address
//   for each label, the stronger first:
//   2 words   chain, the higher word first; 0 for every chain
//   1 word    checksum of the text, the same in every process
//   1 word    length of the text, times two; one more if another label follows
//   …         the text in JSON with its quotes, up to a whole word
import { crc32 } from 'node:zlib'
import type { ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'

/** The position of a label or a record that does not exist. */
export const nowhere = 0

export const wordBytes = 4
const addressWords = 5
const everyChain = 0
const chainWord = 2 ** 32
const lowChainAt = 1
const checksumAt = 2
const lengthAt = 3
const textAt = 4
/** The order of bytes in a word of a typed array, for views of other bytes. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Writes the labels of one address at `at`, where there must be room. Returns where the record ends. */
export function writeRecord(words: Int32Array, at: number, labels: readonly RankedLabel[]): number {
  Buffer.from(words.buffer).write(labels[0]!.address.slice(2), at * wordBytes, 'hex')
  let end = at + addressWords
  for (const [index, label] of labels.entries()) end = writeLabel(words, end, label, index === labels.length - 1)
  return end
}

function writeLabel(
  words: Int32Array,
  at: number,
  { chain = everyChain as ChainId, label }: Pick<RankedLabel, 'chain' | 'label'>,
  isLast: boolean,
): number {
  const text = JSON.stringify(label)
  const length = Buffer.from(words.buffer).write(text, (at + textAt) * wordBytes)
  // Palm's chain id takes more than one word.
  words[at] = Math.floor(chain / chainWord)
  words[at + lowChainAt] = chain % chainWord
  words[at + checksumAt] = crc32(text)
  words[at + lengthAt] = length * 2 + (isLast ? 0 : 1)
  return at + textAt + wordsIn(length)
}

/** The most words that a record of these labels can take. A character takes up to six bytes in JSON. */
export function recordLengthMax(labels: readonly Pick<RankedLabel, 'label'>[]): number {
  return labels.reduce((sum, { label }) => sum + textAt + wordsIn(label.length * 6 + 2), addressWords)
}

function wordsIn(bytes: number): number {
  return (bytes + wordBytes - 1) >>> 2
}

export function recordHash(words: Int32Array, record: number): number {
  return hashOfWords(words[record]!, words[record + addressWords - 1]!)
}

export function addressHash(addresses: DataView, at: number): number {
  return hashOfWords(addresses.getInt32(at, isLittleEndian), addresses.getInt32(at + 16, isLittleEndian))
}

/**
 * Hashes an address by its first and last four bytes: vanity addresses are alike at one end, hardly ever at both.
 * Addresses may share a hash. The finaliser is that of MurmurHash3.
 */
function hashOfWords(first: number, last: number): number {
  const word = Math.imul(first, 0x9e3779b1) ^ last
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/** Whether it is the record of the address at `at`. */
export function isOf(words: Int32Array, record: number, addresses: DataView, at: number): boolean {
  return (
    words[record] === addresses.getInt32(at, isLittleEndian) &&
    words[record + 1] === addresses.getInt32(at + 4, isLittleEndian) &&
    words[record + 2] === addresses.getInt32(at + 8, isLittleEndian) &&
    words[record + 3] === addresses.getInt32(at + 12, isLittleEndian) &&
    words[record + 4] === addresses.getInt32(at + 16, isLittleEndian)
  )
}

/** The position of the label that is shown on the chain, or `nowhere`. */
export function winnerOn(chain: ChainId, words: Int32Array, record: number): number {
  for (let label = record + addressWords; ; label += textAt + wordsIn(labelLength(words, label))) {
    const of = words[label]! * chainWord + (words[label + lowChainAt]! >>> 0)
    if (of === everyChain || of === chain) return label
    const isLast = (words[label + lengthAt]! & 1) === 0
    if (isLast) return nowhere
  }
}

/** How many bytes the text takes, with its quotes. */
function labelLength(words: Int32Array, label: number): number {
  return words[label + lengthAt]! >> 1
}

/** In the place of a label. */
export const noLabel = 0

/** Copied for each page: filling an array takes three times as long, and a typed array ten times. */
const noLabels = new Array<number>(1_024).fill(noLabel)

export class PageLabels {
  /** For each stored row the sender's label, then the recipient's; `noLabel` where there is none. */
  readonly shown: number[]
  /**
   * Of each label the checksum, the length and the text, as in a record. Copied: one small array is nearer than many
   * tables.
   */
  readonly #words: number[] = [noLabel]
  #longest = 0

  constructor(rows: number) {
    while (noLabels.length < rows * 2) noLabels.push(noLabel)
    this.shown = noLabels.slice(0, rows * 2)
  }

  /** How many bytes the longest label takes in JSON, with its quotes. */
  get longest(): number {
    return this.#longest
  }

  /** Adds a label of a record. Returns what `shown` names it by. */
  add(words: Int32Array, label: number): number {
    const length = labelLength(words, label)
    if (length > this.#longest) this.#longest = length
    const added = this.#words.length
    const end = label + textAt + wordsIn(length)
    for (let at = label + checksumAt; at < end; at++) this.#words.push(words[at]!)
    return added
  }

  addText(label: string): number {
    const words = new Int32Array(recordLengthMax([{ label }]))
    writeLabel(words, 0, { chain: undefined, label }, true)
    return this.add(words, 0)
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    return this.#words[label]!
  }

  /**
   * Copies a label's JSON and up to three bytes more. Returns where it ends. In words: `set` costs more for so few
   * bytes.
   */
  put(out: DataView, at: number, label: number): number {
    const words = this.#words
    const end = at + (words[label + 1]! >> 1)
    for (let to = at, from = label + 2; to < end; to += wordBytes, from++)
      out.setInt32(to, words[from]!, isLittleEndian)
    return end
  }
}
