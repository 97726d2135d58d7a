// The ledgers of a chain: one of its NFTs, and one of its ERC-20 tokens. To the store a ledger is a chain of its own,
// with a head, claims and rows; the token ledger has the negative id of the chain. It knows no store and no node.
import type { ChainId } from './model.ts'

export const ledgerNames = ['nft', 'erc20'] as const
export type Ledger = (typeof ledgerNames)[number]

/** Under which id the store keeps a ledger of a chain. Ids of chains are above 0. */
export function ledgerId(chain: ChainId, ledger: Ledger): ChainId {
  const plain = Math.abs(chain) as ChainId
  return ledger === 'erc20' ? (-plain as ChainId) : plain
}

/** Which ledger of which chain the store keeps under an id. Labels and marks are of the chain, whichever it is. */
export function ledgerOf(id: ChainId): { chain: ChainId; ledger: Ledger } {
  return { chain: Math.abs(id) as ChainId, ledger: id < 0 ? 'erc20' : 'nft' }
}

/** The name of a chain as people read it, with that of the ledger unless it is the one of NFTs. */
export function ledgerName(chain: string, ledger: Ledger): string {
  return ledger === 'nft' ? chain : `${chain} ${ledger}`
}
