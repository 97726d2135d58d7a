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

// Example answers for the OpenAPI document. Tests hold them against the schemas.

const transfer = {
  block_number: '16220243',
  block_timestamp: '2022-12-19T17:29:47',
  block_hash: '0xe4022d8da3d4b24e4ac3e8f7ee0ed4b1d1d6a5a36a5c1d1a6ec3a0e0c2f97e6a',
  transaction_hash: '0x46ab6d3c3d1ab1ff5ad8ea03d3dc6ba4f7f1ed8b4e5e0f0a96a7dd3f0be0e76d',
  transaction_index: 102,
  log_index: 269,
  value: '0',
  contract_type: 'ERC721',
  transaction_type: 'Single',
  token_address: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
  token_id: '6955',
  from_address: '0xacdaeeb57ff6886fc8e203b9dd4c2b241df89b7a',
  from_address_label: null,
  to_address: '0x8ae57a027c63fca8070d1bf38622321de8004c67',
  to_address_label: null,
  amount: '1',
  operator: null,
}

const liveTransfer = {
  ...transfer,
  block_timestamp: '2022-12-19T17:29:47.000Z',
  possible_spam: false,
  verified_collection: true,
}

const cursor = 'AQC8TKDtp2R6i6twYhwuEYoYqTbxPQEBAbP8vwdmjQIA0QXDwNjIe5Hij1MF2b2f9A'
const truths = { block_exists: true, index_complete: true }

const walletChain = {
  chain: 'eth',
  chain_id: '0x1',
  first_transaction: {
    block_timestamp: '2015-09-28T08:24:43.000Z',
    block_number: '302086',
    transaction_hash: '0x9b629147b75dc0b275d478fa34d97c5d4a26926457540b15a5ce871df36c23fd',
  },
  last_transaction: {
    block_timestamp: '2023-07-18T22:00:59.000Z',
    block_number: '17722945',
    transaction_hash: '0xde35a4e5a5a9a1a2a0d7e2f9ea1d8e6f1e1ab0a5f0c7b8a94b0f32b4c1f293e4',
  },
}
const wallet = '0x26fcbd3afebbe28d0a8684f790c48368d21665b5'

export const examples = {
  transfers: {
    reference: {
      total: null,
      page: '0',
      page_size: '1',
      cursor,
      result: [{ ...transfer, possible_spam: 'false', verified_collection: 'true' }],
      ...truths,
    },
    live: { total: 14, page: 0, page_size: 1, cursor, result: [liveTransfer], ...truths },
  },
  namedTransfers: {
    live: {
      page: 0,
      page_size: 1,
      cursor: null,
      result: [{ ...liveTransfer, token_name: 'BoredApeYachtClub', token_symbol: 'BAYC' }],
      ...truths,
    },
  },
  walletChains: {
    reference: { address: wallet, active_chains: [walletChain] },
    live: {
      address: wallet,
      active_chains: [
        walletChain,
        { chain: 'polygon', chain_id: '0x89', first_transaction: null, last_transaction: null },
      ],
    },
  },
  contracts: {
    one: {
      chain: 'eth',
      contracts: [{ address: transfer.token_address, transfers: 191_204, name: 'BoredApeYachtClub', symbol: 'BAYC' }],
      after: null,
    },
  },
  portfolio: {
    account: {
      nativeBalance: { lamports: '902329912', solana: '0.902329912' },
      nfts: [
        {
          associatedTokenAddress: 'Aymvy5sNtxRpUBFT19nNetsGb4VBpmb6qyPs2ybGPUcr',
          mint: '9PN8gNqJy5mVnr8PJSaiKULG2inbTZxm4Xwgc2LM6x5Z',
          name: 'Nug 5585',
          symbol: 'METAWANA',
          amount: '1',
          amountRaw: '1',
          decimals: 0,
        },
      ],
      tokens: [
        {
          associatedTokenAddress: 'J3sQDCWQQuZRCSgW7BWZ8s8Zoz16mprPxoCuryo6YXUX',
          mint: 'VVWAy5U2KFd1p8AdchjUxqaJbZPBeP5vUQRZtAy8hyc',
          name: 'Flip',
          symbol: 'FLIP',
          amount: '7777',
          amountRaw: '7777000000000',
          decimals: 9,
        },
      ],
    },
  },
}
