// The labels of addresses that lie side by side, ready to be copied into an answer: found by the bytes of an address, kept as the
// bytes of a JSON text. It is never changed, so that a page may go on reading one that was replaced.
import { crc32 } from 'node:zlib'
import type { ChainId } from '../model.ts'
import { addressHash } from '../store/address-hash.ts'
import type { RankedLabel } from '../store/label-store.ts'

/** No label for this address; others count from 1 on. */
export const noLabel = 0
/** The address has labels, but their texts are not here. */
export const unknownLabel = -1

/** In the place of a tag: no address; nothing is known of any. */
export const freeTag = 0
export const unreadTag = 255

const addressBytes = 20
const everyChain = 0

/** From bits of the hash that no segment chooses slots by. */
export function tagOf(hash: number): number {
  return 1 + (((hash >>> 16) * (unreadTag - 1)) >>> 16)
}

/** Arrays of plain numbers: a million objects would be work for every collection. */
export class LabelSegment {
  /**
   * Open addressing, at most half full: one byte of the address's hash for each slot, or `freeTag`. They stand apart from what they
   * lead to, so that those of a million labels stay in the processor's cache.
   */
  readonly tags: Uint8Array
  readonly isEmpty: boolean
  /** What it takes of memory. */
  readonly bytes: number
  /** By slot: the number of the first label of the address. */
  readonly #firsts: Uint16Array
  readonly #texts: LabelTexts | undefined

  /** Fewer than 2^16 labels in the order of `labelsWithin`. Without texts it only tells which addresses have none. */
  constructor(labels: readonly RankedLabel[], { withTexts }: { withTexts: boolean }) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(2, labels.length * 2)))
    const addresses = Buffer.from(labels.map(({ address }) => address.slice(2)).join(''), 'hex')
    this.tags = new Uint8Array(slots)
    this.#firsts = new Uint16Array(withTexts ? slots : 0)
    for (let label = 1; label <= labels.length; label++) {
      if (label > 1 && labels[label - 2]!.address === labels[label - 1]!.address) continue
      const hash = addressHash(addresses, (label - 1) * addressBytes)
      let slot = hash & (slots - 1)
      while (this.tags[slot] !== freeTag) slot = (slot + 1) & (slots - 1)
      this.tags[slot] = tagOf(hash)
      if (withTexts) this.#firsts[slot] = label
    }
    if (withTexts) this.#texts = new LabelTexts(labels, addresses)
    this.isEmpty = labels.length === 0
    this.bytes = this.tags.byteLength + this.#firsts.byteLength + (this.#texts?.bytes ?? 0)
  }

  /** The number of the label that the address at `at` has on the chain, `noLabel` or `unknownLabel`. */
  numberOf(bytes: Uint8Array, at: number, chain: ChainId): number {
    const texts = this.#texts
    const { tags } = this
    const mask = tags.length - 1
    const hash = addressHash(bytes, at)
    const tag = tagOf(hash)
    for (let slot = hash & mask; tags[slot] !== freeTag; slot = (slot + 1) & mask) {
      if (tags[slot] !== tag) continue
      if (texts === undefined) return unknownLabel
      const first = this.#firsts[slot]!
      if (texts.isOf(first, bytes, at)) return texts.winner(first, chain)
    }
    return noLabel
  }

  /** How many bytes the label takes in JSON, with its quotes. */
  lengthOf(label: number): number {
    return this.#texts!.ends[label]! - this.#texts!.ends[label - 1]!
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    return this.#texts!.checksums[label - 1]!
  }

  /** Copies the label's JSON; returns where it ends. A loop, because a view and `set` cost more than the 30 bytes of a label. */
  put(out: Uint8Array, at: number, label: number): number {
    const { json, ends } = this.#texts!
    const start = ends[label - 1]!
    const length = ends[label]! - start
    for (let index = 0; index < length; index++) out[at + index] = json[start + index]!
    return at + length
  }
}

/** By label, counted from 1 on: its address, its chain, and where its text ends, and so where the next one's begins. */
class LabelTexts {
  readonly json: Uint8Array
  readonly ends: Uint32Array
  readonly checksums: Int32Array
  readonly #addresses: Uint8Array
  readonly #chains: Uint32Array

  constructor(labels: readonly RankedLabel[], addresses: Uint8Array) {
    this.#addresses = addresses
    this.#chains = Uint32Array.from(labels, ({ chain }) => chain ?? everyChain)
    this.ends = new Uint32Array(labels.length + 1)
    this.checksums = new Int32Array(labels.length)
    const texts = labels.map(({ label }) => JSON.stringify(label))
    for (const [index, text] of texts.entries()) {
      this.ends[index + 1] = this.ends[index]! + Buffer.byteLength(text)
      this.checksums[index] = crc32(text)
    }
    this.json = Buffer.from(texts.join(''))
  }

  get bytes(): number {
    const arrays = [this.json, this.ends, this.checksums, this.#addresses, this.#chains]
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  isOf(label: number, bytes: Uint8Array, at: number): boolean {
    const addresses = this.#addresses
    const start = (label - 1) * addressBytes
    for (let index = 0; index < addressBytes; index++) if (addresses[start + index] !== bytes[at + index]) return false
    return true
  }

  /** The first label for the chain among those of one address, which begin with this one. */
  winner(first: number, chain: ChainId): number {
    const chains = this.#chains
    const start = (first - 1) * addressBytes
    for (let label = first; label <= chains.length; label++) {
      if (label > first && !this.isOf(label, this.#addresses, start)) break
      const of = chains[label - 1]!
      if (of === everyChain || of === chain) return label
    }
    return noLabel
  }
}
