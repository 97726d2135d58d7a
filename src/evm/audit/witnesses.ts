// The endpoints of a chain, each asked alone: what one says is held against the others. It asks no store.
import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import { reasonOf } from '../index/backfill.ts'
import { onlyAt, type RpcPort } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import type { FullSource } from '../source/full-source.ts'
import { type RangeDifference, rangeDifference } from '../source/range-difference.ts'
import { historySizes, RangeSize, readPieces } from '../source/range-size.ts'
import type { WatchedSource } from '../source/watched-source.ts'

export type AuditSource = FullSource | WatchedSource

export type Witness = {
  endpoint: string
  source: AuditSource
  /** Why it gave no answer that holds: it is not asked again. */
  silent?: string
  /** It has answered for a range, so a failure that may pass is taken for one. */
  answered?: boolean
}

/** One that answered before and fails now: what it would have said of this range is unknown. */
export type Unheard = { endpoint: string; reason: string }

/** None where there is one endpoint: no other can disagree. */
export function witnessesOf(rpc: RpcPort, sourceOf: (rpc: RpcPort) => AuditSource): Witness[] {
  if (rpc.endpoints.length < 2) return []
  return rpc.endpoints.map(endpoint => ({ endpoint, source: sourceOf(onlyAt(rpc, endpoint)) }))
}

/** Asks a witness for a range that another endpoint gave. Undefined if it says the same, or never answers. */
export async function disagreementOf(
  range: DecodedRange,
  witness: Witness,
  fetchFrom: (source: AuditSource) => (interval: Interval, signal: AbortSignal) => Promise<DecodedRange>,
  signal: AbortSignal,
): Promise<RangeDifference | Unheard | undefined> {
  if (witness.silent !== undefined || witness.endpoint === range.endpoint) return undefined
  const fetchRange = fetchFrom(witness.source)
  const pieces: DecodedRange[] = []
  try {
    const rangeSize = new RangeSize({ ...historySizes.contract, blocksInitial: historySizes.contract.blocksMax })
    for await (const piece of readPieces(range.interval, { fetchRange, rangeSize }, signal)) pieces.push(piece)
  } catch (error) {
    if (signal.aborted || !(error instanceof AlmanacError)) throw error
    if (error.retryable && witness.answered) return { endpoint: witness.endpoint, reason: reasonOf(error) }
    witness.silent = reasonOf(error)
    return undefined
  }
  witness.answered = true
  return rangeDifference(range, pieces, [range.endpoint ?? 'the others', witness.endpoint])
}
