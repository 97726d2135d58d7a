// Where ERC-2309 ranges of one contract overlap: disjoint segments of ids, each with the newest and the oldest range
// that covers it. The cost follows from the number of ranges, never from the number of ids. Pure.
import { comparePlaces } from './sheet.ts'

export type TokenRange = {
  first: bigint
  count: number
  /** How far `first` is from the first id of the range as it was emitted. */
  offset: number
  place: Uint8Array
  /** `noAddress`: the zero address, or in the fold of a wallet somebody else. */
  party: number
  mint: { block: number; minter: number }
}

export type Segment = { first: bigint; end: bigint; newest: TokenRange; oldest: TokenRange }

/** In the order of ids. */
export function segmentsOf(ranges: readonly TokenRange[]): Segment[] {
  if (ranges.length === 0) return []
  const edges = ranges.flatMap(range => [range.first, endOf(range)]).sort(compareIds)
  const bounds = edges.filter((edge, at) => at === 0 || edge !== edges[at - 1])
  const cellOf = new Map(bounds.map((bound, at) => [bound, at]))
  const newestFirst = ranges.toSorted((a, b) => comparePlaces(a.place, 0, b.place, 0))
  const newest = paint(newestFirst, cellOf)
  const oldest = paint(newestFirst.reverse(), cellOf)
  const segments: Segment[] = []
  for (let cell = 0; cell < bounds.length - 1; cell++) {
    const [first, end] = [bounds[cell]!, bounds[cell + 1]!]
    const [top, bottom] = [newest[cell], oldest[cell]]
    if (top === undefined || bottom === undefined) continue
    const last = segments.at(-1)
    if (last?.end === first && last.newest === top && last.oldest === bottom) last.end = end
    else segments.push({ first, end, newest: top, oldest: bottom })
  }
  return segments
}

/** The first of the ranges that covers each cell. */
function paint(ranges: readonly TokenRange[], cellOf: ReadonlyMap<bigint, number>): (TokenRange | undefined)[] {
  const painted: (TokenRange | undefined)[] = []
  /** For each cell a later one, or itself, before which all are painted. */
  const next = Uint32Array.from({ length: cellOf.size }, (_, cell) => cell)
  const unpainted = (cell: number): number => {
    let found = cell
    while (next[found] !== found) found = next[found]!
    for (let at = cell; at !== found; ) {
      const following = next[at]!
      next[at] = found
      at = following
    }
    return found
  }
  for (const range of ranges) {
    const end = cellOf.get(endOf(range))!
    for (let cell = unpainted(cellOf.get(range.first)!); cell < end; cell = unpainted(cell)) {
      painted[cell] = range
      next[cell] = cell + 1
    }
  }
  return painted
}

function endOf({ first, count }: TokenRange): bigint {
  return first + BigInt(count)
}

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
