// Who says something of an address or contract, and the choice among what was said. No label and no mark here.
import type { ChainId } from '../model.ts'

/** Who says it, the strongest first: the operator wins over imported lists, and those over the built-in pack. */
export const annotationRanks = ['operator', 'imported', 'built-in'] as const
export type AnnotationRank = (typeof annotationRanks)[number]

/** Those of exactly this chain, source and rank; what is left out does not matter. */
export type AnnotationFilter = { chain?: ChainId; source?: string; rank?: AnnotationRank }
