// The root of the Merkle-Patricia trie of a list, as headers carry it for transactions, receipts and withdrawals: the
// keys are the RLP of the positions. It computes the root from all values at once and keeps no trie.
import { keccak256, putKeccak256 } from './block-hash.ts'
import { encodeRlp, encodeRlpList, putRlpPrefix, rlpPrefixLength } from './rlp.ts'

export function listRoot(values: readonly Uint8Array[]): Uint8Array {
  if (values.length === 0) return keccak256(encodeRlp(noBytes))
  return keccak256(encodedNode({ values, order: keyOrder(values.length) }, 0, values.length, 0))
}

/** The values and the order of their keys; each node covers a run of `order`. */
type Leaves = { values: readonly Uint8Array[]; order: Uint32Array }

/** The RLP of the node above sorted leaves that share their first `depth` nibbles. No key is a prefix of another. */
function encodedNode(leaves: Leaves, start: number, end: number, depth: number): Uint8Array {
  const position = leaves.order[start]!
  if (end - start === 1) return encodedLeaf(position, depth, leaves.values[position]!)
  const first = keyOf(position)
  const last = keyOf(leaves.order[end - 1]!)
  let shared = depth
  while (first[shared] === last[shared]) shared++
  const branch = encodedBranch(leaves, start, end, shared)
  if (shared === depth) return branch
  const reference = Buffer.allocUnsafe(referenceBytes)
  const length = putChild(reference, 0, branch)
  return encodeRlpList([encodeRlp(compactPath(first, depth, shared, false)), reference.subarray(0, length)])
}

/** A hash behind its prefix. */
const referenceBytes = 33
const emptyString = 0x80

/** Each leaf is written here, and hashed before the next one. */
let leaf = new Uint8Array(4_096)

/** A view that the next leaf overwrites. */
function encodedLeaf(position: number, depth: number, value: Uint8Array): Uint8Array {
  const path = leafPath(position, depth)
  const alone = value.length === 1 && value[0]! < 0x80
  const rest = path.length + (alone ? 0 : rlpPrefixLength(value.length)) + value.length
  if (rest + 5 > leaf.length) leaf = new Uint8Array(2 * rest + 5)
  let at = putRlpPrefix(leaf, 0, 0xc0, rest)
  leaf.set(path, at)
  at += path.length
  if (!alone) at = putRlpPrefix(leaf, at, 0x80, value.length)
  leaf.set(value, at)
  return leaf.subarray(0, at + value.length)
}

// By position and depth: the same few hundred serve every block.
const leafPaths: Uint8Array[][] = []

/** The RLP of what is left of a key below a depth. */
function leafPath(position: number, depth: number): Uint8Array {
  leafPaths[position] ??= []
  const known = leafPaths[position]![depth]
  if (known !== undefined) return known
  const key = keyOf(position)
  const path = encodeRlp(compactPath(key, depth, key.length, true))
  leafPaths[position]![depth] = path
  return path
}

// By depth: a branch is hashed before the next one of its depth, and holds at most 16 hashes and the end of the list.
const branches: Buffer[] = []
const branchPrefixMax = 3
const branchBytesMax = branchPrefixMax + 16 * referenceBytes + 1

/** A view that the next branch of this depth overwrites. */
function encodedBranch(leaves: Leaves, start: number, end: number, depth: number): Uint8Array {
  branches[depth] ??= Buffer.allocUnsafeSlow(branchBytesMax)
  const branch = branches[depth]
  let at = branchPrefixMax
  let from = start
  for (let nibble = 0; nibble < 16; nibble++) {
    let to = from
    while (to < end && keyOf(leaves.order[to]!)[depth] === nibble) to++
    if (to === from) branch[at++] = emptyString
    else at = putChild(branch, at, encodedNode(leaves, from, to, depth + 1))
    from = to
  }
  branch[at++] = emptyString
  const length = at - branchPrefixMax
  const first = branchPrefixMax - rlpPrefixLength(length)
  putRlpPrefix(branch, first, 0xc0, length)
  return branch.subarray(first, at)
}

/** Writes a node inside another one: itself if it is shorter than a hash, else its hash. Returns where it ends. */
function putChild(bytes: Buffer, at: number, encoded: Uint8Array): number {
  if (encoded.length < 32) {
    bytes.set(encoded, at)
    return at + encoded.length
  }
  bytes[at] = 0xa0
  putKeccak256(encoded, bytes, at + 1)
  return at + referenceBytes
}

/** The hex-prefix encoding of a path: a flag nibble for leaves, and one for an odd number of nibbles. */
function compactPath(nibbles: Uint8Array, from: number, to: number, leaf: boolean): Uint8Array {
  const odd = (to - from) % 2
  const path = new Uint8Array((to - from - odd) / 2 + 1)
  path[0] = (leaf ? 0x20 : 0) | (odd === 1 ? 0x10 | nibbles[from]! : 0)
  for (let at = from + odd; at < to; at += 2) path[(at - from - odd) / 2 + 1] = (nibbles[at]! << 4) | nibbles[at + 1]!
  return path
}

/** Positions in key order: single bytes below 0x80, then 0, which is the empty string, then longer keys. */
function keyOrder(count: number): Uint32Array {
  const order = new Uint32Array(count)
  const small = Math.min(count - 1, 127)
  for (let position = 1; position <= small; position++) order[position - 1] = position
  for (let position = small + 1; position < count; position++) order[position] = position
  return order
}

// The same few hundred keys serve every block.
const keys: Uint8Array[] = []

function keyOf(position: number): Uint8Array {
  for (let next = keys.length; next <= position; next++) keys.push(nibblesOf(encodeRlp(positionBytes(next))))
  return keys[position]!
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
