// Several indexers on one store: who may write, and writes that nobody else's can overtake. It says nothing of the work itself.
import type { ChainWriter } from './chain-store.ts'
import type { CheckpointStore } from './checkpoint-store.ts'

/** The right to do a piece of work, such as following a chain. Each new holder gets a higher token. */
export type Lease = { name: string; token: number }

/** Writes that fail with `conflict`, within their own transaction, as soon as another holder has the lease. */
export type FencedWriter = ChainWriter & Pick<CheckpointStore, 'putCheckpoint'>

export interface LeaseStore {
  /**
   * Takes a name for `holder`, or keeps it for longer, by the store's clock. Undefined while another holder has it. A holder
   * that comes back late keeps its token if nobody claimed the name meanwhile.
   */
  claim(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>
  /** Gives a name back before its time; nothing happens where another holder has it by now. */
  release(lease: Lease): Promise<void>
  fenced(lease: Lease): FencedWriter
}
