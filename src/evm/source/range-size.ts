// How many blocks to ask for at once, and reading a stretch in pieces of that size. It keeps what a provider never
// allows (structural) apart from what a dense stretch does not allow (local), so that one crowded day does not slow
// down the years below it.
import { pause } from '../../abort.ts'
import { AlmanacError } from '../../errors.ts'
import type { Interval } from '../../model.ts'
import { RangeRefused } from '../rpc/port.ts'
import type { DecodedRange } from './chain-source.ts'

export type RangeSizeOptions = {
  /** The answer size to aim at: large enough to amortise a round trip, small enough to hold several in memory. */
  targetBytes: number
  blocksInitial: number
  blocksMax: number
}

/** `parallel`: ranges under way at once. */
export type HistorySize = RangeSizeOptions & { parallel: number }

/**
 * Sizes for history: whole blocks, or one contract's logs, which are few for most contracts. A dozen megabytes of whole
 * blocks keep the decode threads busy during a commit; many small answers take a tenth less memory than half as many of
 * twice the size. The first ranges are small, because a block of Ethereum is 0.6 MB: eight of them at once take a
 * fifth longer for each.
 */
export const historySizes = {
  full: { parallel: 12, targetBytes: 1_000_000, blocksInitial: 2, blocksMax: 1_000 },
  contract: { parallel: 4, targetBytes: 2_000_000, blocksInitial: 500, blocksMax: 5_000_000 },
} as const satisfies Record<string, HistorySize>

export type RangeOutcome =
  | { kind: 'answered'; blocks: number; bytes: number }
  /** The provider caps the range itself; `blocksAllowed` if its message says how many it takes. */
  | { kind: 'range-too-large'; blocks: number; blocksAllowed?: number }
  /** Too many results, too many bytes or too slow: this stretch is dense. */
  | { kind: 'too-dense'; blocks: number }

export function refusedOutcome({ reason, blocksAllowed }: RangeRefused, blocks: number): RangeOutcome {
  if (reason === 'too-dense' || blocksAllowed === undefined) return { kind: reason, blocks }
  return { kind: reason, blocks, blocksAllowed }
}

// An answer far below the target may be a quiet stretch before a busy one, so growth is bounded per step.
const growthMax = 8
// After this many answers at the structural cap a larger range is tried: the reason of the refusal may have passed (a
// time-out worded as a limit).
const structuralPatience = 512

export class RangeSize {
  readonly #options: RangeSizeOptions
  #blocks: number
  #structuralMax: number
  #answersAtCap = 0

  constructor(options: RangeSizeOptions) {
    this.#options = options
    this.#blocks = Math.min(options.blocksInitial, options.blocksMax)
    this.#structuralMax = options.blocksMax
  }

  /** Blocks to ask for next. */
  get blocks(): number {
    return this.#blocks
  }

  learn(outcome: RangeOutcome): void {
    if (outcome.kind === 'range-too-large') {
      const allowed = outcome.blocksAllowed ?? Math.floor(outcome.blocks / 2)
      this.#structuralMax = Math.max(1, Math.min(this.#structuralMax, allowed, outcome.blocks - 1))
      this.#blocks = Math.min(this.#blocks, this.#structuralMax)
      this.#answersAtCap = 0
      return
    }
    if (outcome.kind === 'too-dense') {
      this.#blocks = Math.max(1, Math.min(this.#blocks, Math.floor(outcome.blocks / 2)))
      return
    }
    // A range that was cut short says what a block weighs, not what a whole range would.
    const bytesPerBlock = Math.max(1, outcome.bytes / outcome.blocks)
    const fitting = Math.floor(this.#options.targetBytes / bytesPerBlock)
    // Ranges are read in parallel: each answer counts for its own size, and four answers are not four steps.
    const grown = Math.min(fitting, Math.max(this.#blocks, outcome.blocks * growthMax))
    this.#relaxStructuralMax()
    this.#blocks = Math.max(1, Math.min(grown, this.#structuralMax))
  }

  #relaxStructuralMax(): void {
    if (this.#structuralMax === this.#options.blocksMax || this.#blocks < this.#structuralMax) return
    this.#answersAtCap++
    if (this.#answersAtCap < structuralPatience) return
    this.#answersAtCap = 0
    this.#structuralMax = Math.min(this.#options.blocksMax, this.#structuralMax * 2)
  }
}

export type PieceReader = {
  fetchRange: (interval: Interval, signal: AbortSignal) => Promise<DecodedRange>
  rangeSize: RangeSize
}

const attemptsMax = 4
const retryDelayMs = 500

/** Reads a stretch in pieces, lowest first. Unlike the backfill it gives up after a few failures. */
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
      if (signal.aborted || !retryable || ++failures >= attemptsMax) {
        if (!(error instanceof RangeRefused)) throw error
        const hint = 'add an endpoint of another provider.'
        const message = 'The endpoints refuse a single block.'
        throw new AlmanacError('upstream_failed', message, { cause: error, retryable: true, hint })
      }
      await pause(retryDelayMs * failures, signal)
    }
  }
}
