// Said where forms would stand: without the document of the service it is not known what its operations take.
import { FailureNote } from '../parts/failure-note.tsx'
import { documentProblem, loadDocument } from '../state/load-document.ts'

export function DocumentFailure() {
  const problem = documentProblem.value
  if (problem === undefined) return null
  return <FailureNote problem={problem} what="The list of operations could not be loaded." onRetry={loadDocument} />
}
