// The building blocks of the OpenAPI document: operations, parameters, answers, errors, headers. No path here.
import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { ChainTable } from '../chains.ts'
import { errorGuide } from '../error-guide.ts'
import type { AlmanacError, ErrorCode } from '../errors.ts'
import { scopes } from '../keys/keys.ts'
import { type FailureSchema, ownErrors, sampleBody, sampleError } from './document/error-examples.ts'
import examples from './openapi-examples.json' with { type: 'json' }
import type { Parameter } from './params.ts'
import { statusOf } from './problem.ts'

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
  /** How it fails in its own words. Those of its parameters and its scope are known without. */
  failures?: readonly AlmanacError[]
  /** Needs no key. */
  open?: true
  /** How the public SDK asks for it, where it does. */
  sdkCall?: string | undefined
  /** That a key needs; `any`: every key may ask. Absent: the summary says it. */
  scope?: string | undefined
}

export function operation(
  { id, tag = 'Operations', parameters = [], answers, open, sdkCall, scope, ...rest }: OperationFacts,
  failureSchema: FailureSchema,
): Json {
  const { errors: all = [], failures: told = [], ...facts } = rest
  const isFixed = parameters.length === 0 && facts.requestBody === undefined
  // Where every key may ask, none lacks a scope; where nothing is asked for, nothing is refused.
  const errors = all.filter(code => !(code === 'forbidden' && scope === 'any') && !(code === 'bad_request' && isFixed))
  const needed = scopes.find(each => each === scope || facts.summary.includes(`scope \`${each}\``))
  const own = ownErrors({ parameters: parameters.flatMap(readAs), scope: needed, told })
  const shown = own.filter(({ code }) => errors.includes(code))
  return {
    operationId: id,
    tags: [tag],
    ...facts,
    ...(open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters: inOrder(parameters) }),
    responses: { ...(open ? answers : withRate(answers)), ...failures(errors, failureSchema) },
    // A response is shared by all operations that answer with its status: these are the codes of this one.
    ...(errors.length === 0 ? {} : { 'x-error-codes': errors }),
    ...(shown.length === 0
      ? {}
      : { 'x-error-examples': Object.fromEntries(shown.map(error => [error.code, sampleBody(error, failureSchema)])) }),
    ...(sdkCall === undefined ? {} : { 'x-sdk-call': sdkCall }),
    ...(scope === undefined ? {} : { 'x-scope': scope }),
  }
}

/** First which part of the answer is wanted, then its pages and its form, last what has no effect. */
const order = ['path', 'chain', 'chains', 'past', 'filter', 'page', 'form', 'no effect'] as const
const places: Readonly<Record<string, (typeof order)[number]>> = {
  ...{ chain: 'chain', chains: 'chains' },
  ...{ at_block: 'past', at_date: 'past', from_block: 'past', to_block: 'past', from_date: 'past', to_date: 'past' },
  ...{ order: 'page', limit: 'page', cursor: 'page', format: 'form', normalizeMetadata: 'form', media_items: 'form' },
  ...{ disable_total: 'no effect', include_prices: 'no effect' },
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

export function inPath(parameter: Parameter<unknown>): Json {
  return { ...described(parameter), in: 'path', required: true, schema: schemaOf(parameter) }
}

/** One that has no entry in `params.ts`. */
export function textInPath(name: string, description: string, example: string): Json {
  return { name, description, example, in: 'path', required: true, schema: { type: 'string' } }
}

export function inQuery(parameter: Parameter<unknown>): Json {
  return { ...described(parameter), in: 'query', required: false, schema: schemaOf(parameter) }
}

export function inQueryList(parameter: Parameter<unknown>): Json {
  const schema = { type: 'array', items: schemaOf(parameter) }
  readBy.set(schema, parameter)
  return { ...described(parameter), in: 'query', required: false, style: 'form', explode: true, schema }
}

/** What reads the values of a schema: the errors that a parameter is refused with are its own. */
const readBy = new WeakMap<object, Parameter<unknown>>()

function schemaOf(parameter: Parameter<unknown>): Json {
  const schema = jsonSchema(parameter.schema)
  readBy.set(schema, parameter)
  return schema
}

function readAs({ schema, required }: Json) {
  const parameter = readBy.get(schema as object)
  return parameter === undefined ? [] : [{ parameter, isRequired: required === true }]
}

function described({ name, description, example, deprecated }: Parameter<unknown>): Json {
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

/** Of ERC-20, on every chain. */
export const onDemandTokens = 'Asking for a token that is not indexed starts its indexing.'

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
                // Links within the page of errors lead nowhere from the document.
                {
                  summary: errorGuide[error.code].means.replaceAll(/\[([^\]]+)\]\(#\w+\)/g, '$1'),
                  value: sampleBody(error, schema),
                },
              ]),
            ),
          },
        },
      },
    ]),
  )
}

export function header(description: string, type = 'string'): Json {
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
  'X-Index-Incomplete-Reason': header(
    'Why waiting does not complete the answer: the chain is not configured here, it is indexed on demand and the answer is of all contracts, or a token has more transfers than any key that asked may have indexed. Absent while an index is being filled.',
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
export const balancesHeaders = {
  'X-Balances': header('Of a whole list: what `balances` says in pages. With `read` the rows have no balances.'),
  'X-Balances-Block': header('Of a whole list: what `balances_block` says in pages. Absent if it is null.', 'integer'),
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
/** Of what tokens say of themselves. */
export const tokenHeaders = {
  'X-Head-Age': headAge,
  ETag: indexHeaders.ETag,
  'X-Dialect': indexHeaders['X-Dialect'],
  'X-Block-Number': header('Block after which tokens were asked. Absent where no node was.', 'integer'),
}
export const walletTokenHeaders = {
  ...indexHeaders,
  'X-Block-Number': header('Block after which the tokens were asked.', 'integer'),
  'X-Tokens-Looked-At': header(
    'How many tokens were asked, the newest touched first, where the wallet touched more, or more of its transfers are still to be looked through. Absent where that is all.',
    'integer',
  ),
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
