// Which source fills which part of a chain's missing history. Pure.
import { joinIntervals, missingIntervals } from '../../coverage.ts'
import type { Interval } from '../../model.ts'

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
