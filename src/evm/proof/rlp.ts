// Recursive length prefix (RLP): Ethereum's encoding of nested byte strings. It does not decode.
import { nibbles, noNibble } from '../../hex.ts'

export type RlpItem = Uint8Array | readonly RlpItem[]

export function encodeRlp(item: RlpItem): Buffer {
  const pieces: Uint8Array[] = []
  const length = collect(item, pieces)
  return Buffer.concat(pieces, length)
}

/** Pushes an item's encoding and returns its length. */
function collect(item: RlpItem, pieces: Uint8Array[]): number {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && (item[0] ?? 0) < 0x80) {
      pieces.push(item)
      return 1
    }
    const prefix = lengthPrefix(0x80, item.length)
    pieces.push(prefix, item)
    return prefix.length + item.length
  }
  const place = pieces.push(noBytes) - 1
  let length = 0
  for (const part of item) length += collect(part, pieces)
  const prefix = lengthPrefix(0xc0, length)
  pieces[place] = prefix
  return prefix.length + length
}

/** Of items that are encoded already. */
export function encodeRlpList(encoded: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const item of encoded) length += item.length
  const prefix = lengthPrefix(0xc0, length)
  return Buffer.concat([prefix, ...encoded], prefix.length + length)
}

function lengthPrefix(offset: number, length: number): Uint8Array {
  if (length < 56) return oneByte[offset + length]!
  if (length < 2 ** 8) return Uint8Array.of(offset + 56, length)
  if (length < 2 ** 16) return Uint8Array.of(offset + 57, length >> 8, length & 255)
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return Uint8Array.of(offset + 55 + digits.length, ...digits)
}

const noBytes = new Uint8Array(0)
// Nearly every prefix is one of these.
const oneByte = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

/** A type and the longest prefix of a list. */
const listRoom = 6

/** Above this many bytes Buffer's own decoder is cheaper than the loop. */
const loopBytesMax = 48

/** How many bytes `0x…` text stands for; -1 if they are not whole. Digits are checked when it is written. */
export function hexBytes(text: unknown): number {
  if (typeof text !== 'string' || text.length % 2 !== 0 || text.length < 2) return -1
  if (text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) return -1
  return text.length / 2 - 1
}

/** The length of a string's RLP. A single byte below 0x80 stands for itself. */
export function rlpStringLength(text: string, bytes: number): number {
  if (bytes === 1 && isSmall(text)) return 1
  return rlpPrefixLength(bytes) + bytes
}

export function rlpPrefixLength(length: number): number {
  if (length < 56) return 1
  return length < 2 ** 8 ? 2 : length < 2 ** 16 ? 3 : length < 2 ** 24 ? 4 : 5
}

/** Writes the prefix of a string (0x80) or a list (0xc0) of this length, and returns where it ends. */
export function putRlpPrefix(bytes: Uint8Array, at: number, offset: number, length: number): number {
  const size = rlpPrefixLength(length) - 1
  if (size === 0) {
    bytes[at] = offset + length
    return at + 1
  }
  let end = at
  bytes[end++] = offset + 55 + size
  for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes[end++] = (length >>> shift) & 255
  return end
}

/**
 * Writes the RLP of hex texts into one growing buffer: a buffer per field of each log would cost more than the hashing.
 * Callers know the lengths of lists beforehand. `encodeRlp` is the reference.
 */
export class RlpWriter {
  bytes = Buffer.allocUnsafeSlow(65_536)
  at = 0
  /** False once a text held a character that is not a digit; then the bytes mean nothing. */
  sound = true

  reset(): void {
    this.at = 0
    this.sound = true
  }

  /** Makes room and keeps what is written. Earlier views keep the old bytes. */
  reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.at + length))
    larger.set(this.bytes.subarray(0, this.at))
    this.bytes = larger
  }

  byte(value: number): void {
    this.bytes[this.at++] = value
  }

  listPrefix(length: number): void {
    this.#prefix(0xc0, length)
  }

  string(text: string, bytes: number): void {
    if (bytes !== 1 || !isSmall(text)) this.#prefix(0x80, bytes)
    this.#digits(text, bytes)
  }

  /** A number: whole bytes without leading zeros, and none for zero. */
  quantity(text: string): void {
    let start = 2
    while (start < text.length && text.charCodeAt(start) === 0x30) start++
    const digits = text.length - start
    const bytes = (digits + 1) >> 1
    if (text.length < 3 || text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) this.sound = false
    if (bytes !== 1 || (digits === 2 && !((nibbles[text.charCodeAt(start)] ?? noNibble) < 8))) this.#prefix(0x80, bytes)
    if (digits % 2 === 1) {
      const low = nibbles[text.charCodeAt(start++)] ?? noNibble
      if (low === noNibble) this.sound = false
      this.bytes[this.at++] = low
    }
    this.#pairs(text, start)
  }

  /** Begins a list whose length is not known yet. Returns where its items start. */
  beginList(): number {
    this.reserve(listRoom)
    this.at += listRoom
    return this.at
  }

  /** The list since `start` with its prefix, behind a type unless that is 0. */
  endList(start: number, type: number): Uint8Array {
    const { at } = this
    const prefix = start - rlpPrefixLength(at - start)
    this.at = prefix
    this.listPrefix(at - start)
    this.at = at
    if (type > 0) this.bytes[prefix - 1] = type
    return this.bytes.subarray(type > 0 ? prefix - 1 : prefix, at)
  }

  /** Of an item that is encoded already. */
  encoded(item: Uint8Array): void {
    this.bytes.set(item, this.at)
    this.at += item.length
  }

  #prefix(offset: number, length: number): void {
    this.at = putRlpPrefix(this.bytes, this.at, offset, length)
  }

  #digits(text: string, bytes: number): void {
    if (bytes > loopBytesMax) {
      if (this.bytes.write(text.slice(2), this.at, bytes, 'hex') !== bytes) this.sound = false
      this.at += bytes
      return
    }
    this.#pairs(text, 2)
  }

  #pairs(text: string, start: number): void {
    const target = this.bytes
    let at = this.at
    let seen = 0
    for (let place = start; place < text.length; place += 2) {
      const high = nibbles[text.charCodeAt(place)] ?? noNibble
      const low = nibbles[text.charCodeAt(place + 1)] ?? noNibble
      seen |= high | low
      target[at++] = (high << 4) | low
    }
    if (seen >= noNibble) this.sound = false
    this.at = at
  }
}

function isSmall(text: string): boolean {
  return (nibbles[text.charCodeAt(2)] ?? noNibble) < 8
}
