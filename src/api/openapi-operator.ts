// The paths for operators in the OpenAPI document: health, status, events, metrics and keys.
import { commonHeaders, failures, type Json, operation, success } from './openapi-parts.ts'

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
}
