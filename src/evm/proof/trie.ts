// The root of the Merkle-Patricia trie of a list, as headers carry it for transactions, receipts and withdrawals: the keys
// are the RLP of the positions. It builds the root at once from all values; it keeps no trie and proves nothing else.
import { keccak256 } from './keccak.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'

type Leaf = { nibbles: Uint8Array; value: Uint8Array }

export function listRoot(values: readonly Uint8Array[]): Uint8Array {
  if (values.length === 0) return keccak256(encodeRlp(noBytes))
  const leaves = values.map((value, position) => ({ nibbles: nibblesOf(encodeRlp(positionBytes(position))), value }))
  leaves.sort((a, b) => Buffer.compare(a.nibbles, b.nibbles))
  return keccak256(encodeRlp(nodeOf(leaves, 0)))
}

/** The node above sorted leaves that share their first `depth` nibbles. No key is the beginning of another one. */
function nodeOf(leaves: readonly Leaf[], depth: number): RlpItem {
  const first = leaves[0]!
  if (leaves.length === 1) return [compactPath(first.nibbles.subarray(depth), true), first.value]
  const last = leaves[leaves.length - 1]!
  let shared = depth
  while (first.nibbles[shared] === last.nibbles[shared]) shared++
  if (shared > depth)
    return [compactPath(first.nibbles.subarray(depth, shared), false), child(branchOf(leaves, shared))]
  return branchOf(leaves, depth)
}

function branchOf(leaves: readonly Leaf[], depth: number): RlpItem {
  const branch: RlpItem[] = new Array<RlpItem>(17).fill(noBytes)
  let start = 0
  while (start < leaves.length) {
    const nibble = leaves[start]!.nibbles[depth]!
    let end = start + 1
    while (end < leaves.length && leaves[end]!.nibbles[depth] === nibble) end++
    branch[nibble] = child(nodeOf(leaves.slice(start, end), depth + 1))
    start = end
  }
  return branch
}

/** A node inside another one: itself where it is shorter than a hash, else its hash. */
function child(node: RlpItem): RlpItem {
  const encoded = encodeRlp(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

/** The hex-prefix encoding of a path: a flag nibble for leaves, and one for an odd number of nibbles. */
function compactPath(nibbles: Uint8Array, leaf: boolean): Uint8Array {
  const odd = nibbles.length % 2
  const path = new Uint8Array((nibbles.length - odd) / 2 + 1)
  path[0] = (leaf ? 0x20 : 0) | (odd === 1 ? 0x10 | nibbles[0]! : 0)
  for (let at = odd; at < nibbles.length; at += 2) {
    path[(at - odd) / 2 + 1] = (nibbles[at]! << 4) | nibbles[at + 1]!
  }
  return path
}

function nibblesOf(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(bytes.length * 2)
  for (let at = 0; at < bytes.length; at++) {
    nibbles[2 * at] = bytes[at]! >> 4
    nibbles[2 * at + 1] = bytes[at]! & 15
  }
  return nibbles
}

function positionBytes(position: number): Uint8Array {
  if (position === 0) return noBytes
  const bytes: number[] = []
  for (let rest = position; rest > 0; rest >>>= 8) bytes.unshift(rest & 255)
  return Uint8Array.from(bytes)
}

const noBytes = new Uint8Array(0)
