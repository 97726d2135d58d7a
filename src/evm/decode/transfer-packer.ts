// Packs transfers straight from the hex text of a node's answer, in the layout of `transfer-payload.ts`: going through
// bigints and texts takes twice as long. Tests compare the bytes with `test/pack-transfer.ts`.
import { nibbles, noNibble } from '../../hex.ts'
import { payloadFlags, payloadHeaderBytes } from '../../store/transfer-payload.ts'

/**
 * Where a row's fields are in hex text. Each `…At` is the place of the first digit; words have 64 digits, addresses 40.
 */
export type HexTransfer = {
  /** `payloadFlags` of standard and batch only; the packer finds the others. */
  flags: number
  /** `0x` and 64 digits. */
  transactionHash: string
  to: string
  toAt: number
  from: string
  fromAt: number
  /** Undefined: none. */
  operator: string | undefined
  operatorAt: number
  tokenId: string
  tokenIdAt: number
  /** A word; undefined: one. */
  amount: string | undefined
  amountAt: number
  /** `0x` and one to 64 digits. */
  value: string
  idCount: number
  /** The sender of the transaction, `0x` and 40 digits. Anything else, and zero, counts as unknown. */
  sender: string | undefined
}

const rowBytesMax = payloadHeaderBytes + 32 + 3 * 20 + 3 * 32 + 4
const firstSlabBytes = 4_096
const slabBytesMax = 65_536

/**
 * One for each batch of rows. The payloads are views of slabs that only this packer uses, so a batch moves to another
 * thread without copying anything else.
 */
export class TransferPacker {
  #slab = new Uint8Array(0)
  #start = 0
  #at = 0
  #slabBytes = firstSlabBytes / 2
  /** Collects the bits that only a character other than a digit sets. */
  #badDigits = 0
  /** Of the last row, and where its bytes are in the slab; undefined: not in this one. */
  #transactionHash: string | undefined
  #hashAt = 0
  /** The sender in `#senderBytes`: the same for all rows of a transaction. */
  #sender: string | undefined
  readonly #senderBytes = new Uint8Array(20)

