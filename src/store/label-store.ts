// Labels of addresses, from every source. Which one is shown where several are is part of the interface.
import type { Address, ChainId } from '../model.ts'
import type { AnnotationFilter, AnnotationRank } from './annotation-rank.ts'
import type { AddressRange, LabelChanges } from './label-changes.ts'

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

export type LabelKey = Pick<Label, 'chain' | 'address' | 'source'>

export type RankedLabel = Pick<Label, 'chain' | 'address' | 'label'>

export interface LabelStore {
  putLabels(labels: readonly Label[]): Promise<void>
  removeLabels(labels: readonly LabelKey[]): Promise<number>
  /** Another number after labels changed, by whichever process. Cheap enough to ask for on every request. */
  labelVersion(): number
  /** Where labels changed since there had been so many changes; everywhere where that is no longer known. */
  labelChanges(since: number | undefined): Promise<LabelChanges>
  /**
   * The labels of the first `addressesMax` addresses within the range that have any, in the order of addresses. Of one address the
   * stronger stand first: the first one for a chain, or for every chain, is what answers show there.
   */
  labelsWithin(range: AddressRange, addressesMax: number): Promise<RankedLabel[]>
  /** The winning label of each address that has one on this chain. */
  labelsOf(chain: ChainId, addresses: readonly Address[]): Promise<ReadonlyMap<Address, string>>
  /** Everything that labels an address on this chain; the first one is what answers show. */
  labelCandidates(chain: ChainId, address: Address): Promise<Label[]>
  /** Stored labels in the order of their addresses, from behind `after` on. */
  labels(filter: AnnotationFilter, after: LabelKey | undefined, limit: number): Promise<Label[]>
}
