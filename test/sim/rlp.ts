// RLP, keccak and the ordered Merkle-Patricia root: what real headers are made of. Independent of src on purpose.
import { hash } from 'node:crypto'

export type RlpItem = Buffer | RlpItem[]

/** OpenSSL's keccak is about ten times faster than one written in JavaScript. */
export function keccak(bytes: Uint8Array): Buffer {
  return hash('keccak-256', bytes, 'buffer')
}

export function rlp(item: RlpItem): Buffer {
  if (Buffer.isBuffer(item)) {
    if (item.length === 1 && item[0]! < 0x80) return item
    return Buffer.concat([lengthPrefix(item.length, 0x80), item])
  }
  return rlpList(item.map(rlp))
}

/** A list of items that are RLP already. */
export function rlpList(items: readonly Buffer[]): Buffer {
  const body = Buffer.concat(items)
  return Buffer.concat([lengthPrefix(body.length, 0xc0), body])
}

function lengthPrefix(length: number, base: number): Buffer {
  if (length < 56) return Buffer.of(base + length)
  const size = integerBytes(BigInt(length))
  return Buffer.concat([Buffer.of(base + 55 + size.length), size])
}

export function integerBytes(value: bigint | number): Buffer {
  if (value === 0n || value === 0) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

export function bytesOfHex(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex')
}

export function hexOfBytes(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`
}

type Entry = { nibbles: number[]; value: Buffer }

/** The root of the trie that maps rlp(index) to each value, as transactions and receipts roots are defined. */
export function orderedRoot(values: readonly Buffer[]): string {
  if (values.length === 0) return hexOfBytes(keccak(rlp(Buffer.alloc(0))))
  const entries = values.map((value, index) => ({ nibbles: nibblesOf(rlp(integerBytes(index))), value }))
  return hexOfBytes(keccak(rlp(trieNode(entries, 0))))
}

function trieNode(entries: Entry[], depth: number): RlpItem {
  const [first] = entries
  if (first === undefined) return Buffer.alloc(0)
  if (entries.length === 1) return [pathBytes(first.nibbles.slice(depth), true), first.value]
  let shared = 0
  while (entries.every(e => e.nibbles[depth + shared] === first.nibbles[depth + shared])) shared++
  if (shared > 0) {
    return [pathBytes(first.nibbles.slice(depth, depth + shared), false), reference(trieNode(entries, depth + shared))]
  }
  const children: RlpItem[] = Array.from({ length: 16 }, (_, nibble) => {
    const below = entries.filter(e => e.nibbles[depth] === nibble)
    return below.length === 0 ? Buffer.alloc(0) : reference(trieNode(below, depth + 1))
  })
  return [...children, Buffer.alloc(0)]
}

function reference(node: RlpItem): RlpItem {
  const encoded = rlp(node)
  return encoded.length < 32 ? node : keccak(encoded)
}

function nibblesOf(bytes: Buffer): number[] {
  return [...bytes].flatMap(byte => [byte >> 4, byte & 15])
}

function pathBytes(nibbles: number[], leaf: boolean): Buffer {
  const odd = nibbles.length % 2 === 1
  const flagged = odd ? [(leaf ? 2 : 0) + 1, ...nibbles] : [leaf ? 2 : 0, 0, ...nibbles]
  const bytes = Buffer.alloc(flagged.length / 2)
  for (let at = 0; at < bytes.length; at++) bytes[at] = (flagged[2 * at]! << 4) | flagged[2 * at + 1]!
  return bytes
}

/** Sets the three bits of one address or topic in a 256-byte bloom. */
export function addToBloom(bloom: Buffer, hex: string): void {
  let bits = bloomBits.get(hex)
  if (bits === undefined) {
    const digest = keccak(bytesOfHex(hex))
    bits = [0, 2, 4].map(at => digest.readUInt16BE(at) & 2047)
    if (bloomBits.size > 200_000) bloomBits.clear()
    bloomBits.set(hex, bits)
  }
  for (const bit of bits) bloom[255 - (bit >> 3)]! |= 1 << (bit & 7)
}

const bloomBits = new Map<string, number[]>()
