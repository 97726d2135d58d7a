// The bulk way in for Solana: rows wait aside, out of every answer, until all of them are brought in at once. For imports
// of whole networks, where one upsert a row costs five times as much.
import type { SolanaNetwork } from '../model.ts'
import type { HoldingUpdate, MintUpdate } from './solana-store.ts'
import { SqliteSolanaStaging } from './sqlite/solana-staging.ts'
import type { Store } from './store.ts'

export type StagedRows = { holdings: readonly HoldingUpdate[]; mints: readonly MintUpdate[] }

export interface SolanaStaging {
  /** Whether a merge can take away what a whole state lacks. */
  readonly removes: boolean
  /** What the last commit was given; undefined where nothing is staged. */
  checkpoint(): Promise<string | undefined>
  /** Rows and checkpoint, all or nothing. */
  commit(rows: StagedRows, checkpoint: string): Promise<void>
  /**
   * Brings every staged row in; of one account the newest counts, staged or stored. Where the rows are all that there was
   * at `slot` (`whole`), what is stored from then or before and not among them goes. Afterwards nothing is staged.
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
