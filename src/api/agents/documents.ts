// The OpenAPI documents of the operations alone, as generated clients and agents of the hosted service read them: its
// own operation ids, paths relative to its bases. They hold what has a route; nothing that answers 501 is in them.
import type { Scope } from '../../keys/gatekeeper.ts'
import { hostedOperations, shapeOf } from '../hosted/operations.ts'
import { type DocumentedOperation, documentOf } from '../openapi.ts'
import type { DocumentOptions, Json } from '../openapi-parts.ts'
import { versionPath } from '../request.ts'
import { routes } from '../routes.ts'
import { agentNotes } from './notes.ts'

/** A kind of operations with a base of its own. */
export type OperationKind = { isSolana: boolean; title: string; base: string; documentPath: string }

export const evm: OperationKind = {
  isSolana: false,
  title: 'EVM chains',
  base: versionPath('v2.2', ''),
  documentPath: '/openapi/evm.json',
}

export const solana: OperationKind = {
  isSolana: true,
  title: 'Solana',
  base: '/',
  documentPath: '/openapi/solana.json',
}

/** Public agents send their key only where the document calls the scheme so. */
const keyScheme = 'ApiKeyAuth'

export function documentOfKind(kind: OperationKind, options: DocumentOptions): Json {
  const operations = servedOperations(kind, options)
  const document = documentOf(operations, options, {
    title: `Almanac: ${kind.title}`,
    description: agentNotes(operations, options),
    base: kind.base,
    tags: [kind.isSolana ? 'Solana' : 'EVM'],
    keyScheme,
  })
  return withReferredSchemas(document)
}

export type ServedOperation = DocumentedOperation & { scope: Scope | 'any' }

/** With the ids of the hosted service, by its table. */
export function servedOperations(kind: OperationKind, options: DocumentOptions): ServedOperation[] {
  const ofKind = routes.filter(({ versions }) => (versions === undefined) === kind.isSolana)
  const byShape = new Map(ofKind.map(route => [shapeOf(route), route]))
  return hostedOperations.flatMap(operation => {
    const route = operation.isSolana === kind.isSolana ? byShape.get(shapeOf(operation)) : undefined
    if (route === undefined) return []
    const { method = 'GET', path, document, failureSchema = 'Failure' } = route
    const { description, ...facts } = typeof document === 'function' ? document(options, 'v2.2') : document
    const { id, scope = 'any' } = operation
    // Agents are shown the description alone.
    const whole = { ...facts, id, description: `${facts.summary}. ${description}` }
    return [{ method, path, facts: whole, failureSchema, scope }]
  })
}

type Components = { schemas: Record<string, Json> }

function withReferredSchemas(document: Json): Json {
  const { schemas, ...components } = document.components as Components
  const referred = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      if (referred.has(name!)) continue
      referred.add(name!)
      follow(schemas[name!])
    }
  }
  follow([document.paths, components])
  const kept = Object.entries(schemas).filter(([name]) => referred.has(name))
  return { ...document, components: { ...components, schemas: Object.fromEntries(kept) } }
}
