// What the indexer asks of a chain, in the words of the domain: blocks that are fetched, checked and decoded. Types only;
// `full-source.ts` and `watched-source.ts` answer them from JSON-RPC.
import type { Block, Evidence, Hash, Interval, TransferRow } from '../../model.ts'
import type { PackedActivity } from '../../store/packed-activity.ts'
import type { MalformedCounts } from '../decode/decode.ts'
import type { RpcHeader } from '../rpc/port.ts'

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

// From a node's header to ours.

/** A header that passed `checkHeaders`. */
export function headerOf(header: RpcHeader): Header {
  return {
    number: Number(header.number),
    hash: String(header.hash).toLowerCase() as Hash,
    parentHash: header.parentHash.toLowerCase() as Hash,
    timestamp: Number(header.timestamp),
  }
}

// Which block is final: by the node's word or, where it has none, by depth.

export type FinalityRule = {
  /** Blocks behind the head that count as final where the node does not say. */
  finalityDepth: number
  finalizedTag: boolean
}

/** Undefined while the chain is too young to have one, or the node does not tell. */
export async function finalHeaderOf(
  { latest, finalized }: HeadReport,
  { finalizedTag, finalityDepth }: FinalityRule,
  source: Pick<ChainSource, 'headerByNumber'>,
  signal: AbortSignal,
): Promise<Header | undefined> {
  const named = finalizedTag ? finalized : undefined
  if (named !== undefined && named.number > latest.number) return undefined
  if (named !== undefined && named.number < latest.number) return named
  // The head itself is never taken as final: history is proven by the block that follows it.
  const number = Math.min(named?.number ?? latest.number - finalityDepth, latest.number - 1)
  const header = number < 0 ? undefined : await source.headerByNumber(number, signal)
  // The chain may have moved between the two questions; the next look tells.
  return number === latest.number - 1 && header?.hash !== latest.parentHash ? undefined : header
}
