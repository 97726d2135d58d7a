// The only door to the data: what every engine offers, in the words of the domain, joined from one file for each area. No
// engine, SQL or rule of an answer here.
import type { ActivityReader } from './activity-store.ts'
import type { AnnotationStore } from './annotation-store.ts'
import type { ChainReader, ChainWriter } from './chain-store.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import type { KeyStore } from './key-store.ts'
import type { LeaseStore } from './lease-store.ts'
import type { SolanaStore } from './solana-store.ts'
import type { TransferReader } from './transfer-store.ts'
import type { WorkStore } from './work-store.ts'

/**
 * Every write is one transaction, all or nothing, and safe to repeat. Reads never wait for writes. Failures are
 * AlmanacErrors with a `store_*` code. A store is a plain object whose functions need no `this`: what stands in front of one
 * spreads it and replaces what it changes.
 */
export interface Store
  extends ChainReader,
    ChainWriter,
    TransferReader,
    ActivityReader,
    SolanaStore,
    KeyStore,
    AnnotationStore,
    LeaseStore,
    WorkStore,
    CheckpointStore {
  readonly engine: 'sqlite' | 'postgres'
  /** Where the data is, fit for a log: no password. */
  readonly location: string
  /**
   * A number that is another one after anything that an answer can show was committed, by this or any other process.
   * Cheap enough to ask for on every request; answers may be cached for as long as it stays.
   */
  revision(): number
  /** 32 random bytes, made with the store and the same for every process: signs cursors. */
  secret(): Promise<Uint8Array>
  info(): Promise<StoreInfo>
  close(): Promise<void>
}

/** A copy of the store on another server that follows it with a lag, for reads that may be a moment old. */
export interface ReadReplica {
  /** Undefined while the copy is further behind than allowed, or cannot be reached. Reads of one answer stay with one of both. */
  current(): Store | undefined
  /** Reports a read that failed: the copy is not used until it has answered again. */
  failed(): void
  /** Another number after anything that answers from the copy can show has changed, or the copy comes or goes. */
  revision(): number
  close(): Promise<void>
}

export type StoreInfo = { engine: Store['engine']; location: string; schemaVersion: number; sizeBytes: number }
