// Reads a stretch of blocks piece by piece, as large as the endpoints give, for work that looks and stores nothing. Unlike the
// backfill it gives up after a few failures in a row.

import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import { pause } from '../../pause.ts'
import { RangeRefused } from '../rpc/range-refused.ts'
import type { DecodedRange } from './chain-source.ts'
import { type RangeSize, refusedOutcome } from './range-size.ts'

export type PieceReader = {
  fetchRange: (interval: Interval, signal: AbortSignal) => Promise<DecodedRange>
  rangeSize: RangeSize
}

const attemptsMax = 4
const retryDelayMs = 500

/** Lowest first. */
export async function* readPieces(
  { from, to }: Interval,
  reader: PieceReader,
  signal: AbortSignal,
): AsyncGenerator<DecodedRange> {
  for (let next = from; next <= to; ) {
    const piece = await readPiece({ from: next, to }, reader, signal)
    yield piece
    next = piece.interval.to + 1
  }
}

/** The lowest blocks of the interval, as many as are given at once. */
export async function readPiece(
  { from, to }: Interval,
  { fetchRange, rangeSize }: PieceReader,
  signal: AbortSignal,
): Promise<DecodedRange> {
  for (let failures = 0; ; ) {
    const piece = { from, to: Math.min(to, from + rangeSize.blocks - 1) }
    const blocks = piece.to - piece.from + 1
    try {
      const range = await fetchRange(piece, signal)
      rangeSize.learn({ kind: 'answered', blocks, bytes: range.bytes })
      return range
    } catch (error) {
      if (error instanceof RangeRefused && blocks > 1) {
        rangeSize.learn(refusedOutcome(error, blocks))
        continue
      }
      const retryable = error instanceof RangeRefused || (error instanceof AlmanacError && error.retryable)
      if (signal.aborted || !retryable || ++failures >= attemptsMax) throw asAlmanacError(error)
      await pause(retryDelayMs * failures, signal)
    }
  }
}

function asAlmanacError(error: unknown): unknown {
  if (!(error instanceof RangeRefused)) return error
  return new AlmanacError('upstream_failed', 'The endpoints refuse a single block.', {
    cause: error,
    retryable: true,
    hint: 'add an endpoint of another provider.',
  })
}
