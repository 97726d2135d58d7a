// The OpenAPI 3.1 document of the whole service, made from the parameters and schemas that the routes use.
import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { ChainTable } from '../chains.ts'
import { AlmanacError, type ErrorCode } from '../errors.ts'
import { type Answer, jsonAnswer, safetyHeaders } from './answer.ts'
import { examples } from './examples.ts'
import { type Parameter, portfolioParameters, transferParameters, walletParameters } from './params.ts'
import { problemAnswer, statusOf } from './problem.ts'
import * as schemas from './schemas.ts'

export type DocumentOptions = { chains: ChainTable; pageSizeMax: number; version: string }

type Json = Record<string, unknown>

/** Served to anyone: it says nothing that the keys protect. */
export function openApiAnswer(options: DocumentOptions): Answer {
  return jsonAnswer(openApiDocument(options), { 'Cache-Control': 'public, max-age=300', ...safetyHeaders })
}

/** As it is kept in `docs/`. */
export function openApiText(options: DocumentOptions): string {
  return `${JSON.stringify(openApiDocument(options), null, 2)}\n`
}

export function openApiDocument({ chains, pageSizeMax, version }: DocumentOptions): Json {
  const transfer = transferParameters(chains, pageSizeMax)
  const { order, disableTotal, address, ...shared } = transfer
  const wallet = walletParameters(chains)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Almanac',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: [
        'NFT transfers of a contract, active chains of a wallet and portfolios of Solana accounts.',
        'Answers come in two dialects: `reference` writes counts and flags as strings, `live` as numbers and booleans. ' +
          'The operator’s setting decides, then the path (`/api/v2.1` and `/api/v2.2`: live), then the header ' +
          '`X-Moralis-Platform` (live), else it is `reference`; the header `X-Dialect` names it. ' +
          '`/api/v2.1` is another name for `/api/v2.2`.',
        'Errors are `application/json`; with `Accept: application/problem+json` they come as RFC 9457 problems with the ' +
          'same facts (schema `Problem`). Every answer carries `X-Request-Id`.',
      ].join('\n\n'),
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: [{ name: 'EVM' }, { name: 'Solana' }, { name: 'Operations' }],
    paths: {
      '/api/v2/nft/{address}/transfers': operation({
        id: 'getNFTContractTransfers',
        tag: 'EVM',
        summary: 'NFT transfers of a contract',
        parameters: [inPath(address), ...Object.values({ ...shared, disableTotal }).map(inQuery)],
        success: success('TransferCollection', 'A page of transfers, newest first.', examples.transfers, indexHeaders),
        errors: dataErrors,
      }),
      '/api/v2.2/nft/{address}/transfers': operation({
        id: 'getNFTContractTransfersV22',
        tag: 'EVM',
        summary: 'NFT transfers of a contract, with names and a choice of order',
        parameters: [inPath(address), ...Object.values({ ...shared, order }).map(inQuery)],
        success: success('NamedTransferCollection', 'A page of transfers.', examples.namedTransfers, indexHeaders),
        errors: dataErrors,
      }),
      ...Object.fromEntries(
        ['v2', 'v2.2'].map(name => [
          `/api/${name}/wallets/{address}/chains`,
          operation({
            id: name === 'v2' ? 'getWalletActiveChains' : 'getWalletActiveChainsV22',
            tag: 'EVM',
            summary: 'The chains on which a wallet is active',
            parameters: [inPath(wallet.address), inQueryList(wallet.chains)],
            success: success(
              'WalletChains',
              'The first and last transaction on each chain.',
              examples.walletChains,
              indexHeaders,
            ),
            errors: dataErrors,
          }),
        ]),
      ),
      '/account/{network}/{address}/portfolio': operation({
        id: 'getPortfolio',
        tag: 'Solana',
        summary: 'Balance, tokens and NFTs of a Solana account',
        parameters: [inPath(portfolioParameters.network), inPath(portfolioParameters.address)],
        success: success('Portfolio', 'What the account holds.', examples.portfolio, solanaHeaders),
        errors: solanaErrors,
        failureSchema: 'SolanaFailure',
      }),
      ...opsPaths,
    },
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Issued with `almanac keys create`.' },
      },
      responses: { ...failureResponses(dataErrors, 'Failure'), ...failureResponses(solanaErrors, 'SolanaFailure') },
      schemas: componentSchemas(),
    },
  }
}

// ---- operations

