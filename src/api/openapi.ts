// The OpenAPI 3.1 document of the service, made of what each route says of itself, and how any part of it is made.
import { z } from 'zod'
import * as consoleSchemas from './console/schemas.ts'
import { hostedAt } from './hosted/operations.ts'
import {
  type DocumentOptions,
  type FailureSchema,
  failureResponses,
  type Json,
  type OperationFacts,
  operation,
} from './openapi-parts.ts'
import * as operatorSchemas from './operator-schemas.ts'
import { versionPath } from './request.ts'
import { routes } from './routes.ts'
import * as schemas from './schemas.ts'

export type DocumentedOperation = { method: string; path: string; facts: OperationFacts; failureSchema: FailureSchema }

/** What a document says of itself. */
export type DocumentHead = {
  title: string
  description: readonly string[]
  /** What the paths are relative to. */
  base: string
  tags: readonly NonNullable<OperationFacts['tag']>[]
  keyScheme: string
}

/** As it is kept in `docs/`. */
export function openApiText(options: DocumentOptions): string {
  return `${JSON.stringify(wholeDocument(options), null, 2)}\n`
}

export function wholeDocument(options: DocumentOptions): Json {
  return documentOf(allOperations(options), options, {
    title: 'Almanac',
    description: [
      'NFT transfers, who owns which NFTs, active chains of a wallet and accounts of Solana.',
      '## JSON types (dialects)',
      'The hosted service sends numbers and booleans; its written reference shows text. Almanac has both as dialects: ' +
        '`live` writes counts and flags as numbers and booleans, `reference` as strings. The operator’s setting decides, then the path (`/api/v2.1` and `/api/v2.2`: live), then the header ' +
        '`X-Moralis-Platform` (live); the default is `reference`. The header `X-Dialect` names the dialect. ' +
        '`/api/v2.1` is an alias of `/api/v2.2`.',
      '## Errors',
      'Errors are `application/json`; with `Accept: application/problem+json` they are RFC 9457 problems with the same ' +
        'facts (schema `Problem`). Every answer has an `X-Request-Id`.',
    ],
    base: '/',
    tags: ['EVM', 'Solana', 'Operations'],
    keyScheme: 'key',
  })
}

/** Of every route. v2.1 is an alias of v2.2, so the document leaves it out. */
export function allOperations(options: DocumentOptions): DocumentedOperation[] {
  return routes.flatMap(({ method = 'GET', path, versions, failureSchema = 'Failure', document }) =>
    (versions ?? [undefined])
      .filter(version => version !== 'v2.1')
      .map(version => ({
        method,
        path: version === undefined ? path : versionPath(version, path),
        facts: {
          ...(typeof document === 'function' ? document(options, version ?? 'v2') : document),
          sdkCall: hostedAt({ method, path, versions })?.sdkCall,
        },
        failureSchema,
      })),
  )
}

export function documentOf(
  operations: readonly DocumentedOperation[],
  { version, sandboxKey }: DocumentOptions,
  { title, description, base, tags, keyScheme }: DocumentHead,
): Json {
  const paths: Record<string, Json> = {}
  for (const { method, path, facts, failureSchema } of operations)
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(facts, failureSchema) }
  const errorsOf = (schema: FailureSchema) => [
    ...new Set(
      operations.flatMap(({ facts, failureSchema }) => (failureSchema === schema ? (facts.errors ?? []) : [])),
    ),
  ]
  return {
    openapi: '3.1.1',
    info: {
      title,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: description.join('\n\n'),
      ...(sandboxKey === undefined ? {} : { 'x-sandbox-key': sandboxKey }),
    },
    servers: [{ url: base }],
    security: [{ [keyScheme]: [] }],
    tags: tags.map(name => ({ name })),
    paths,
    components: {
      securitySchemes: {
        [keyScheme]: {
          ...{ type: 'apiKey', in: 'header', name: 'X-API-Key' },
          description: 'Issued with `almanac keys create`.',
        },
      },
      responses: {
        ...failureResponses(errorsOf('Failure'), 'Failure'),
        ...failureResponses(errorsOf('SolanaFailure'), 'SolanaFailure'),
      },
      schemas: componentSchemas(),
    },
  }
}

/** Every schema that is exported, under its name. */
function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>()
  const named = [schemas, operatorSchemas, consoleSchemas].flatMap(Object.entries<z.ZodType>)
  // Modules have no order of their own that every loader keeps.
  for (const [name, schema] of named.sort(([a], [b]) => (a < b ? -1 : 1))) {
    registry.add(schema, { id: name.charAt(0).toUpperCase() + name.slice(1) })
  }
  const { schemas: made } = z.toJSONSchema(registry, { io: 'input', uri: id => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Json]),
  )
}
