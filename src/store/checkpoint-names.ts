// The names of checkpoints that indexers write of a chain and that the store removes with the rows they rest on: both
// must agree on them. It reads and writes none.
import type { Address, ChainId, CoverageScope } from '../model.ts'

/** How far a wallet was looked up; without a wallet the beginning of all such names of the chain. */
export function walletCheckpoint(chain: ChainId, wallet: Address | '' = ''): string {
  return `wallet/${chain}/${wallet}`
}

/** Recent blocks that were stored while endpoints disagreed; without a scope the beginning of all such names. */
export function unclaimedCheckpoint(chain: ChainId, scope: CoverageScope | '' = ''): string {
  return `unclaimed/${chain}/${scope}`
}

/** The number and the hash of the final block. */
export function finalCheckpoint(chain: ChainId): string {
  return `final/${chain}`
}

/** The hash of block 0. */
export function genesisCheckpoint(chain: ChainId): string {
  return `genesis/${chain}`
}
