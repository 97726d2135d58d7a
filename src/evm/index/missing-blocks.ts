// Which blocks of a chain must still be read, which source fills which part of them, and what is handed out next. It
// asks no node.
import { joinIntervals, missingIntervals, wholeCoverage } from '../../coverage.ts'
import { type ChainId, type CoveredInterval, chainScopes, type Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { WholeScope } from '../../views.ts'

export type WholeBlocks = {
  /** What is claimed for the scope, lowest first. */
  covered: CoveredInterval[]
  missing: Interval[]
  /** Blocks that lack the activity of wallets alone are among these; undefined where there are none. */
  stored: CoveredInterval[] | undefined
}

export async function wholeBlocks(
  store: Store,
  { chain, scope, wanted }: { chain: ChainId; scope: WholeScope; wanted: Interval },
): Promise<WholeBlocks> {
  const claims = await store.coverage(chain, chainScopes)
  const covered = wholeCoverage(claims, scope)
  const isUpgrade = scope === 'full' && claims.some(claim => claim.scope === 'transfers')
  const stored = isUpgrade ? wholeCoverage(claims, 'transfers') : undefined
  return { covered, missing: missingIntervals(covered, wanted), stored }
}

export type Part<Source> = Interval & { source: Source }

/** Newest first, each of the first source that holds it. What no source holds is in none. */
export function partsOf<Source extends { readonly holds: readonly Interval[] }>(
  missing: readonly Interval[],
  sources: readonly Source[],
): Part<Source>[] {
  const parts: Part<Source>[] = []
  let rest = [...missing]
  for (const source of sources) {
    const holds = joinIntervals(source.holds)
    for (const { from, to } of rest)
      for (const held of holds)
        if (held.to >= from && held.from <= to)
          parts.push({ from: Math.max(from, held.from), to: Math.min(to, held.to), source })
    rest = rest.flatMap(interval => missingIntervals(holds, interval))
  }
  return parts.sort((a, b) => b.to - a.to)
}

/** The blocks to fetch, handed out newest first. What is given back is handed out again. */
export class WorkList {
  /** Sorted, disjoint, lowest first. */
  #open: Interval[]
  /** What is handed out lies in one of these or beside all of them. */
  readonly #apart: readonly Interval[]

  constructor(missing: readonly Interval[], apart: readonly Interval[] = []) {
    this.#open = [...missing].sort((a, b) => a.from - b.from)
    this.#apart = apart
  }

  get highest(): number | undefined {
    return this.#open.at(-1)?.to
  }

  /** The newest open blocks, at most `blocks` and never across a gap. Those below `lowest` stay open. */
  take(blocks: number, lowest = 0): Interval | undefined {
    const newest = this.#open.at(-1)
    if (newest === undefined || newest.to < lowest) return undefined
    this.#open.pop()
    const borders = this.#apart.map(each => borderIn(each, newest.to))
    const from = Math.max(newest.from, newest.to - blocks + 1, lowest, ...borders)
    if (from > newest.from) this.#open.push({ from: newest.from, to: from - 1 })
    return { from, to: newest.to }
  }

  /** Opens an interval; blocks that are open already stay so. */
  add(interval: Interval): void {
    this.#open = joinIntervals([...this.#open, interval])
  }
}

/** The lowest block that may be handed out together with block `to`, as far as an interval says. */
function borderIn(apart: Interval, to: number): number {
  if (to > apart.to) return apart.to + 1
  return to >= apart.from ? apart.from : 0
}
