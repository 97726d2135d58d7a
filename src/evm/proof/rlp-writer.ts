// Writes the RLP of hex texts straight into one growing buffer, because a buffer for each field of each log costs more than all
// the hashing behind it. Lists are written by a caller who knows their lengths beforehand. `encodeRlp` stays the reference.
import { nibbles, noNibble } from '../../nibbles.ts'

/** Above this many bytes a call of Buffer's own decoder is cheaper than the loop. */
const loopBytesMax = 48

/** How many bytes `0x…` text stands for; -1 where it is not whole bytes. Whether all are digits shows when it is written. */
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

export class RlpWriter {
  bytes = Buffer.allocUnsafeSlow(65_536)
  at = 0
  /** False once a text held something that is no digit; what was written then means nothing. */
  sound = true

  reset(): void {
    this.at = 0
    this.sound = true
  }

  /** Makes room, keeping what is written. Views that were taken before keep the old bytes. */
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

  #prefix(offset: number, length: number): void {
    const size = rlpPrefixLength(length) - 1
    if (size === 0) {
      this.bytes[this.at++] = offset + length
      return
    }
    this.bytes[this.at++] = offset + 55 + size
    for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) this.bytes[this.at++] = (length >>> shift) & 255
  }

  #digits(text: string, bytes: number): void {
    if (bytes > loopBytesMax) {
      if (this.bytes.write(text.slice(2), this.at, bytes, 'hex') !== bytes) this.sound = false
      this.at += bytes
      return
    }
    const target = this.bytes
    let at = this.at
    let seen = 0
    for (let place = 2; place < text.length; place += 2) {
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
