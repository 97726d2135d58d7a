// The part of a chain that the map of its evidence shows: how it is zoomed and moved, what is covered and what is missing
// in it, and which numbers stand below it. Pure.
import type { Coverage } from '../state/live.ts'

export type Interval = Coverage['intervals'][number]
/** Whole blocks, both ends included. */
export type BlockRange = { from: number; to: number }

/** Nearer than this a block is as wide as a finger. */
const blocksLeast = 8

export function blocksOf({ from, to }: BlockRange): number {
  return to - from + 1
}

/** `by` below 1 comes nearer. The block at `share` of the width stays where it is. */
export function zoomed(
  view: BlockRange,
  whole: BlockRange,
  { by, share = 0.5 }: { by: number; share?: number },
): BlockRange {
  const blocks = blocksOf(view)
  const least = Math.min(blocksLeast, blocksOf(whole))
  const wanted = Math.round(blocks * by)
  const next = Math.max(least, Math.min(blocksOf(whole), by < 1 ? Math.min(wanted, blocks - 1) : wanted))
  const held = view.from + share * blocks
  return within({ from: Math.round(held - share * next), to: Math.round(held - share * next) + next - 1 }, whole)
}

/** By shares of what is shown; below 0 to older blocks. At least by one block. */
export function moved(view: BlockRange, whole: BlockRange, by: number): BlockRange {
  const blocks = Math.max(1, Math.round(Math.abs(by) * blocksOf(view))) * Math.sign(by)
  return within({ from: view.from + blocks, to: view.to + blocks }, whole)
}

/** As long as before, and within the chain. */
export function within(view: BlockRange, whole: BlockRange): BlockRange {
  const blocks = Math.min(blocksOf(view), blocksOf(whole))
  const from = Math.max(whole.from, Math.min(view.from, whole.to - blocks + 1))
  return { from, to: from + blocks - 1 }
}

/** Between two places that were dragged over, as shares of the width; at least a few blocks. */
export function chosen(view: BlockRange, whole: BlockRange, [a, b]: readonly [number, number]): BlockRange {
  const at = (share: number) => blockAt(view, share)
  const [from, to] = [Math.min(at(a), at(b)), Math.max(at(a), at(b))]
  const missing = Math.max(0, Math.min(blocksLeast, blocksOf(whole)) - (to - from + 1))
  return within({ from: from - Math.floor(missing / 2), to: to + Math.ceil(missing / 2) }, whole)
}

export function blockAt(view: BlockRange, share: number): number {
  return Math.max(view.from, Math.min(view.to, view.from + Math.floor(share * blocksOf(view))))
}

export type Piece = BlockRange & {
  /** Undefined: missing. */
  evidence: Interval['evidence'] | undefined
}

/** What is shown, piece after piece: covered and missing, without gaps. */
export function piecesOf(intervals: readonly Interval[], view: BlockRange): Piece[] {
  const pieces: Piece[] = []
  let next = view.from
  for (const { from, to, evidence } of intervals) {
    if (to < view.from || from > view.to) continue
    const first = Math.max(from, next)
    if (first > next) pieces.push({ from: next, to: first - 1, evidence: undefined })
    const last = Math.min(to, view.to)
    if (last < first) continue
    pieces.push({ from: first, to: last, evidence })
    next = last + 1
  }
  if (next <= view.to) pieces.push({ from: next, to: view.to, evidence: undefined })
  return pieces
}

export function pieceAt(pieces: readonly Piece[], block: number): Piece | undefined {
  return pieces.find(({ from, to }) => from <= block && block <= to)
}

/** Round numbers below the map, at most `most` of them. */
export function ticksOf(view: BlockRange, most: number): number[] {
  const least = blocksOf(view) / Math.max(1, most)
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  const step = [1, 2, 5, 10].map(times => times * power).find(size => size >= least) ?? power * 10
  const ticks: number[] = []
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) ticks.push(tick)
  return ticks
}
