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

const addressBytes = 20
const everyChain = 0

/** Arrays of plain numbers: a million objects would be work for every collection. */
export class LabelSegment {
  /**
   * Open addressing, at most half full; 0 is free. The upper half is that of the address's hash, the lower one the number of its
   * first label: whoever is not here is hardly ever compared with an address, which lies elsewhere in memory.
   */
  readonly slots: Int32Array
  readonly mask: number
  readonly isEmpty: boolean
  /** What it takes of memory. */
  readonly bytes: number
  readonly #texts: LabelTexts | undefined

  /** Fewer than 2^16 labels in the order of `labelsWithin`. Without texts it only tells which addresses have none. */
  constructor(labels: readonly RankedLabel[], { withTexts }: { withTexts: boolean }) {
    const slotCount = 2 ** Math.ceil(Math.log2(Math.max(2, labels.length * 2)))
    this.slots = new Int32Array(slotCount)
    this.mask = slotCount - 1
    const addresses = Buffer.allocUnsafeSlow(labels.length * addressBytes)
    for (let label = 0; label < labels.length; label++) {
      const { address } = labels[label]!
      addresses.write(address.slice(2), label * addressBytes, 'hex')
      if (label === 0 || labels[label - 1]!.address !== address) this.#add(addresses, label)
    }
    if (withTexts) this.#texts = new LabelTexts(labels, addresses)
    this.isEmpty = labels.length === 0
    this.bytes = this.slots.byteLength + (this.#texts?.bytes ?? 0)
  }

  /** The number of the label that the address at `at` has on the chain, `noLabel` or `unknownLabel`. */
  numberOf(bytes: Uint8Array, at: number, chain: ChainId, hash = addressHash(bytes, at)): number {
    const { slots, mask } = this
    const texts = this.#texts
    let slot = hash & mask
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if ((entry ^ hash) >>> 16 === 0) {
        if (texts === undefined) return unknownLabel
        const label = entry & 0xffff
        if (texts.isOf(label, bytes, at)) return texts.winner(label, chain)
      }
      slot = (slot + 1) & mask
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

  #add(addresses: Uint8Array, label: number): void {
    const hash = addressHash(addresses, label * addressBytes)
    let slot = hash & this.mask
    while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask
    this.slots[slot] = (hash & 0xffff0000) | (label + 1)
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
    const texts = labels.map(({ label }) => Buffer.from(JSON.stringify(label)))
    for (const [index, text] of texts.entries()) {
      this.ends[index + 1] = this.ends[index]! + text.length
      this.checksums[index] = crc32(text)
    }
    this.json = Uint8Array.from(Buffer.concat(texts))
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
