// The building blocks of the OpenAPI document: operations, parameters, answers, errors, headers. No path here.
import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { ChainTable } from '../chains.ts'
import { errorGuide } from '../error-guide.ts'
import { AlmanacError, type ErrorCode } from '../errors.ts'
import examples from './openapi-examples.json' with { type: 'json' }
import type { Parameter } from './params.ts'
import { problemAnswer, statusOf } from './problem.ts'

export type Json = Record<string, unknown>

/** What the document depends on. */
export type DocumentOptions = {
  chains: ChainTable
  pageSizeMax: number
  version: string
  /** The public key of a sandbox. Absent: the service is not a sandbox. */
  sandboxKey?: string | undefined
}

export type OperationFacts = {
  id: string
  tag?: 'EVM' | 'Solana' | 'Operations'
  summary: string
  /** What is answered, in which order and when to use it, before anything else. */
  description: string
  parameters?: Json[]
  requestBody?: Json
  /** Without those for errors, by status. */
  answers: Json
  errors?: readonly ErrorCode[]
  /** Needs no key. */
  open?: true
  /** How the public SDK asks for it, where it does. */
  sdkCall?: string | undefined
  /** That a key needs; `any`: every key may ask. Absent: the summary says it. */
  scope?: string | undefined
}

export function operation(
  { id, tag = 'Operations', parameters = [], answers, errors = [], open, sdkCall, scope, ...facts }: OperationFacts,
  failureSchema: FailureSchema,
): Json {
  return {
    operationId: id,
    tags: [tag],
    ...facts,
    ...(open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters: inOrder(parameters) }),
    responses: { ...(open ? answers : withRate(answers)), ...failures(errors, failureSchema) },
    // A response is shared by all operations that answer with its status: these are the codes of this one.
    ...(errors.length === 0 ? {} : { 'x-error-codes': errors }),
    ...(sdkCall === undefined ? {} : { 'x-sdk-call': sdkCall }),
    ...(scope === undefined ? {} : { 'x-scope': scope }),
  }
}

/** First which part of the answer is wanted, then its pages and its form, last what has no effect. */
const order = ['path', 'chain', 'chains', 'past', 'filter', 'page', 'form', 'no effect'] as const
const places: Readonly<Record<string, (typeof order)[number]>> = {
  ...{ chain: 'chain', chains: 'chains' },
  ...{ at_block: 'past', at_date: 'past', from_block: 'past', to_block: 'past', from_date: 'past', to_date: 'past' },
  ...{ order: 'page', limit: 'page', cursor: 'page', format: 'form', normalizeMetadata: 'form' },
  ...{ disable_total: 'no effect', include_prices: 'no effect', media_items: 'no effect' },
}

