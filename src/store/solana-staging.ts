// Bulk imports of whole Solana networks: rows are staged, outside of every answer, and merged all at once. One upsert for each
// row would cost five times as much.
import type { SolanaNetwork } from '../model.ts'
import type { SolanaStaging } from './solana-store.ts'
import { SqliteSolanaStaging } from './sqlite/solana-staging.ts'
import type { Store } from './store.ts'

export function openSolanaStaging(store: Store, network: SolanaNetwork): SolanaStaging {
  if (store.engine === 'sqlite') return new SqliteSolanaStaging(store.location.replace(/^file:/, ''), network)
  return directStaging(store, network)
}

/** Servers take rows in bulk as they come. */
function directStaging(store: Store, network: SolanaNetwork): SolanaStaging {
  const name = `solana.${network}.import`
  return {
    removes: false,
    checkpoint: async () => (await store.checkpoint(name)) || undefined,
    async commit({ holdings, mints }, checkpoint) {
      await store.putMints(network, mints)
      await store.applyHoldings(network, holdings)
      await store.putCheckpoint(name, checkpoint)
    },
    merge: () => store.putCheckpoint(name, ''),
    discard: () => store.putCheckpoint(name, ''),
    async close() {},
  }
}
