// Made-up NFT contracts, and which of them a transfer belongs to: the same for rows of a store and blocks of a node.
import { createHash } from 'node:crypto'
import type { Address } from '../src/model.ts'
import type { GeneratedContract } from './made-rows.ts'
import { type Random, zipf } from './random.ts'
import type { Shape } from './shape.ts'

export function makeContracts(count: number): GeneratedContract[] {
  return Array.from({ length: count }, (_, index) => ({
    contract: `0x${digest(`contract ${index}`).toString('hex', 0, 20)}` as Address,
    standard: index % 3 === 2 ? 'ERC1155' : 'ERC721',
    transfers: 0,
  }))
}

/** From the part of history that has passed, 0 to 1, to the index of a contract that moves there. */
export function contractPicker(shape: Shape, random: Random, largestShare?: number): (part: number) => number {
  const { contracts, burstShare, contractsAtOnce } = shape
  const ofAll = zipf(contracts, largestShare)
  return part => {
    if (random.unit() >= burstShare) return ofAll(random.unit())
    // Contracts have their days one after the other, some hundreds at a time.
    return (Math.floor(part * contracts) + Math.floor(random.unit() ** 2 * contractsAtOnce)) % contracts
  }
}

export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
