// The labels of addresses that lie side by side, ready to be copied into an answer: found by the bytes of an address, kept as the
// bytes of a JSON text. It is never changed, so that a page may go on reading one that was replaced.
import { crc32 } from 'node:zlib'
import type { ChainId } from '../model.ts'
import { addressHash, addressWord } from '../store/address-hash.ts'
import type { RankedLabel } from '../store/label-store.ts'

/** No label for this address; those that there are have numbers above. */
export const noLabel = 0
/** The address has labels, but their texts are not here. */
export const unknownLabel = -1

/** In the place of a tag: no address; nothing is known of any. */
export const freeTag = 0
export const unreadTag = 255

const addressBytes = 20
const everyChain = 0
/** A record: the address, the chain, the checksum and the length of the text; then the text. */
const chainAt = 20
const checksumAt = 24
const lengthAt = 28
const textAt = 32
/** By slot: where the first record of the address begins. */
const positionBytes = 4

/** From bits of the hash that no segment chooses slots by. */
export function tagOf(hash: number): number {
  return 1 + (((hash >>> 16) * (unreadTag - 1)) >>> 16)
}

/**
 * Bytes instead of objects, of which a million would be work for every collection. Labels of a page are seldom in the processor's
 * cache: all that is needed of one lies side by side.
 */
export class LabelSegment {
  /**
   * Open addressing, at most half full: one byte of the address's hash for each slot, or `freeTag`. They stand apart from what they
   * lead to, so that those of a million labels stay in the cache.
   */
  readonly tags: Uint8Array
  readonly isEmpty: boolean
  /** What it takes of memory. */
  readonly bytes: number
  /** The positions of records by slot, then the records in the order of labels. */
  readonly #records: DataView | undefined

  /** Labels in the order of `labelsWithin`. Without texts it only tells which addresses have none. */
  constructor(labels: readonly RankedLabel[], { withTexts }: { withTexts: boolean }) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(2, labels.length * 2)))
    const texts = withTexts ? labels.map(({ label }) => JSON.stringify(label)) : []
    const textBytes = texts.reduce((sum, text) => sum + textAt + Buffer.byteLength(text), 0)
    const records = Buffer.alloc(withTexts ? slots * positionBytes + textBytes : addressBytes)
    this.tags = new Uint8Array(slots)
    let position = withTexts ? slots * positionBytes : 0
    for (const [index, { address, chain }] of labels.entries()) {
      records.write(address.slice(2), position, 'hex')
      if (labels[index - 1]?.address !== address) {
        const slot = this.#take(addressHash(records, position))
        if (withTexts) records.writeUInt32BE(position, slot * positionBytes)
      }
      if (!withTexts) continue
      const text = texts[index]!
      records.writeUInt32BE(chain ?? everyChain, position + chainAt)
      records.writeUInt32BE(crc32(text), position + checksumAt)
      const length = records.write(text, position + textAt)
      records.writeUInt32BE(length, position + lengthAt)
      position += textAt + length
    }
    if (withTexts) this.#records = new DataView(records.buffer, records.byteOffset, records.length)
    this.isEmpty = labels.length === 0
    this.bytes = slots + (withTexts ? records.length : 0)
  }

  /** The number of the first label that it was given. */
  get firstLabel(): number {
    return this.tags.length * positionBytes
  }

  /** The number of the label that the address at `at` has on the chain, `noLabel` or `unknownLabel`. */
  numberOf(bytes: Uint8Array, at: number, chain: ChainId): number {
    const { tags } = this
    const mask = tags.length - 1
    const hash = addressHash(bytes, at)
    const tag = tagOf(hash)
    for (let slot = hash & mask; tags[slot] !== freeTag; slot = (slot + 1) & mask) {
      if (tags[slot] !== tag) continue
      const first = this.labelAt(slot)
      if (first === unknownLabel || this.isOf(first, bytes, at)) return this.winner(first, bytes, at, chain)
    }
    return noLabel
  }

  /** The first label of the address in a slot that is taken, or `unknownLabel`. */
  labelAt(slot: number): number {
    return this.#records === undefined ? unknownLabel : this.#records.getUint32(slot * positionBytes)
  }

  /** Whether the label is one of the address at `at`. */
  isOf(label: number, bytes: Uint8Array, at: number): boolean {
    const records = this.#records!
    for (let index = 0; index < addressBytes; index += 4)
      if (records.getInt32(label + index) !== addressWord(bytes, at + index)) return false
    return true
  }

  /** The first one that holds on the chain among the labels of the address at `at`, which begin with this one. */
  winner(first: number, bytes: Uint8Array, at: number, chain: ChainId): number {
    const records = this.#records
    if (records === undefined) return unknownLabel
    for (let label = first; label < records.byteLength; label += textAt + records.getUint32(label + lengthAt)) {
      if (label !== first && !this.isOf(label, bytes, at)) break
      const of = records.getUint32(label + chainAt)
      if (of === everyChain || of === chain) return label
    }
    return noLabel
  }

  /** How many bytes the label takes in JSON, with its quotes. */
  lengthOf(label: number): number {
    return this.#records!.getUint32(label + lengthAt)
  }

  /** Of the label's text: the same in every process. */
  checksumOf(label: number): number {
    return this.#records!.getUint32(label + checksumAt)
  }

  /** Copies the label's JSON; returns where it ends. A loop, because a view and `set` cost more than the 30 bytes of a label. */
  put(out: Uint8Array, at: number, label: number): number {
    const records = this.#records!
    const length = records.getUint32(label + lengthAt)
    for (let index = 0; index < length; index++) out[at + index] = records.getUint8(label + textAt + index)
    return at + length
  }

  /** The slot that is taken for an address with this hash. */
  #take(hash: number): number {
    const mask = this.tags.length - 1
    let slot = hash & mask
    while (this.tags[slot] !== freeTag) slot = (slot + 1) & mask
    this.tags[slot] = tagOf(hash)
    return slot
  }
}
