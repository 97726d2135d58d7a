// Where two endpoints differ about the same blocks, in what was decoded from their answers. Pure.
import { comparePositions, type TransferRow } from '../../model.ts'
import { joinActivity, mergePacked } from '../../store/packed-activity.ts'
import type { DecodedRange } from './chain-source.ts'

export type RangeDifference = { block: number; detail: string }

/**
 * Of headers that both have, and of all rows. `pieces` are the same blocks in one range or several, named after who
 * gave them.
 */
export function rangeDifference(
  ours: DecodedRange,
  pieces: readonly DecodedRange[],
  [us, them]: [string, string] = ['one', 'the other'],
): RangeDifference | undefined {
  const headers = new Map(pieces.flatMap(piece => piece.headers.map(header => [header.number, header] as const)))
  for (const { number, hash, timestamp } of ours.headers) {
    const theirs = headers.get(number) ?? { hash, timestamp }
    if (theirs.hash !== hash) return { block: number, detail: `${us} has ${hash}; ${them} has ${theirs.hash}` }
    if (theirs.timestamp !== timestamp)
      return { block: number, detail: `${us} has the time ${timestamp}; ${them} has ${theirs.timestamp}` }
  }
  const rows = pieces.flatMap(piece => piece.transfers)
  const length = Math.max(rows.length, ours.transfers.length)
  for (let at = 0; at < length; at++) {
    const [one, other] = [ours.transfers[at], rows[at]]
    if (one !== undefined && other !== undefined && isSameRow(one, other)) continue
    const block = Math.min(one?.block ?? Infinity, other?.block ?? Infinity)
    const { from, to } = ours.interval
    const counts = `${us} has ${ours.transfers.length} transfers in blocks ${from} to ${to}; ${them} has ${rows.length}`
    return { block, detail: `${counts}; they differ from this block on` }
  }
  if (isSameActivity(ours, pieces)) return undefined
  const detail = `${us} and ${them} differ in the activity of wallets in blocks ${ours.interval.from} to ${ours.interval.to}`
  return { block: ours.interval.from, detail }
}

function isSameRow(a: TransferRow, b: TransferRow): boolean {
  return a.contract === b.contract && comparePositions(a, b) === 0 && Buffer.compare(a.payload, b.payload) === 0
}

/** What is cut in other places is the same only when it is merged. */
function isSameActivity(ours: DecodedRange, pieces: readonly DecodedRange[]): boolean {
  const [first, ...more] = pieces.map(({ activity }) => activity)
  if (first !== undefined && more.length === 0) return Buffer.compare(ours.activity, first) === 0
  const theirs = mergePacked(joinActivity(pieces.map(({ activity }) => activity)))
  return Buffer.compare(mergePacked(ours.activity), theirs) === 0
}
