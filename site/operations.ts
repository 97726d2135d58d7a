// The operations that pages and the search lead to: those of the OpenAPI document, as the reference lists them. It
// describes none of them itself.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../web/build-folder.ts'
import { effectiveNames, entriesOf } from '../web/src/reference/entries.ts'
import { otherNames } from '../web/src/reference/other-names.ts'
import { bodyName } from '../web/src/search/paths.ts'
import type { ApiDocument, NotServed } from '../web/src/state/document.ts'

export type Operation = {
  name: string
  title: string
  subject: string
  method: string
  path: string
  ids: string[]
  /** What it says of itself, with the names of its parameters. */
  about: string
  /** What else people call it: the call of the SDK, names at other services, words of a question. */
  also: string[]
}

const version = /^\/api\/v2(\.\d)?(?=\/)/

export function readOperations(): Operation[] {
  return entriesOf(readDocument()).map(({ id, name, title, subject, operation, older }) => ({
    ...{ name, title, subject, method: operation.method, path: operation.path.replace(version, '') },
    about: [
      operation.description ?? '',
      ...effectiveNames(operation),
      ...(operation.requestBody ? [bodyName] : []),
    ].join(' '),
    also: [operation['x-sdk-call'] ?? [], otherNames[id] ?? []].flat(),
    ids: [id, ...older.map(({ operationId }) => operationId)],
  }))
}

/** Those of the hosted service that are not served. */
export function readNotServed(): NotServed {
  return readDocument()['x-not-served']!
}

function readDocument(): ApiDocument {
  return JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as ApiDocument
}

/** Code such as `GET /nft/{address}/owners`; without a method, one that reads. */
export function operationIn(operations: readonly Operation[], code: string): Operation | undefined {
  const [, method = 'GET', path] = /^(?:(GET|POST|DELETE) )?(\/[^\s?]*)(?:\?\S*)?$/.exec(code) ?? []
  return operations.find(operation => operation.method === method && operation.path === path?.replace(version, ''))
}
