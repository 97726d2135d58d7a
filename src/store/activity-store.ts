// Reading which chains a wallet is active on. The rows come with the commits of `chain-store.ts`.
import type { ActivityRow, Address, ChainId } from '../model.ts'

export interface ActivityReader {
  /** The chains on which the address is known to be active. */
  activityOf(address: Address): Promise<ReadonlyMap<ChainId, ActivityRow>>
}
