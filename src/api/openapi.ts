// The OpenAPI 3.1 document of the service, made of what each route says of itself. Served at `/openapi.json`.
import { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import { type DocumentOptions, type FailureSchema, failureResponses, type Json, operation } from './openapi-parts.ts'
import * as operatorSchemas from './operator-schemas.ts'
import { versionPath } from './request.ts'
import { routes } from './routes.ts'
import * as schemas from './schemas.ts'

/** Needs no key: it says nothing that keys protect. */
export function openApiAnswer(options: DocumentOptions): Answer {
  return jsonAnswer(openApiDocument(options), { headers: { 'Cache-Control': 'public, max-age=300', ...safetyHeaders } })
}

/** As it is kept in `docs/`. */
export function openApiText(options: DocumentOptions): string {
  return `${JSON.stringify(openApiDocument(options), null, 2)}\n`
}

function openApiDocument(options: DocumentOptions): Json {
  const { paths, errors } = documentedRoutes(options)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Almanac',
      version: options.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: [
        'NFT transfers, who owns which NFTs, active chains of a wallet and accounts of Solana.',
        'Answers come in two dialects: `reference` writes counts and flags as strings, `live` as numbers and booleans. ' +
          'The operator’s setting decides, then the path (`/api/v2.1` and `/api/v2.2`: live), then the header ' +
          '`X-Moralis-Platform` (live); the default is `reference`. The header `X-Dialect` names the dialect. ' +
          '`/api/v2.1` is an alias of `/api/v2.2`.',
        'Errors are `application/json`; with `Accept: application/problem+json` they are RFC 9457 problems with the same ' +
          'facts (schema `Problem`). Every answer has an `X-Request-Id`.',
      ].join('\n\n'),
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: [{ name: 'EVM' }, { name: 'Solana' }, { name: 'Operations' }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Issued with `almanac keys create`.' },
      },
      responses: {
        ...failureResponses([...errors.Failure], 'Failure'),
        ...failureResponses([...errors.SolanaFailure], 'SolanaFailure'),
      },
      schemas: componentSchemas(),
    },
  }
}

type Documented = { paths: Record<string, Json>; errors: Record<FailureSchema, Set<ErrorCode>> }

/** The paths, and the errors that they refer to. v2.1 is an alias of v2.2, so the document leaves it out. */
function documentedRoutes(options: DocumentOptions): Documented {
  const paths: Documented['paths'] = {}
  const errors: Documented['errors'] = { Failure: new Set(), SolanaFailure: new Set() }
  for (const { method = 'GET', path, versions, document, failureSchema = 'Failure' } of routes) {
    for (const version of versions ?? [undefined]) {
      if (version === 'v2.1') continue
      const whole = version === undefined ? path : versionPath(version, path)
      const facts = typeof document === 'function' ? document(options, version ?? 'v2') : document
      paths[whole] = { ...paths[whole], [method.toLowerCase()]: operation(facts, failureSchema) }
      for (const code of facts.errors ?? []) errors[failureSchema].add(code)
    }
  }
  return { paths, errors }
}

/** Every schema that is exported, under its name. */
function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>()
  const named = [...Object.entries(schemas), ...Object.entries(operatorSchemas)]
  // Modules have no order of their own that every loader keeps.
  for (const [name, schema] of named.sort(([a], [b]) => (a < b ? -1 : 1))) {
    registry.add(schema, { id: name.charAt(0).toUpperCase() + name.slice(1) })
  }
  const { schemas: made } = z.toJSONSchema(registry, { io: 'input', uri: id => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Json]),
  )
}
