// Collects the first and last transaction of each address while blocks are decoded, straight into the rows that are
// stored (`store/packed-activity.ts`).
import { randomBytes } from 'node:crypto'
import { nibbles, noNibble } from '../../hex.ts'
import type { TransactionRef } from '../../model.ts'
import { type PackedActivity, packRef, refBytes, rowBytes } from '../../store/packed-activity.ts'
import { wordAt } from '../../store/runs/place-key.ts'

/** Stands for a transaction that cannot be read. */
export const noRef = -1

/** Five words of an address, then its first and its last transaction. */
const [addressWords, wordsEach] = [5, 7]
/** Of addresses that there is room for at first. */
const [capacityMin, capacityMax] = [15, 2 ** 16 - 1]
/** Senders of transactions choose the addresses. With a secret they cannot choose many that share a slot. */
const secret = randomBytes(4).readUInt32LE()

/**
 * Collects the first and last transaction of each address and packs them into rows. It finds addresses by their words
 * in arrays of numbers: making a text of each and looking it up in a map takes three times as long. Transactions are
 * packed once and copied from there.
 */
export class ActivityPacker {
  #refs = Buffer.allocUnsafeSlow(64 * refBytes)
  #refCount = 0
  /** What is asked for is written behind the last address, where it stays if it is new. */
  #words: Uint32Array
  #count = 0
  /** Numbers of addresses, counted from 1; 0: none. Fewer than half of them are taken. */
  #slots: Uint32Array

  /** `addresses`: how many to expect. */
  constructor(addresses = 0) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.min(Math.max(addresses, capacityMin), capacityMax) + 1))
    this.#words = new Uint32Array(capacity * wordsEach)
    this.#slots = new Uint32Array(2 * capacity)
  }

  /** Packs a transaction and returns its number; numbers count up from 0. `noRef` where its hash is not one. */
  ref(ref: TransactionRef): number {
    const at = this.#refCount * refBytes
    if (at === this.#refs.length) this.#refs = twice(this.#refs)
    return packRef(ref, this.#refs, at) ? this.#refCount++ : noRef
  }

  /** Adds the address that 40 digits of a text are. False where they are not digits; then nothing is added. */
  addDigits(text: string, from: number, ref: number): boolean {
    const words = this.#words
    const start = this.#count * wordsEach
    let seen = 0
    for (let word = 0, at = from; word < addressWords; word++) {
      let value = 0
      for (const end = at + 8; at < end; at++) {
        // Beyond the end of the text the code is not a number, and the digit none.
        const nibble = nibbles[text.charCodeAt(at)] ?? noNibble
        seen |= nibble
        value = (value << 4) | nibble
      }
      words[start + word] = value
    }
    if (seen >= noNibble) return false
    this.#add(start, ref)
    return true
  }

  /** Adds the address that 20 bytes are. */
  addBytes(bytes: Uint8Array, from: number, ref: number): void {
    const start = this.#count * wordsEach
    for (let word = 0; word < addressWords; word++) this.#words[start + word] = wordAt(bytes, from + 4 * word)
    this.#add(start, ref)
  }

  #add(start: number, ref: number): void {
    const words = this.#words
    const slot = this.#slotOf(start)
    const known = this.#slots[slot]!
    if (known > 0) {
      const at = (known - 1) * wordsEach + addressWords
      if (ref < words[at]!) words[at] = ref
      if (ref > words[at + 1]!) words[at + 1] = ref
      return
    }
    words[start + addressWords] = ref
    words[start + addressWords + 1] = ref
    this.#slots[slot] = ++this.#count
    if (2 * this.#count === this.#slots.length) this.#makeRoom()
  }

  /** The slot of the address that begins at a word, or the free one that it would take. */
  #slotOf(start: number): number {
    const words = this.#words
    const slots = this.#slots
    const mask = slots.length - 1
    let hash = secret
    for (let word = 0; word < addressWords; word++) {
      hash = Math.imul(hash ^ words[start + word]!, 0x9e3779b1)
      hash ^= hash >>> 15
    }
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const known = slots[slot]!
      if (known === 0) return slot
      const at = (known - 1) * wordsEach
      let word = 0
      while (word < addressWords && words[at + word] === words[start + word]) word++
      if (word === addressWords) return slot
    }
  }

  #makeRoom(): void {
    const words = new Uint32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
    this.#slots = new Uint32Array(2 * this.#slots.length)
    for (let number = 1; number <= this.#count; number++) this.#slots[this.#slotOf((number - 1) * wordsEach)] = number
  }

  /** In a buffer that holds nothing else: it may be transferred to another thread. */
  packed(): PackedActivity {
    const words = this.#words
    const rows = new Uint8Array(this.#count * rowBytes)
    for (let start = 0, at = 0; at < rows.length; start += wordsEach) {
      for (let word = start; word < start + addressWords; word++) {
        const value = words[word]!
        rows[at++] = value >>> 24
        rows[at++] = value >>> 16
        rows[at++] = value >>> 8
        rows[at++] = value
      }
      at = this.#putRef(rows, at, words[start + addressWords]!)
      at = this.#putRef(rows, at, words[start + addressWords + 1]!)
    }
    return rows as PackedActivity
  }

  /** A loop, because a copy of so few bytes takes less than the call of one. */
  #putRef(rows: Uint8Array, at: number, ref: number): number {
    const refs = this.#refs
    for (let from = ref * refBytes, end = from + refBytes; from < end; from++) rows[at++] = refs[from]!
    return at
  }
}

function twice(bytes: Buffer): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(2 * bytes.length)
  larger.set(bytes)
  return larger
}
