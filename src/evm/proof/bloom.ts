// The bloom filter that a header carries over its block's logs: 2048 bits, three per address and topic. It remembers
// the bits of recent values for speed alone.
import { parseHex } from '../../hex.ts'
import type { RpcLog } from '../rpc/port.ts'
import { keccak256 } from './block-hash.ts'

export const bloomBytes = 256

export function emptyBloom(): Uint8Array {
  return new Uint8Array(bloomBytes)
}

/** Adds a log's address and topics; stops with false if one of them is not as many bytes of hex as it has to be. */
export function addToBloom(bloom: Uint8Array, log: RpcLog): boolean {
  if (!Array.isArray(log.topics) || !addValue(bloom, log.address, addressLength)) return false
  for (const topic of log.topics as readonly unknown[]) {
    if (!addValue(bloom, topic, topicLength)) return false
  }
  return true
}

const addressLength = 42
const topicLength = 66

/** Undefined if the text is not 256 bytes of hex. */
export function parseBloom(text: unknown): Uint8Array | undefined {
  const bytes = parseHex(text)
  return bytes?.length === bloomBytes ? bytes : undefined
}

export function equalBlooms(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

// Addresses and first topics repeat within and across blocks, and hashing is expensive. A full table is cleared; values
// in use come back at once.
const rememberedMax = 65_536
const remembered = new Map<string, number>()
const rememberedBits = new Uint16Array(3 * rememberedMax)

/** What is remembered is of one length, so a node cannot fill the table with long texts. */
function addValue(bloom: Uint8Array, value: unknown, length: number): boolean {
  if (typeof value !== 'string' || value.length !== length) return false
  let entry = remembered.get(value)
  if (entry === undefined) {
    const bytes = parseHex(value)
    if (bytes === undefined) return false
    if (remembered.size === rememberedMax) remembered.clear()
    entry = remembered.size * 3
    remembered.set(value, entry)
    putBits(rememberedBits, entry, bytes)
  }
  setBit(bloom, rememberedBits[entry]!)
  setBit(bloom, rememberedBits[entry + 1]!)
  setBit(bloom, rememberedBits[entry + 2]!)
  return true
}

// The same for values that are at hand as bytes: each has one place, and a newer one takes it. Twice as fast as the
// texts above, which would have to be made first.
const placeBits = 16
const placedValues = new Uint8Array(32 * 2 ** placeBits)
const placedBytes = new Uint8Array(2 ** placeBits)
const placedBits = new Uint16Array(3 * 2 ** placeBits)

/** Adds an address or a topic, of at most 32 bytes. */
export function addBytesToBloom(bloom: Uint8Array, bytes: Uint8Array, from: number, to: number): void {
  // An address and the same one as a topic end alike.
  const first = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24)
  const last = bytes[to - 1]! | (bytes[to - 2]! << 8) | (bytes[to - 3]! << 16) | (bytes[to - 4]! << 24)
  const place = Math.imul(last ^ Math.imul(first + to - from, 0x85ebca6b), 0x9e3779b1) >>> (32 - placeBits)
  if (!isPlaced(place, bytes, from, to)) {
    putBits(placedBits, 3 * place, bytes.subarray(from, to))
    placedValues.set(bytes.subarray(from, to), 32 * place)
    placedBytes[place] = to - from
  }
  for (let bit = 3 * place; bit < 3 * place + 3; bit++) setBit(bloom, placedBits[bit]!)
}

function isPlaced(place: number, bytes: Uint8Array, from: number, to: number): boolean {
  if (placedBytes[place] !== to - from) return false
  for (let at = from, kept = 32 * place; at < to; at++, kept++) if (placedValues[kept] !== bytes[at]) return false
  return true
}

/** The three bits of a value. */
function putBits(bits: Uint16Array, at: number, value: Uint8Array): void {
  const digest = keccak256(value)
  for (let pair = 0; pair < 3; pair++) bits[at + pair] = ((digest[2 * pair]! << 8) | digest[2 * pair + 1]!) & 2047
}

/** Bits count from the end: bit 0 is the lowest of the last byte. */
function setBit(bloom: Uint8Array, bit: number): void {
  const at = bloomBytes - 1 - (bit >> 3)
  bloom[at] = bloom[at]! | (1 << (bit & 7))
}
