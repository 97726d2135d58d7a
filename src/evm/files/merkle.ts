// SSZ's Merkle trees of SHA-256, as far as proofs of headers need them: the root above a branch, and the root of an
// epoch of headers.
import { hash } from 'node:crypto'

export const nodeBytes = 32

/** Hashes two nodes that stand side by side in `bytes`, and writes the node above them. */
function putParent(bytes: Buffer, at: number, out: Buffer, outAt: number): void {
  // Through a string, because `hash` takes longer to make a buffer.
  out.write(hash('sha256', bytes.subarray(at, at + 2 * nodeBytes), 'latin1'), outAt, 'latin1')
}

/** The root above a leaf, given the siblings from the leaf upwards and the leaf's generalized index. */
export function branchRoot(leaf: Uint8Array, siblings: Uint8Array, index: number): Buffer {
  const pair = Buffer.alloc(2 * nodeBytes)
  const node = Buffer.from(leaf)
  let place = index
  for (let at = 0; at < siblings.length; at += nodeBytes) {
    const isRight = place % 2 === 1
    pair.set(node, isRight ? nodeBytes : 0)
    pair.set(siblings.subarray(at, at + nodeBytes), isRight ? 0 : nodeBytes)
    putParent(pair, 0, node, 0)
    place = Math.floor(place / 2)
  }
  return node
}

const epochDepth = 13

/** The root of a list of header records, at most 8,192. `records`: hash and total difficulty of each, 64 bytes. */
export function epochRoot(records: Buffer): Buffer {
  const count = records.length / (2 * nodeBytes)
  let level: Buffer = Buffer.alloc((count + (count % 2)) * nodeBytes)
  for (let at = 0; at < count; at++) putParent(records, 2 * nodeBytes * at, level, nodeBytes * at)
  // Missing leaves count as zeros.
  let zero: Buffer = Buffer.alloc(nodeBytes)
  for (let depth = 0, width = count; depth < epochDepth; depth++) {
    if (width % 2 === 1) level.set(zero, width * nodeBytes)
    width = Math.ceil(width / 2)
    const above = Buffer.alloc((width + (width % 2)) * nodeBytes)
    for (let at = 0; at < width; at++) putParent(level, 2 * nodeBytes * at, above, nodeBytes * at)
    level = above
    zero = branchRoot(zero, zero, 0)
  }
  const length = Buffer.alloc(nodeBytes)
  length.writeUInt32LE(count)
  return branchRoot(level.subarray(0, nodeBytes), length, 0)
}
