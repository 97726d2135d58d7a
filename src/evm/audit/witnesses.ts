// The endpoints of a chain, each asked alone: what one says is held against the others. It asks no store.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { comparePositions, type Interval, type TransferRow } from '../../model.ts'
import { joinActivity, mergePacked } from '../../store/packed-activity.ts'
import { reasonOf } from '../index/backfill.ts'
import type { ChainRpc } from '../rpc/chain-rpc.ts'
import { onlyAt } from '../rpc/port.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { FullSource } from '../source/full-source.ts'
import { historySizes, RangeSize, readPieces } from '../source/range-size.ts'
import { WatchedSource } from '../source/watched-source.ts'

export type AuditSource = FullSource | WatchedSource

export type Witness = {
  endpoint: string
  source: AuditSource
  /** Why it gave no answer that holds: it is not asked again. */
  silent?: string
}

/** None where there is one endpoint: there is nobody to disagree with. */
export function witnessesOf(chain: Chain, rpc: ChainRpc, scope: 'full' | 'contracts'): Witness[] {
  if (rpc.endpoints.length < 2) return []
  return rpc.endpoints.map(endpoint => {
    const alone = onlyAt(rpc, endpoint)
    return { endpoint, source: scope === 'full' ? new FullSource(chain, alone) : new WatchedSource(chain, alone) }
  })
}

type Disagreement = { block: number; detail: string }

/** Asks a witness for a range that another endpoint gave. Undefined if it says the same, or does not answer. */
export async function disagreementOf(
  range: DecodedRange,
  witness: Witness,
  fetchFrom: (source: AuditSource) => (interval: Interval, signal: AbortSignal) => Promise<DecodedRange>,
  signal: AbortSignal,
): Promise<Disagreement | undefined> {
  if (witness.silent !== undefined || witness.endpoint === range.endpoint) return undefined
  const fetchRange = fetchFrom(witness.source)
  const pieces: DecodedRange[] = []
  try {
    const rangeSize = new RangeSize({ ...historySizes.contract, blocksInitial: historySizes.contract.blocksMax })
    for await (const piece of readPieces(range.interval, { fetchRange, rangeSize }, signal)) pieces.push(piece)
  } catch (error) {
    if (signal.aborted || !(error instanceof AlmanacError)) throw error
    witness.silent = reasonOf(error)
    return undefined
  }
  return firstDifference(range, pieces, [range.endpoint ?? 'the others', witness.endpoint])
}

function firstDifference(
  ours: DecodedRange,
  pieces: readonly DecodedRange[],
  [us, them]: [string, string],
): Disagreement | undefined {
  const hashes = new Map(pieces.flatMap(piece => piece.headers.map(({ number, hash }) => [number, hash] as const)))
  for (const { number, hash } of ours.headers) {
    const theirs = hashes.get(number)
    if (theirs !== undefined && theirs !== hash)
      return { block: number, detail: `${us} has ${hash}; ${them} has ${theirs}` }
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
  const theirs = mergePacked(joinActivity(pieces.map(({ activity }) => activity)))
  if (Buffer.compare(mergePacked(ours.activity), theirs) === 0) return undefined
  const detail = `${us} and ${them} differ in the activity of wallets in blocks ${ours.interval.from} to ${ours.interval.to}`
  return { block: ours.interval.from, detail }
}

function isSameRow(a: TransferRow, b: TransferRow): boolean {
  return a.contract === b.contract && comparePositions(a, b) === 0 && Buffer.compare(a.payload, b.payload) === 0
}