type OperationFacts = {
  id: string
  tag: string
  summary: string
  parameters?: Json[]
  success: Json
  errors: readonly ErrorCode[]
  failureSchema?: FailureSchema
  open?: true
}

function operation({ id, tag, summary, parameters = [], success, errors, failureSchema, open }: OperationFacts): Json {
  return {
    get: {
      operationId: id,
      tags: [tag],
      summary,
      ...(open ? { security: [] } : {}),
      ...(parameters.length === 0 ? {} : { parameters }),
      responses: { 200: success, ...failures(errors, failureSchema ?? 'Failure') },
    },
  }
}

type Described = Pick<Parameter<unknown>, 'name' | 'description' | 'example' | 'schema' | 'deprecated'>

function inPath(parameter: Described): Json {
  return { ...described(parameter), in: 'path', required: true, schema: jsonSchema(parameter.schema) }
}

function inQuery(parameter: Described): Json {
  return { ...described(parameter), in: 'query', required: false, schema: jsonSchema(parameter.schema) }
}

function inQueryList(parameter: Described): Json {
  const schema = { type: 'array', items: jsonSchema(parameter.schema) }
  return { ...described(parameter), in: 'query', required: false, style: 'form', explode: true, schema }
}

function described({ name, description, example, deprecated }: Described): Json {
  return { name, description, example, ...(deprecated ? { deprecated } : {}) }
}

function success(schema: string, description: string, shown: Json, headers: Json): Json {
  const named = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, { value }]))
  const content = { 'application/json': { schema: reference(schema), examples: named } }
  return { description, headers: { ...commonHeaders, ...headers }, content }
}

// ---- errors

const dataErrors: ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'uri_too_long',
  'rate_limited',
  'quota_exceeded',
  'headers_too_large',
  'internal',
  'overloaded',
  'timeout',
]

const solanaErrors: ErrorCode[] = [...dataErrors, 'upstream_failed', 'not_configured']

const rateLimit = { limit: 10, remaining: 0, resetSeconds: 1 }
const sampleErrors: Partial<Record<ErrorCode, AlmanacError>> = {
  bad_request: new AlmanacError('bad_request', 'address is not a valid hex address', {
    details: { parameter: 'address', given: '0x12', accepted: '0x and 40 hex digits, in any case' },
  }),
  unauthorized: new AlmanacError('unauthorized', 'Invalid key'),
  forbidden: new AlmanacError('forbidden', 'This key lacks the scope nft-transfers', {
    details: { scope: 'nft-transfers' },
  }),
  uri_too_long: new AlmanacError('uri_too_long', 'The URL is longer than 8192 bytes'),
  headers_too_large: new AlmanacError('headers_too_large', 'The request headers are too large'),
  rate_limited: new AlmanacError('rate_limited', 'Rate limit exceeded', { details: { rateLimit } }),
  quota_exceeded: new AlmanacError('quota_exceeded', 'Rate limit exceeded', { details: { quotaPerDay: 1_000 } }),
  overloaded: new AlmanacError('overloaded', 'Too many requests are being worked on'),
  timeout: new AlmanacError('timeout', 'The request took longer than 15000 ms'),
  upstream_failed: new AlmanacError(
    'upstream_failed',
    'The token accounts of the account could not be read: endpoint rpc.example answered 503.',
  ),
  not_configured: new AlmanacError(
    'not_configured',
    'Nothing in this process reads accounts of Solana devnet: that takes solana.devnet.rpc and a start without --only api.',
  ),
}

type FailureSchema = 'Failure' | 'SolanaFailure'

/** References to the shared responses, one for each status that the codes lead to. */
function failures(codes: readonly ErrorCode[], schema: FailureSchema): Json {
  const statuses = new Set(codes.map(code => statusOf(sampleError(code))))
  return Object.fromEntries(
    [...statuses].map(status => [status, { $ref: `#/components/responses/${schema}${status}` }]),
  )
}

/** One response for each status, with an example for each code that leads to it. */
function failureResponses(codes: readonly ErrorCode[], schema: FailureSchema): Json {
  const byStatus = Map.groupBy(codes.map(sampleError), error => statusOf(error))
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      `${schema}${status}`,
      {
        description: STATUS_CODES[status],
        headers: { ...commonHeaders, ...(status === 429 ? limitHeaders : status === 503 ? retryHeaders : {}) },
        content: {
          'application/json': {
            schema: reference(schema),
            examples: Object.fromEntries(errors.map(error => [error.code, { value: sampleBody(error, schema) }])),
          },
        },
      },
    ]),
  )
}

