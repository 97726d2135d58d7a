// Labels of addresses, from every source. Which one is shown where several are is part of the interface.
import type { Address, ChainId } from '../model.ts'
import type { AnnotationFilter, AnnotationRank } from './annotation-rank.ts'

export type Label = {
  /** Undefined: on every chain. */
  chain: ChainId | undefined
  address: Address
  label: string
  source: string
  rank: AnnotationRank
  /** Unix milliseconds. */
  updatedAt: number
}

/** Tells cheaply which addresses surely have no label. */
export interface LabelHint {
  /** There is no label at all. */
  readonly empty: boolean
  /** Which of the addresses that begin at the positions may have one, by their place in the list: all of a page at once. */
  candidates(bytes: Uint8Array, positions: readonly number[]): number[]
}

export type LabelKey = Pick<Label, 'chain' | 'address' | 'source'>

export interface LabelStore {
  putLabels(labels: readonly Label[]): Promise<void>
  removeLabels(labels: readonly LabelKey[]): Promise<number>
  /** Undefined for a moment after labels changed, while every address may have one. */
  labelHint(): LabelHint | undefined
  /** The winning label of each address that has one on this chain. */
  labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  /** Everything that labels an address on this chain; the first one is what answers show. */
  labelCandidates(chain: ChainId, address: Address): Promise<Label[]>
  /** Stored labels in the order of their addresses, from behind `after` on. */
  labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]>
}
