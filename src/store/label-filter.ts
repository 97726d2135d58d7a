// Knows which addresses surely have no label, so that a page of 200 addresses looks up a few of them or none. It is only ever
// a hint: an address that it lets pass is looked up. Engines bring the addresses and the number that changes with them.
import { addressHash } from './address-hash.ts'
import type { LabelHint } from './label-store.ts'

/** How an engine tells of its labels. */
export type LabelAddresses = {
  /** Another number after labels were changed, by whichever process. */
  version(): number
  /** Up to `limit` addresses in their order from behind `after` on, each once, 20 bytes each; undefined behind the last. */
  after(after: Uint8Array, limit: number): Buffer | undefined | Promise<Buffer | undefined>
  isOpen(): boolean
}

const bitsPerLabel = 16
const blockWords = 8
/** Read in pieces of about 10 ms with pauses between them: the thread serves requests meanwhile. */
const labelsPerPiece = 20_000
const addressBytes = 20

export class LabelFilter {
  readonly #addresses: LabelAddresses
  #hint: LabelHint | undefined
  /** The state of the labels that the hint speaks of. */
  #version: number | undefined
  #building: Promise<void> | undefined

  constructor(addresses: LabelAddresses) {
    this.#addresses = addresses
  }

  /** Undefined while nothing is known of the labels as they are now. */
  hint(): LabelHint | undefined {
    if (this.#addresses.version() === this.#version) return this.#hint
    this.#hint = undefined
    // What cannot be read now is tried again with the next question.
    this.#building ??= this.#build()
      .catch(() => undefined)
      .finally(() => {
        this.#building = undefined
      })
    return undefined
  }

  /** Resolves when nothing is being built. */
  async settled(): Promise<void> {
    await this.#building
  }

  /** Labels that change meanwhile make the result worthless; the next question starts anew. */
  async #build(): Promise<void> {
    await pause()
    if (!this.#addresses.isOpen()) return
    const version = this.#addresses.version()
    const pieces: Buffer[] = []
    let piece = await this.#addresses.after(Buffer.alloc(0), labelsPerPiece)
    while (piece !== undefined) {
      pieces.push(piece)
      await pause()
      if (!this.#addresses.isOpen() || this.#addresses.version() !== version) return
      piece = await this.#addresses.after(piece.subarray(piece.length - addressBytes), labelsPerPiece)
    }
    const labels = pieces.reduce((sum, { length }) => sum + length / addressBytes, 0)
    const hint = bloomOf(labels)
    for (const addresses of pieces) {
      for (let at = 0; at < addresses.length; at += addressBytes) hint.add(addresses, at)
      await pause()
    }
    this.#hint = hint
    this.#version = version
  }
}

type Bloom = LabelHint & { add(bytes: Uint8Array, at: number): void }

/** Eight words of a block, one bit in each: an address needs one hash and one line of the processor's cache. */
function bloomOf(labels: number): Bloom {
  const blocks = 2 ** Math.ceil(Math.log2(Math.max(1, (labels * bitsPerLabel) / (blockWords * 32))))
  const words = new Int32Array(blocks * blockWords)
  const mask = blocks - 1
  let hashes = new Int32Array(512)
  let firstWords = new Int32Array(512)
  return {
    empty: labels === 0,
    add(bytes, at) {
      const hash = addressHash(bytes, at)
      const block = (hash & mask) * blockWords
      for (let word = 0; word < blockWords; word++) words[block + word]! |= 1 << bitOf(hash, word)
    },
    candidates(bytes, positions) {
      const count = positions.length
      if (count > hashes.length) {
        hashes = new Int32Array(count)
        firstWords = new Int32Array(count)
      }
      for (let index = 0; index < count; index++) hashes[index] = addressHash(bytes, positions[index]!)
      // Between two pages the filter leaves the cache. Nothing in this loop waits for what it reads, so that the processor fetches
      // many lines at once: one after the other they took up to 260 ns each.
      for (let index = 0; index < count; index++) firstWords[index] = words[(hashes[index]! & mask) * blockWords]!
      const found: number[] = []
      for (let index = 0; index < count; index++) {
        const hash = hashes[index]!
        if ((firstWords[index]! & (1 << bitOf(hash, 0))) !== 0 && hasOtherBits(words, hash, (hash & mask) * blockWords))
          found.push(index)
      }
      return found
    },
  }
}

function hasOtherBits(words: Int32Array, hash: number, block: number): boolean {
  for (let word = 1; word < blockWords; word++)
    if ((words[block + word]! & (1 << bitOf(hash, word))) === 0) return false
  return true
}

/** Odd numbers without a pattern: each takes other five bits out of the same hash. */
const salts = Int32Array.of(
  ...[0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31],
)

function bitOf(hash: number, word: number): number {
  return Math.imul(hash, salts[word]!) >>> 27
}

function pause(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
