// The failures of an operation, each code with its status, its meaning and an example, as the document has them. Pure.
import { type ApiDocument, type DocumentedOperation, resolved } from '../state/document.ts'

export type Failure = { status: string; code: string; means: string; body: unknown }

/** By status. A response is shared by operations, so only the codes of this one are taken from it. */
export function failuresOf(operation: DocumentedOperation, document: ApiDocument): Failure[] {
  const codes = operation['x-error-codes'] ?? []
  return Object.entries(operation.responses).flatMap(([status, response]) =>
    Object.entries(resolved(document, response).content?.['application/json']?.examples ?? {})
      .filter(([code]) => codes.includes(code))
      .map(([code, { summary = '', value }]) => ({ status, code, means: summary, body: value })),
  )
}
