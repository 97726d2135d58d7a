// What proves headers of made-up chains: the accumulator of an epoch before the merge, and beacon blocks with the
// summaries that an operator would give. Node by node, and independent of what checks them.
import { hash } from 'node:crypto'
import { keccak256 } from '../src/evm/proof/block-hash.ts'
import type { WrittenBlock } from './history-writer.ts'

const leavesMax = 8_192
const depthMax = 13

/** A Merkle tree of SHA-256 with 8,192 places, of which those behind the leaves are zeros. */
class Tree {
  /** From the leaves up. */
  readonly #levels: Buffer[][]

  constructor(leaves: readonly Buffer[]) {
    this.#levels = [[...leaves]]
    for (let depth = 0; depth < depthMax; depth++) {
      const above: Buffer[] = []
      for (let at = 0; at < this.#levels[depth]!.length; at += 2)
        above.push(pair(this.#node(depth, at), this.#node(depth, at + 1)))
      this.#levels.push(above)
    }
  }

  get root(): Buffer {
    return this.#node(depthMax, 0)
  }

  /** The siblings from a leaf upwards. */
  branch(place: number): Buffer {
    return Buffer.concat(this.#levels.slice(0, -1).map((_, depth) => this.#node(depth, (place >> depth) ^ 1)))
  }

  #node(depth: number, place: number): Buffer {
    return this.#levels[depth]![place] ?? zeros[depth]!
  }
}

const zeros: Buffer[] = [Buffer.alloc(32)]
for (let depth = 0; depth < depthMax; depth++) zeros.push(pair(zeros[depth]!, zeros[depth]!))

function pair(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([left, right]), 'buffer')
}

/** The root of a list of header records: what an era1 file says its headers hash to. */
export function accumulatorOf(chain: readonly Pick<WrittenBlock, 'header' | 'difficulty'>[]): Buffer {
  const length = Buffer.alloc(32)
  length.writeUInt32LE(chain.length)
  const { root } = new Tree(chain.map(({ header, difficulty }) => pair(keccak256(header), difficulty!)))
  return pair(root, length)
}

/** Siblings within a beacon block: what they hash is not told. */
const withinBlock = Array.from({ length: 12 }, (_, at) => Buffer.alloc(32, at + 1))
/** Where the block hash stands in a beacon block since blobs: body, execution payload, block hash. */
const hashPlace = (12 * 16 + 9) * 32 + 12

/** Beacon blocks of a chain, each in the slot with the number of its block, counted from the network's first summary. */
export class BeaconChain {
  /** `historical_summaries`, as nodes of 32 bytes. */
  readonly summaries: Buffer
  readonly #firstSlot: number
  readonly #epochs: Tree[] = []
  readonly #roots: Buffer[] = []

  /** `hashes`: of the blocks from 0 on. `historicalRoots`: how many entries the network has of them. */
  constructor(hashes: readonly string[], historicalRoots = 0) {
    this.#firstSlot = historicalRoots * leavesMax
    this.#roots = hashes.map(each => {
      let node: Buffer = Buffer.from(each.slice(2), 'hex')
      for (const [depth, sibling] of withinBlock.entries())
        node = (hashPlace >> depth) % 2 === 1 ? pair(sibling, node) : pair(node, sibling)
      return node
    })
    for (let from = 0; from < hashes.length; from += leavesMax)
      this.#epochs.push(new Tree(this.#roots.slice(from, from + leavesMax)))
    this.summaries = Buffer.concat(this.#epochs.flatMap(({ root }) => [root, Buffer.alloc(32)]))
  }

  proof(number: number): { type: number; ssz: Buffer } {
    const branch = this.#epochs[Math.floor(number / leavesMax)]!.branch(number % leavesMax)
    const slot = Buffer.alloc(8)
    slot.writeBigUInt64LE(BigInt(this.#firstSlot + number))
    return { type: 3, ssz: Buffer.concat([branch, this.#roots[number]!, ...withinBlock, slot]) }
  }
}
