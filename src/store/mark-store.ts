// What sources say of contracts: verified, spam. Which one wins is decided in `annotate/shown-facts.ts`.
import type { Address, ChainId } from '../model.ts'
import type { AnnotationFilter, AnnotationRank } from './annotation-rank.ts'

/**
 * What one source says of a contract: a pin of the operator, a line of an imported list, or an entry of the built-in
 * pack. Undefined: it says nothing of that.
 */
export type Mark = {
  chain: ChainId
  contract: Address
  source: string
  rank: AnnotationRank
  verified: boolean | undefined
  spam: boolean | undefined
  /** Unix milliseconds. */
  updatedAt: number
}

export type MarkKey = Pick<Mark, 'chain' | 'contract' | 'source'>

export interface MarkStore {
  /** Adds marks; a flag left undefined keeps what the same source said of it before. */
  putMarks(marks: readonly Mark[]): Promise<void>
  removeMarks(marks: readonly MarkKey[]): Promise<number>
  /** Everything that was said of a contract: by rank, then the newer first. */
  marksOf(chain: ChainId, contract: Address): Promise<Mark[]>
  /** Stored marks in a fixed order, from behind `after` on. */
  marks(filter: AnnotationFilter, after: MarkKey | undefined, limit: number): Promise<Mark[]>
}
