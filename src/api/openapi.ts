// The OpenAPI 3.1 document of the service, made of what each route says of itself, and how any part of it is made.
import { z } from 'zod'
import * as consoleSchemas from './console/schemas.ts'
import type { FailureSchema } from './document/error-examples.ts'
import * as erc20Schemas from './evm/erc20/schemas.ts'
import * as webhookSchemas from './evm/webhooks/schemas.ts'
import { hostedAt, hostedOperations, insteadOf, isServed, whyNotServed } from './hosted/operations.ts'
import * as keySchemas from './key-schemas.ts'
import {
  type DocumentOptions,
  failureResponses,
  type Json,
  type OperationFacts,
  operation,
  rateHeaders,
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
  return { ...documentOfAll(options), 'x-not-served': notServed() }
}

/** By id. Where EVM chains and Solana share one, the first reason stands for both. */
function notServed(): Record<string, { why: string; instead?: string; at: string[] }> {
  const missing = Map.groupBy(
    hostedOperations.filter(operation => !isServed(operation, routes)),
    ({ id }) => id,
  )
  return Object.fromEntries(
    [...missing].map(([id, named]) => {
      const instead = insteadOf(named[0]!)
      const at = named.map(({ method, path }) => `${method} ${path}`)
      return [id, { why: whyNotServed(named[0]!), ...(instead === undefined ? {} : { instead }), at }]
    }),
  )
}

function documentOfAll(options: DocumentOptions): Json {
  return documentOf(allOperations(options), options, {
    title: 'Almanac',
    description: [
      'NFT transfers, who owns which NFTs, ERC-20 tokens, active chains of a wallet and accounts of Solana.',
      '## Authentication',
      'Every request carries a key in the header `X-API-Key`. A key has scopes, and each operation says which one it ' +
        'needs: [authentication](/docs/guides/authentication.html).',
      '## Pages',
      `Lists come in pages of at most ${options.pageSizeMax} rows (\`limit\`), and unique owners in pages of up to 5,000. While \`cursor\` is neither null nor ` +
        'empty, send it as `cursor` for the next page; it carries the other parameters: ' +
        '[pages](/docs/guides/pages.html). Most lists can be sent whole, as CSV or NDJSON: ' +
        '[whole lists](/docs/guides/whole-lists.html).',
      '## Complete answers',
      '`X-Index-Complete` is `true` when the index has everything that the answer rests on, and `X-Index-Evidence` ' +
        'says what proves it. `false` means that rows may be missing: ' +
        '[complete answers](/docs/guides/complete-answers.html).',
      '## Limits and errors',
      'Errors are JSON with `message`, `code`, `details` and `request_id`: [every code](/docs/errors.html). After 429 ' +
        'and 503 wait as `Retry-After` says: [errors and retries](/docs/guides/errors-and-retries.html). With ' +
        '`Accept: application/problem+json` errors are RFC 9457 problems (schema `Problem`). Every answer has an ' +
        '`X-Request-Id`.',
      '## JSON types (dialects)',
      '`/api/v2.2` and its alias `/api/v2.1` write counts and flags as numbers and booleans (dialect `live`). `/api/v2` ' +
        'writes them as strings (`reference`), unless the header `X-Moralis-Platform` is sent, as the public SDKs do. ' +
        'The operator can set one dialect for all. The header `X-Dialect` names it.',
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
      .map(version => {
        const { sdkCall, scope } = hostedAt({ method, path, versions }) ?? {}
        const facts = typeof document === 'function' ? document(options, version ?? 'v2') : document
        const place = version === undefined ? path : versionPath(version, path)
        return { method, path: place, facts: { ...facts, sdkCall, scope }, failureSchema }
      }),
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
      headers: rateHeaders,
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
  const modules = [schemas, erc20Schemas, keySchemas, webhookSchemas, operatorSchemas, consoleSchemas]
  const named = modules.flatMap(Object.entries<z.ZodType>)
  // Modules have no order of their own that every loader keeps.
  for (const [name, schema] of named.sort(([a], [b]) => (a < b ? -1 : 1))) {
    registry.add(schema, { id: name.charAt(0).toUpperCase() + name.slice(1) })
  }
  const { schemas: made } = z.toJSONSchema(registry, { io: 'input', uri: id => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Json]),
  )
}
