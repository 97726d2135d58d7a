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
    entry = remember(value, bytes)
  }
  setBits(bloom, entry)
  return true
}

/** Adds an address or a topic that is at hand as bytes. Remembered as Latin-1, which is shorter than any hex text. */
export function addBytesToBloom(bloom: Uint8Array, bytes: Buffer, from: number, to: number): void {
  const value = bytes.toString('latin1', from, to)
  setBits(bloom, remembered.get(value) ?? remember(value, bytes.subarray(from, to)))
}

function remember(value: string, bytes: Uint8Array): number {
  const digest = keccak256(bytes)
  if (remembered.size === rememberedMax) remembered.clear()
  const entry = remembered.size * 3
  remembered.set(value, entry)
  for (let pair = 0; pair < 3; pair++) {
    rememberedBits[entry + pair] = ((digest[2 * pair]! << 8) | digest[2 * pair + 1]!) & 2047
  }
  return entry
}

function setBits(bloom: Uint8Array, entry: number): void {
  setBit(bloom, rememberedBits[entry]!)
  setBit(bloom, rememberedBits[entry + 1]!)
  setBit(bloom, rememberedBits[entry + 2]!)
}

/** Bits count from the end: bit 0 is the lowest of the last byte. */
function setBit(bloom: Uint8Array, bit: number): void {
  const at = bloomBytes - 1 - (bit >> 3)
  bloom[at] = bloom[at]! | (1 << (bit & 7))
}