function sampleError(code: ErrorCode): AlmanacError {
  return sampleErrors[code] ?? new AlmanacError(code, code)
}

function sampleBody(error: AlmanacError, schema: FailureSchema): unknown {
  const answer = problemAnswer(error, {
    requestId: '4f1c9a2be0-1z',
    accept: undefined,
    solana: schema === 'SolanaFailure',
  })
  return JSON.parse(Buffer.from(answer.body as Uint8Array).toString())
}

// ---- headers

function header(description: string, type = 'string'): Json {
  return { description, schema: { type } }
}

const commonHeaders = { 'X-Request-Id': header('Names this request in the log. A sane one that is sent is kept.') }
const retryHeaders = { 'Retry-After': header('Seconds to wait.', 'integer') }
const limitHeaders = {
  ...retryHeaders,
  'RateLimit-Limit': header('Requests a second that the key may send.', 'integer'),
  'RateLimit-Remaining': header('How many are left in this second.', 'integer'),
  'RateLimit-Reset': header('Seconds until the count starts anew.', 'integer'),
}
const indexHeaders = {
  ETag: header('Send it as If-None-Match to get 304 while nothing has changed.'),
  'X-Dialect': header('`reference` or `live`.'),
  'X-Index-Complete': header('Whether everything that was asked for is indexed.'),
  'X-Index-Evidence': header('The weakest evidence behind a complete page of transfers.'),
  'X-Index-Incomplete-Chains': header('The chains of which some history is missing.'),
}
const solanaHeaders = {
  ETag: indexHeaders.ETag,
  Age: header('Seconds since the account was read.', 'integer'),
  'X-Solana-Slot': header('The slot at which it was read.', 'integer'),
}

// ---- schemas

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}

function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>()
  const named = {
    Transfer: schemas.transfer,
    NamedTransfer: schemas.namedTransfer,
    TransferCollection: schemas.transferCollection,
    NamedTransferCollection: schemas.namedTransferCollection,
    WalletTransaction: schemas.walletTransaction,
    WalletChains: schemas.walletChains,
    Holding: schemas.holding,
    Portfolio: schemas.portfolio,
    Failure: schemas.failure,
    SolanaFailure: schemas.solanaFailure,
    Problem: schemas.problem,
    Health: schemas.health,
    Readiness: schemas.readiness,
    Status: schemas.status,
  }
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas: made } = z.toJSONSchema(registry, { io: 'input', uri: id => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as Json]),
  )
}

const opsPaths: Json = {
  '/health': operation({
    id: 'getHealth',
    tag: 'Operations',
    summary: 'The process runs',
    success: success('Health', 'It runs.', { ok: { status: 'ok' } }, {}),
    errors: [],
    open: true,
  }),
  '/ready': {
    get: {
      operationId: 'getReadiness',
      tags: ['Operations'],
      summary: 'The store answers and no chain is too far behind',
      security: [],
      responses: {
        200: success('Readiness', 'Fit to serve.', { ready: { status: 'ready' } }, {}),
        503: success(
          'Readiness',
          'Not fit to serve, with the reason.',
          {
            lagging: {
              status: 'not ready',
              reason: 'polygon is 412 s behind; at most 300 s are allowed.',
            },
          },
          {},
        ),
      },
    },
  },
  '/status': operation({
    id: 'getStatus',
    tag: 'Operations',
    summary: 'What is indexed and how far; needs the scope `ops` unless the operator opened it',
    success: success(
      'Status',
      'The state of chains, store and version.',
      {
        empty: {
          chains: {},
          solana: {},
          store: { engine: 'sqlite', location: 'file:./almanac.db', schema_version: 1, size_bytes: 4096 },
          version: '0.1.0',
        },
      },
      {},
    ),
    errors: ['unauthorized', 'forbidden', 'internal'],
  }),
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      tags: ['Operations'],
      summary: 'Measurements for Prometheus; needs the scope `ops` unless the operator opened it',
      responses: {
        200: {
          description: 'The text format of Prometheus.',
          headers: commonHeaders,
          content: {
            'text/plain': {
              schema: { type: 'string' },
              examples: { inFlight: { value: 'almanac_http_requests_in_flight 0\n' } },
            },
          },
        },
        ...failures(['unauthorized', 'forbidden', 'internal'], 'Failure'),
      },
    },
  },
}
