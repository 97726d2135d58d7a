// The paths for operators in the OpenAPI document: health, status, events, metrics and keys.
import type { ErrorCode } from '../errors.ts'
import { commonHeaders, failures, type Json, operation, reference, success } from './openapi-parts.ts'

const keyErrors: ErrorCode[] = ['unauthorized', 'forbidden', 'rate_limited', 'quota_exceeded', 'internal']

const exampleKey = {
  id: '1f0c3a9be2d4',
  name: 'shop',
  state: 'active',
  scopes: ['nft-transfers'],
  rate_per_second: null,
  quota_per_day: 100_000,
  index_per_day: null,
  used_today: 1_204,
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: '2027-02-13T12:00:00.000Z',
  revoked_at: null,
}
const revokedKey = { ...exampleKey, state: 'revoked', used_today: 0, revoked_at: '2026-11-16T08:30:00.000Z' }
const idInPath = { in: 'path', required: true, schema: { type: 'string' } }

const packMark = {
  ...{ chain: 'eth', contract: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d', verified: true, spam: null },
  ...{ rank: 'built-in', source: 'built-in', updated_at: '2026-11-15T00:00:00.000Z' },
}
const explained = {
  verified: {
    ...{ chain: 'eth', contract: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d' },
    possible_spam: {
      ...{ value: false, because: 'verified', mark: null, score: null, score_needed: 1, rules_version: null },
      ...{ judged_at: null, judged_on: null, rules: [] },
    },
    verified_collection: { value: true, because: 'pack', mark: packMark },
    ...{ name: 'BoredApeYachtClub', symbol: 'BAYC', interfaces: ['erc721'], deployer: null, created_block: 12287507 },
    read_at: '2026-11-15T12:00:00.000Z',
    labels: [
      {
        ...{ chain: 'eth', label: 'Bored Ape Yacht Club', rank: 'built-in', source: 'built-in' },
        ...{ updated_at: '2026-11-15T00:00:00.000Z', shown: true },
      },
    ],
    marks: [packMark],
    index: {
      ...{ head: 21000000, finalized: 20999936, transfers: 250000 },
      covered: [{ from: 12287507, to: 21000000, evidence: 'two-endpoints' }],
    },
  },
}

export const operatorPaths: Json = {
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
  '/events': {
    get: {
      operationId: 'getEvents',
      tags: ['Operations'],
      summary: 'What happens, as server-sent events; needs the scope `ops` unless the operator opened it',
      description: [
        'Begins with `history` (schema `LivePast`), then tells `status` every second (`LiveStatus`), `sample` every five ' +
          '(`LiveSample`, the next moment of the history), `block` whenever the head of a chain moves (`LiveBlock`), ' +
          '`trouble` while the status cannot be read, and `unauthorized`, as the last one, once the key is revoked.',
        'A comment is sent every ten seconds. A client that does not keep up is cut off and may come back.',
      ].join('\n\n'),
      responses: {
        200: {
          description: 'A stream that ends with the client, the key or the service.',
          headers: commonHeaders,
          content: {
            'text/event-stream': {
              schema: { type: 'string' },
              examples: { block: { value: 'event: block\ndata: {"chain":"eth","number":17722946}\n\n' } },
            },
          },
        },
        ...failures(['unauthorized', 'forbidden', 'internal', 'overloaded'], 'Failure'),
      },
    },
  },
  '/explain/{chain}/{contract}': {
    get: {
      operationId: 'explainContract',
      tags: ['Operations'],
      summary: 'Why answers show what they show of a contract; needs the scope `ops` unless the operator opened it',
      parameters: [
        { name: 'chain', description: 'A chain by name or id.', example: 'eth', ...idInPath },
        {
          ...{ name: 'contract', description: 'The address of the contract.' },
          ...{ example: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d', ...idInPath },
        },
        {
          name: 'transfer',
          in: 'query',
          description:
            'A transaction hash, or one with `:logIndex` behind it: why it is or is not in the index. A node is asked for it.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: success('Explanation', 'Flags, names, labels and coverage with their origins.', explained, {}),
        ...failures(['bad_request', 'unauthorized', 'forbidden', 'internal', 'upstream_failed'], 'Failure'),
      },
    },
  },
  '/keys': {
    get: {
      operationId: 'listKeys',
      tags: ['Operations'],
      summary: 'Every key with its limits and what it used today; needs the scope `ops`',
      responses: {
        200: success('KeyList', 'The keys, the oldest first. No secrets.', { one: { keys: [exampleKey] } }, {}),
        ...failures(keyErrors, 'Failure'),
      },
    },
    post: {
      operationId: 'createKey',
      tags: ['Operations'],
      summary: 'Issue a key; needs the scope `ops`',
      description:
        'A key gives no more than it has itself: no other scope and no later end. A key with a rate, a quota or an allowance gives none, because each of them would have the limit anew.',
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: reference('NewKey'),
            examples: { limited: { value: { name: 'shop', scopes: ['nft-transfers'], expires: '90d' } } },
          },
        },
      },
      responses: {
        201: success('IssuedKey', 'The key with its secret.', { one: { ...exampleKey, secret: 'alm_…' } }, {}),
        ...failures(['bad_request', ...keyErrors], 'Failure'),
      },
    },
  },
  '/keys/{id}': {
    delete: {
      operationId: 'revokeKey',
      tags: ['Operations'],
      summary: 'Revoke a key: it stops working within a second; needs the scope `ops`',
      parameters: [{ name: 'id', description: 'The id of the key.', example: exampleKey.id, ...idInPath }],
      responses: {
        200: success('Key', 'The revoked key.', { one: revokedKey }, {}),
        ...failures(['not_found', ...keyErrors], 'Failure'),
      },
    },
  },
}
