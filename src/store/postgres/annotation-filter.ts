// The conditions by which stored labels and marks are chosen.
import { type AnnotationFilter, annotationRanks } from '../annotation-rank.ts'
import type { Value } from './database.ts'

/** No chain has the ordinal -1. */
export function filterConditions(
  { chain, source, rank }: AnnotationFilter,
  ordinal: number | undefined,
): { conditions: string[]; values: Value[] } {
  const filters: [string, Value | undefined][] = [
    ['chain', chain === undefined ? undefined : (ordinal ?? -1)],
    ['source', source],
    ['rank', rank === undefined ? undefined : annotationRanks.indexOf(rank)],
  ]
  const given = filters.filter(([, value]) => value !== undefined)
  return {
    conditions: given.map(([column], index) => `${column} = $${index + 1}`),
    values: given.map(([, value]) => value as Value),
  }
}
