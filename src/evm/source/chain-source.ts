// What the indexer asks of a chain, in the words of the domain: blocks that are fetched, checked and decoded. Types only;
// `full-source.ts` and `watched-source.ts` answer them from JSON-RPC.

import type { Block, Evidence, Hash, Interval, TransferRow } from '../../model.ts'
import type { PackedActivity } from '../../store/packed-activity.ts'
import type { MalformedCounts } from '../decode/decode.ts'

export type Header = Block & { parentHash: Hash }

/** A block that is known from its logs alone has no parent to tell. */
export type RangeHeader = Block & { parentHash?: Hash }

/** Consecutive blocks that passed every check of their kind, with what was decoded from them. */
export type DecodedRange = {
  interval: Interval
  evidence: Evidence
  /** Lowest first. Every block, each the parent of the next, where the range is to be followed; else those that hold rows and the ends. */
  headers: readonly RangeHeader[]
  /** In the order of the chain. */
  transfers: readonly TransferRow[]
  /** One for each address and block, lowest block first, or one for each address of the range. See `ActivityGrain`. */
  activity: PackedActivity
  /** Bytes that the answers had: what range sizes are learnt from. */
  bytes: number
  logs: number
  malformed: MalformedCounts
}

/** Hot blocks are replaced one by one, so their activity is kept by block; history is merged before it is written. */
export type ActivityGrain = 'block' | 'range'

export type HeadReport = {
  latest: Header
  /** The block that the node calls final; undefined where it has no such word, or none yet. */
  finalized: Header | undefined
}

export interface ChainSource {
  head(signal: AbortSignal): Promise<HeadReport>
  headerByHash(hash: Hash, signal: AbortSignal): Promise<Header | undefined>
  headerByNumber(number: number, signal: AbortSignal): Promise<Header | undefined>
  /** With every header. Fails with a RangeRefused where the interval is more than the endpoints give at once. */
  range(interval: Interval, grain: ActivityGrain, signal: AbortSignal): Promise<DecodedRange>
}
