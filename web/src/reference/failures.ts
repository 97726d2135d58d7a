// The failures of an operation, each code with its status, its meaning and an example, as the document has them. Pure.
import {
  type ApiDocument,
  type DocumentedAnswer,
  type DocumentedOperation,
  operationsOf,
  resolved,
} from '../state/document.ts'

/** `isCommon`: nearly every operation may fail so. */
export type Failure = {
  status: string
  code: string
  means: string
  body: unknown
  /** Those that not every answer has. */
  headers: { name: string; says: string }[]
  isCommon: boolean
}

const commonShare = 0.6

/**
 * Those of the operation itself first, then by status. A response is shared by operations, so only the codes of this one
 * are taken from it.
 */
export function failuresOf(operation: DocumentedOperation, document: ApiDocument): Failure[] {
  const codes = operation['x-error-codes'] ?? []
  const all = operationsOf(document).map(each => each['x-error-codes'] ?? [])
  const isCommon = (code: string) => all.filter(each => each.includes(code)).length > all.length * commonShare
  const failures = Object.entries(operation.responses).flatMap(([status, response]) =>
    Object.entries(resolved(document, response).content?.['application/json']?.examples ?? {})
      .filter(([code]) => codes.includes(code))
      .map(([code, { summary = '', value }]) => ({
        ...{ status, code, means: summary, body: operation['x-error-examples']?.[code] ?? value },
        headers: headersOf(resolved(document, response), document),
        isCommon: isCommon(code),
      })),
  )
  return [...failures.filter(each => !each.isCommon), ...failures.filter(each => each.isCommon)]
}

function headersOf({ headers = {} }: DocumentedAnswer, document: ApiDocument): Failure['headers'] {
  const own = Object.entries(headers).filter(([name]) => name !== 'X-Request-Id')
  return own.map(([name, header]) => ({ name, says: resolved(document, header).description }))
}
