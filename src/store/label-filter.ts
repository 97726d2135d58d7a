// Knows which addresses surely have no label, so that a page of 200 addresses looks up a few of them or none. It is only ever
// a hint: an address that it lets pass is looked up. Engines bring the addresses and the number that changes with them.
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
const probes = 6
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

/** Functions around two constants, because `mayHave` is called for every address of every page. */
function bloomOf(labels: number): Bloom {
  const bits = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(32, labels * bitsPerLabel))) / 32)
  const mask = bits.length * 32 - 1
  return {
    empty: labels === 0,
    add(bytes, at) {
      const step = stepOf(bytes, at)
      let probe = firstProbe(bytes, at) & mask
      for (let count = 0; count < probes; count++) {
        bits[probe >>> 5]! |= 1 << (probe & 31)
        probe = (probe + step) & mask
      }
    },
    mayHave(bytes, at) {
      let probe = firstProbe(bytes, at) & mask
      // Most addresses without a label fail here, before the step is needed.
      if ((bits[probe >>> 5]! & (1 << (probe & 31))) === 0) return false
      const step = stepOf(bytes, at)
      for (let count = 1; count < probes; count++) {
        probe = (probe + step) & mask
        if ((bits[probe >>> 5]! & (1 << (probe & 31))) === 0) return false
      }
      return true
    },
  }
}

/** From both ends: addresses that were chosen for their looks are alike at one of them, hardly ever at both. */
function firstProbe(bytes: Uint8Array, at: number): number {
  return mixed(Math.imul(wordAt(bytes, at), 0x9e3779b1) ^ wordAt(bytes, at + 16))
}

function stepOf(bytes: Uint8Array, at: number): number {
  let hash = wordAt(bytes, at + 16)
  for (let word = at; word < at + 16; word += 4) hash = Math.imul(hash, 0x85ebca77) ^ wordAt(bytes, word)
  return mixed(hash) | 1
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** The finaliser of MurmurHash3. */
function mixed(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

function pause(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
