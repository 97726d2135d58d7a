// The conditions by which stored labels and marks are chosen.
import type { SQLInputValue } from 'node:sqlite'
import { type AnnotationFilter, annotationRanks } from '../annotation-rank.ts'
import type { Dictionary } from './dictionary.ts'

/** No chain has the ordinal -1. */
export function filterConditions(
  dictionary: Dictionary,
  { chain, source, rank }: AnnotationFilter,
): { conditions: string[]; values: SQLInputValue[] } {
  const filters: [string, SQLInputValue | undefined][] = [
    ['chain = ?', chain === undefined ? undefined : (dictionary.ordinalOf(chain) ?? -1)],
    ['source = ?', source],
    ['rank = ?', rank === undefined ? undefined : annotationRanks.indexOf(rank)],
  ]
  const given = filters.filter(([, value]) => value !== undefined)
  return { conditions: given.map(([condition]) => condition), values: given.map(([, value]) => value as SQLInputValue) }
}
