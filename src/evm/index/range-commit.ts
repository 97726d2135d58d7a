// Turns decoded ranges into what the store takes: one cold commit of several ranges, or the hot blocks of one. Pure.

import { weakestOf } from '../../coverage.ts'
import type { Block, ChainId, CoverageScope, TransferRow } from '../../model.ts'
import type { ColdCommit, HotBlock } from '../../store/chain-store.ts'
import { activityOfBlock, joinActivity } from '../../store/packed-activity.ts'
import type { DecodedRange } from '../source/chain-source.ts'

/** What a range says besides its rows: that it is complete, and who was active in it. */
export type Claim = Pick<DecodedRange, 'interval' | 'evidence' | 'activity'>

/**
 * The rows of the ranges with the blocks that hold some, and the claims of ranges whose rows are in it or stored already. The store
 * merges the activity of an address.
 */
export function coldCommitOf(
  { chain, scope }: { chain: ChainId; scope: CoverageScope },
  ranges: readonly DecodedRange[],
  claims: readonly Claim[],
): ColdCommit {
  const blocks: Block[] = []
  const transfers: TransferRow[] = []
  for (const range of ranges) {
    const held = new Set<number>([range.interval.from, range.interval.to])
    for (const transfer of range.transfers) {
      held.add(transfer.block)
      transfers.push(transfer)
    }
    for (const header of range.headers) if (held.has(header.number)) blocks.push(header)
  }
  const covered = claims.map(({ interval, evidence }) => ({ ...interval, evidence, scope }))
  return { chain, covered, blocks, transfers, activity: joinActivity(claims.map(({ activity }) => activity)) }
}

/** One range of several that follow each other; undefined where they do not, because the chain moved between them. */
export function concatRanges(ranges: readonly DecodedRange[]): DecodedRange | undefined {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const linked = ranges.every(
    (range, at) => at === 0 || range.headers[0]?.parentHash === ranges[at - 1]?.headers.at(-1)?.hash,
  )
  if (!linked) return undefined
  return {
    ...last,
    interval: { from: first.interval.from, to: last.interval.to },
    evidence: ranges.map(range => range.evidence).reduce(weakestOf),
    headers: ranges.flatMap(range => range.headers),
    transfers: ranges.flatMap(range => range.transfers),
    activity: joinActivity(ranges.map(range => range.activity)),
  }
}

/** Every block of the range with its own rows. The activity must be of the grain `block`. */
export function hotBlocksOf(range: DecodedRange): HotBlock[] {
  let transfersFrom = 0
  let activityFrom = 0
  return range.headers.map(({ number, hash, timestamp }) => {
    let transfersTo = transfersFrom
    while (range.transfers[transfersTo]?.block === number) transfersTo++
    const transfers = range.transfers.slice(transfersFrom, transfersTo)
    const activity = activityOfBlock(range.activity, number, activityFrom)
    transfersFrom = transfersTo
    activityFrom += activity.length
    return { number, hash, timestamp, transfers, activity }
  })
}
