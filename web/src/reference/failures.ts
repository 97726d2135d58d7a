// The failures of an operation, each code with its status, its meaning and an example, as the document has them. Pure.
import { type ApiDocument, type DocumentedAnswer, type DocumentedOperation, resolved } from '../state/document.ts'

/** `isRare`: few programs meet it. */
export type Failure = {
  status: string
  code: string
  means: string
  body: unknown
  /** Those that not every answer has. */
  headers: { name: string; says: string }[]
  isRare: boolean
}

const rareCodes = ['answer_too_large', 'uri_too_long', 'headers_too_large']

/** Of large requests, and what is the fault of the service. */
function isRare(status: string, code: string): boolean {
  return status.startsWith('5') || rareCodes.includes(code)
}

/**
 * By status, those first that developers meet. A response is shared by operations, so only the codes of this one are
 * taken from it.
 */
export function failuresOf(operation: DocumentedOperation, document: ApiDocument): Failure[] {
  const codes = operation['x-error-codes'] ?? []
  const failures = Object.entries(operation.responses).flatMap(([status, response]) =>
    Object.entries(resolved(document, response).content?.['application/json']?.examples ?? {})
      .filter(([code]) => codes.includes(code))
      .map(([code, { summary = '', value }]) => ({
        ...{ status, code, means: summary, body: operation['x-error-examples']?.[code] ?? value },
        headers: headersOf(resolved(document, response), document),
        isRare: isRare(status, code),
      })),
  )
  return [...failures.filter(each => !each.isRare), ...failures.filter(each => each.isRare)]
}

function headersOf({ headers = {} }: DocumentedAnswer, document: ApiDocument): Failure['headers'] {
  const own = Object.entries(headers).filter(([name]) => name !== 'X-Request-Id')
  return own.map(([name, header]) => ({ name, says: resolved(document, header).description }))
}