  /** Undefined where a field is missing, too short or not hex. */
  pack(row: HexTransfer): Uint8Array | undefined {
    if (this.#slab.length - this.#start < rowBytesMax) this.#newSlab()
    const slab = this.#slab
    const start = this.#start
    this.#badDigits = 0
    this.#at = start + payloadHeaderBytes
    if (!this.#hash(row.transactionHash)) return undefined
    const toZero = allZero(row.to, row.toAt, row.toAt + 40)
    const toFrom = this.#at
    if (!toZero) this.#digits(row.to, row.toAt, row.toAt + 40)
    const fromFrom = this.#at
    const fromZero = allZero(row.from, row.fromAt, row.fromAt + 40)
    if (!fromZero) this.#digits(row.from, row.fromAt, row.fromAt + 40)
    if (row.operator !== undefined) this.#digits(row.operator, row.operatorAt, row.operatorAt + 40)
    slab[start] =
      row.flags |
      (fromZero ? payloadFlags.fromZero : 0) |
      (toZero ? payloadFlags.toZero : 0) |
      (row.operator === undefined ? 0 : payloadFlags.operator) |
      (row.idCount === 1 ? 0 : payloadFlags.range) |
      (row.sender === undefined ? 0 : this.#sentBy(row.sender, toZero ? -1 : toFrom, fromZero ? -1 : fromFrom))
    slab[start + 1] = this.#integer(row.tokenId, row.tokenIdAt, row.tokenIdAt + 64)
    slab[start + 2] = row.amount === undefined ? 0 : this.#amount(row.amount, row.amountAt)
    if (row.value.length < 3 || row.value.length > 66 || !hasPrefix(row.value)) return undefined
    slab[start + 3] = this.#integer(row.value, 2, row.value.length)
    if (row.idCount !== 1) {
      for (let shift = 24; shift >= 0; shift -= 8) slab[this.#at++] = row.idCount >>> shift
    }
    if (this.#badDigits >= noNibble) return undefined
    this.#start = this.#at
    this.#transactionHash = row.transactionHash
    this.#hashAt = start + payloadHeaderBytes
    return slab.subarray(start, this.#at)
  }

  #newSlab(): void {
    this.#slabBytes = Math.min(2 * this.#slabBytes, slabBytesMax)
    this.#slab = new Uint8Array(this.#slabBytes)
    this.#start = 0
    this.#transactionHash = undefined
  }

  /** Mostly that of the row before: then its bytes are in the slab already. */
  #hash(text: string): boolean {
    if (text === this.#transactionHash) {
      this.#slab.copyWithin(this.#at, this.#hashAt, this.#hashAt + 32)
      this.#at += 32
      return true
    }
    if (text.length !== 66 || !hasPrefix(text)) return false
    this.#digits(text, 2, 66)
    return true
  }

  /** Compares packed bytes, which mostly differ in the first one. A zero address is not packed and never sends. */
  #sentBy(sender: string, toAt: number, fromAt: number): number {
    if (sender !== this.#sender && !this.#readSender(sender)) return 0
    if (toAt >= 0 && this.#isSender(toAt)) return payloadFlags.sentByRecipient
    return fromAt >= 0 && this.#isSender(fromAt) ? payloadFlags.sentByGiver : payloadFlags.sentByOther
  }

  #readSender(sender: string): boolean {
    this.#sender = undefined
    if (sender.length !== 42 || !hasPrefix(sender)) return false
    let digits = 0
    for (let byte = 0; byte < 20; byte++) {
      const high = nibbles[sender.charCodeAt(2 + 2 * byte)] ?? noNibble
      const low = nibbles[sender.charCodeAt(3 + 2 * byte)] ?? noNibble
      digits |= high | low
      this.#senderBytes[byte] = (high << 4) | low
    }
    if (digits >= noNibble || digits === 0) return false
    this.#sender = sender
    return true
  }

  #isSender(at: number): boolean {
    for (let byte = 0; byte < 20; byte++) if (this.#slab[at + byte] !== this.#senderBytes[byte]) return false
    return true
  }

  /** Writes an even number of digits as bytes. */
  #digits(text: string, from: number, to: number): void {
    const slab = this.#slab
    let at = this.#at
    let badDigits = this.#badDigits
    for (let place = from; place < to; place += 2) {
      const high = nibbles[text.charCodeAt(place)] ?? noNibble
      const low = nibbles[text.charCodeAt(place + 1)] ?? noNibble
      badDigits |= high | low
      slab[at++] = (high << 4) | low
    }
    this.#badDigits = badDigits
    this.#at = at
  }

  /** Writes an integer without its leading zeros and returns how many bytes that took. */
  #integer(text: string, from: number, to: number): number {
    let place = from
    while (place < to && text.charCodeAt(place) === 0x30) place++
    const length = (to - place + 1) >> 1
    if ((to - place) % 2 === 1) {
      const low = nibbles[text.charCodeAt(place++)] ?? noNibble
      this.#badDigits |= low
      this.#slab[this.#at++] = low
    }
    this.#digits(text, place, to)
    return length
  }

  /** Like an integer, but 1 takes no byte and 0 takes one. */
  #amount(text: string, from: number): number {
    const at = this.#at
    const length = this.#integer(text, from, from + 64)
    if (length === 0) this.#slab[this.#at++] = 0
    if (length !== 1 || this.#slab[at] !== 1) return length === 0 ? 1 : length
    this.#at = at
    return 0
  }
}

function hasPrefix(text: string): boolean {
  return text.charCodeAt(0) === 0x30 && text.charCodeAt(1) === 0x78
}

/** False where the text ends early too: reading its digits then fails. */
function allZero(text: string, from: number, to: number): boolean {
  for (let place = from; place < to; place++) if (text.charCodeAt(place) !== 0x30) return false
  return true
}
