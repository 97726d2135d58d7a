// Everything that is said of addresses and contracts, joined, and the exchange of all that one source says.
import type { AnnotationStore, SourceContent } from '../annotation-store.ts'
import { putCheckpoint } from './checkpoints.ts'
import { contractFactsStore } from './contract-facts.ts'
import { forgetLabels, labelStore, noteLabels, putLabels } from './labels.ts'
import { forgetMarks, markStore, putMarks } from './marks.ts'
import type { StoreFile, WriteContext } from './store-file.ts'

export function annotationStore(file: StoreFile): AnnotationStore {
  return {
    ...labelStore(file),
    ...markStore(file),
    ...contractFactsStore(file),
    replaceSource: content => file.writing(context => replaceSource(context, content)),
  }
}

function replaceSource({ connection, dictionary }: WriteContext, content: SourceContent): void {
  const { source, checkpoint } = content
  const forgotten = forgetLabels(connection, source)
  forgetMarks(connection, source)
  const labels = content.labels.map(label => ({ ...label, source }))
  putLabels(connection, dictionary, labels)
  noteLabels(connection, [...forgotten, ...labels])
  const marks = content.marks.map(mark => ({ ...mark, source }))
  putMarks(connection, dictionary, marks)
  putCheckpoint(connection, checkpoint.name, checkpoint.value)
}
