// Bulk imports of whole Solana networks: rows are staged, outside of every answer, and merged all at once. One upsert for each
// row would cost five times as much.
import type { SolanaNetwork } from '../model.ts'
import type { HoldingUpdate, MintUpdate } from './solana-store.ts'
import { SqliteSolanaStaging } from './sqlite/solana-staging.ts'
import type { Store } from './store.ts'

export type StagedRows = { holdings: readonly HoldingUpdate[]; mints: readonly MintUpdate[] }

export interface SolanaStaging {
  /** Whether a merge can remove what a whole state lacks. */
  readonly removes: boolean
  /** The checkpoint of the last commit; undefined where nothing is staged. */
  checkpoint(): Promise<string | undefined>
  /** Rows and checkpoint, all or nothing. */
  commit(rows: StagedRows, checkpoint: string): Promise<void>
  /**
   * Merges every staged row; of one account the newest counts, staged or stored. Where the rows are the `whole` state at `slot`,
   * stored rows of that slot or before that are not among them are removed. Afterwards nothing is staged.
   */
  merge(state: { slot: number; whole: boolean }): Promise<void>
  /** Forgets what is staged. */
  discard(): Promise<void>
  close(): Promise<void>
}

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
