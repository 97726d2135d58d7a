// Everything that is said of addresses and contracts, and the exchange of all that one source says. No rule of an answer here.
import type { ContractFactsStore } from './contract-facts-store.ts'
import type { Label, LabelStore } from './label-store.ts'
import type { Mark, MarkStore } from './mark-store.ts'

/** All that a source says, and a checkpoint that is kept with it. */
export type SourceContent = {
  source: string
  labels: readonly Omit<Label, 'source'>[]
  marks: readonly Omit<Mark, 'source'>[]
  checkpoint: { name: string; value: string }
}

export interface AnnotationStore extends LabelStore, MarkStore, ContractFactsStore {
  /** Makes what a source says exactly this, in one transaction. */
  replaceSource(content: SourceContent): Promise<void>
}