function inOrder(parameters: readonly Json[]): Json[] {
  const placeOf = (each: Json) => order.indexOf(each.in === 'path' ? 'path' : (places[`${each.name}`] ?? 'filter'))
  return parameters.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** Of every answer to a key that has a rate. */
function withRate(answers: Json): Json {
  const rated = Object.entries(answers as Record<string, { headers?: Json }>).map(([status, answer]) => [
    status,
    status.startsWith('2') ? { ...answer, headers: { ...answer.headers, ...rateReferences } } : answer,
  ])
  return Object.fromEntries(rated)
}

type Described = Pick<Parameter<unknown>, 'name' | 'description' | 'example' | 'schema' | 'deprecated'>

export function inPath(parameter: Described): Json {
  return { ...described(parameter), in: 'path', required: true, schema: jsonSchema(parameter.schema) }
}

/** One that has no entry in `params.ts`. */
export function textInPath(name: string, description: string, example: string): Json {
  return { name, description, example, in: 'path', required: true, schema: { type: 'string' } }
}

export function inQuery(parameter: Described): Json {
  return { ...described(parameter), in: 'query', required: false, schema: jsonSchema(parameter.schema) }
}

export function inQueryList(parameter: Described): Json {
  const schema = { type: 'array', items: jsonSchema(parameter.schema) }
  return { ...described(parameter), in: 'query', required: false, style: 'form', explode: true, schema }
}

function described({ name, description, example, deprecated }: Described): Json {
  return { name, description, example, ...(deprecated ? { deprecated } : {}) }
}

/** The schemas of answers that have examples. */
export type ExampleName = keyof typeof examples

/** The examples are those of the schema, in `openapi-examples.json`. `only` picks one. */
export function jsonSuccess(schema: ExampleName, description: string, headers: Json = {}, only?: string): Json {
  const shown = Object.entries<unknown>(examples[schema]).filter(([name]) => only === undefined || name === only)
  const named = Object.fromEntries(shown.map(([name, value]) => [name, { value }]))
  const content = { 'application/json': { schema: reference(schema), examples: named } }
  return { description, headers: { ...commonHeaders, ...headers }, content }
}

export const onDemandSentence =
  'Asking for a contract that is not indexed starts its indexing where the chain is indexed on demand.'

/** A page, or the whole list as lines. */
export function listSuccess(schema: ExampleName, description: string, headers: Json = {}): Json {
  const page = jsonSuccess(schema, description, { ...stateHeaders, ...headers })
  const lines = { schema: { type: 'string' } }
  return { ...page, content: { ...(page.content as Json), 'text/csv': lines, 'application/x-ndjson': lines } }
}

export function textSuccess(type: string, description: string, example: string): Json {
  const content = { schema: { type: 'string' }, examples: { first: { value: example } } }
  return { description, headers: commonHeaders, content: { [type]: content } }
}

export const dataErrors: ErrorCode[] = [
  'bad_request',
  'answer_too_large',
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

/** Of operations that also send their list whole, which may change before its first row is sent. */
export const listErrors: ErrorCode[] = [...dataErrors, 'stream_cut']

/** Of operations on a chain that has to be configured here, or stored. */
export const chainErrors: ErrorCode[] = [...dataErrors, 'chain_not_configured']
export const chainListErrors: ErrorCode[] = [...listErrors, 'chain_not_configured']

/** Where a node may be asked for the answer. */
export const nodeErrors: ErrorCode[] = ['upstream_failed', 'not_configured', 'budget_exceeded']
export const solanaErrors: ErrorCode[] = [...dataErrors, 'upstream_failed', 'not_configured']

const samples: Partial<Record<ErrorCode, [message: string, details?: unknown]>> = {
  bad_request: [
    'address is not a valid hex address',
    { parameter: 'address', given: '0x12', accepted: '0x and 40 hex digits, in any case' },
  ],
  answer_too_large: [
    'The answer has 20000000 bytes, and at most 16777216 are sent: lower limit, or have the operator raise limits.answer_bytes_max',
    { answer_bytes: 20_000_000, answer_bytes_max: 16_777_216 },
  ],
  list_too_large: [
    'The contract 0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d has too many holdings to be answered in pages: ask getNFTOwners with Accept: text/csv or application/x-ndjson',
    { operation: 'getNFTOwners', accept: ['text/csv', 'application/x-ndjson'] },
  ],
  unauthorized: ['Invalid key'],
  forbidden: [
    'This key lacks the scope nft-transfers. Create a key with it: almanac keys create --scopes nft-transfers',
    { scope: 'nft-transfers' },
  ],
  not_found: ['There is no key with this id'],
  chain_not_configured: [
    'arbitrum is not configured here (configured: eth, base)',
    { parameter: 'chain', chain: 'arbitrum', configured: ['eth', 'base'] },
  ],
  uri_too_long: ['The URL is longer than 8192 bytes'],
  headers_too_large: ['The request headers are too large'],
  rate_limited: [
    'Rate limit exceeded',
    {
      limit: '50 requests a second',
      raise: 'almanac keys limit 1f0c3a9be2d4 --rate <number>',
      reason: 'The key has used its 50 requests of this second.',
    },
  ],
  quota_exceeded: [
    'Rate limit exceeded',
    {
      limit: '1000 requests a day',
      raise: 'almanac keys limit 1f0c3a9be2d4 --quota <number>',
      reason: 'The key has used its 1000 requests of today (UTC).',
    },
  ],
  budget_exceeded: [
    'Client requests have used their share of daily_budget for today: 1500 calls a day to nodes for all requests',
    {
      limit: '1500 calls a day to nodes for all requests',
      raise: 'raise chains.eth.daily_budget, or wait until midnight UTC.',
    },
  ],
  overloaded: ['Too many requests are being worked on'],
  stream_cut: ['A reorganisation replaced blocks while the list was read'],
  timeout: ['The request took longer than 15000 ms'],
  upstream_failed: [
    'The Token accounts of So11111111111111111111111111111111111111112 could not be read from solana mainnet.',
    { network: 'mainnet', part: 'token' },
  ],
  not_configured: [
    'Nothing in this process reads accounts of Solana devnet: that takes solana.devnet.rpc and a start without --only api.',
  ],
}

/** Where an EVM operation would say something else. */
const evmSamples: typeof samples = {
  not_configured: ['No process with a node of eth runs: one needs chains.eth.rpc and a start without --only api.'],
}

export type FailureSchema = 'Failure' | 'SolanaFailure'

/** References to the shared responses, one for each status of the codes. */
function failures(codes: readonly ErrorCode[], schema: FailureSchema): Json {
  const statuses = new Set(codes.map(code => statusOf(sampleError(code, schema))))
  return Object.fromEntries(
    [...statuses].map(status => [status, { $ref: `#/components/responses/${schema}${status}` }]),
  )
}

/** One response for each status, with an example for each of its codes. */
export function failureResponses(codes: readonly ErrorCode[], schema: FailureSchema): Json {
  const errors = codes.map(code => sampleError(code, schema))
  const byStatus = Map.groupBy(errors, error => statusOf(error))
  return Object.fromEntries(
    [...byStatus].map(([status, errors]) => [
      `${schema}${status}`,
      {
        description: STATUS_CODES[status],
        headers: { ...commonHeaders, ...(status === 429 ? limitHeaders : status === 503 ? retryHeaders : {}) },
        content: {
          'application/json': {
            schema: reference(schema),
            examples: Object.fromEntries(
              errors.map(error => [
                error.code,
                { summary: errorGuide[error.code].means, value: sampleBody(error, schema) },
              ]),
            ),
          },
        },
      },
    ]),
  )
}

function sampleError(code: ErrorCode, schema: FailureSchema): AlmanacError {
  const [message, details] = (schema === 'Failure' ? evmSamples[code] : undefined) ?? samples[code] ?? [code]
  return new AlmanacError(code, message, { details })
}

function sampleBody(error: AlmanacError, schema: FailureSchema): unknown {
  const answer = problemAnswer(error, {
    requestId: '4f1c9a2be0-1z',
    accept: undefined,
    solana: schema === 'SolanaFailure',
  })
  return JSON.parse(Buffer.from(answer.body as Uint8Array).toString())
}

function header(description: string, type = 'string'): Json {
  return { description, schema: { type } }
}

const commonHeaders = {
  'X-Request-Id': header('Request id. A valid id sent by the client is kept.'),
}
const retryHeaders = { 'Retry-After': header('Seconds to wait.', 'integer') }
/** Shared by all answers. */
export const rateHeaders = {
  'RateLimit-Limit': header('Requests per second that the key may send. Absent for a key without a rate.', 'integer'),
  'RateLimit-Remaining': header('Requests left in this second. Absent for a key without a rate.', 'integer'),
  'RateLimit-Reset': header('Seconds until the count begins anew. Absent for a key without a rate.', 'integer'),
}
const rateReferences = Object.fromEntries(
  Object.keys(rateHeaders).map(name => [name, { $ref: `#/components/headers/${name}` }]),
)
const limitHeaders = { ...retryHeaders, ...rateReferences }
const headAge = header(
  'Age of the newest known block of the chain in seconds, of the oldest where there are several. Absent while it is below `head_age_max_seconds` of the chain.',
  'integer',
)
export const indexHeaders = {
  'X-Head-Age': headAge,
  ETag: header('Send it as If-None-Match to get 304 while nothing changed.'),
  'X-Dialect': header('`reference` or `live`.'),
  'X-Index-Complete': header('Whether all requested data is indexed.'),
  'X-Index-Evidence': header(
    'Weakest evidence of a complete answer. For the chains of a wallet at most what endpoints say, because no root holds senders.',
  ),
}
/** Of the operations that answer for a chain that is not configured here. */
export const incompleteReason = {
  'X-Index-Incomplete-Reason': header(
    'Why waiting does not complete the answer: the chain is not configured here. Names the chains that are. Absent while an index is being filled.',
  ),
}
export const incompleteChains = {
  'X-Index-Incomplete-Chains': header('Chains whose history is not complete.'),
}
export const stateHeaders = {
  ...indexHeaders,
  'X-Block-Number': header(
    'The answer is the state after this block, and a whole list of transfers goes up to it. Absent before the first block and on pages of transfers.',
    'integer',
  ),
}
export const solanaHeaders = {
  ETag: indexHeaders.ETag,
  Age: header('Seconds since the account was read.', 'integer'),
  'X-Solana-Slot': header('Slot at which the account was read.', 'integer'),
  'X-Solana-Unknown-Mints': header(
    'Mints that the node holds accounts of and does not know, separated by commas. Their holdings stand in `tokens` with `decimals` 0 and without names. At most 32 are named; `+N` counts the rest.',
  ),
}

export const balanceHeaders = {
  'X-Head-Age': headAge,
  ETag: indexHeaders.ETag,
  'X-Block-Number': header('Block after which the balance was read.', 'integer'),
}
export const mintHeaders = {
  ETag: indexHeaders.ETag,
  Age: header('Seconds since the mint was read.', 'integer'),
  'X-Solana-Slot': header('Slot at which the mint was read.', 'integer'),
}

export function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' })
  return rest
}
