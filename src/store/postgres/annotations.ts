// Everything that is said of addresses and contracts, joined, and the exchange of all that one source says.
import type { AnnotationStore, SourceContent } from '../annotation-store.ts'
import type { Label } from '../label-store.ts'
import { putCheckpoint } from './checkpoints.ts'
import { contractFactsStore } from './contract-facts.ts'
import type { Transaction } from './database.ts'
import type { Ordinals } from './dictionary.ts'
import { forgetLabels, labelStore, putLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks } from './marks.ts'
import type { StoreDatabase } from './store-database.ts'

export function annotationStore(store: StoreDatabase): AnnotationStore {
  return {
    ...labelStore(store),
    ...markStore(store),
    ...contractFactsStore(store),
    replaceSource: async content => {
      const chains = [...content.labels, ...content.marks].flatMap(({ chain }) => chain ?? [])
      const ordinals = await store.dictionary.addOrdinals(chains)
      await store.writingLabels(async transaction => ({
        result: undefined,
        changed: await replaceSource(transaction, ordinals, content),
      }))
    },
  }
}

/** Returns the addresses whose labels may have changed. */
async function replaceSource(
  transaction: Transaction,
  ordinals: Ordinals,
  content: SourceContent,
): Promise<Pick<Label, 'address'>[]> {
  const { source, checkpoint } = content
  const forgotten = await forgetLabels(transaction, source)
  await forgetMarks(transaction, source)
  const labels = content.labels.map(label => ({ ...label, source }))
  await putLabels(transaction, ordinals, labels)
  const marks = content.marks.map(mark => ({ ...mark, source }))
  await putMarks(transaction, ordinals, marks)
  await putCheckpoint(transaction, checkpoint.name, checkpoint.value)
  return [...forgotten, ...labels]
}
