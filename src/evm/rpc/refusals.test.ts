// Refusals in the words of real providers, sorted into the closed list.
import { describe, expect, test } from 'vitest'
import {
  batchWordings,
  finalizedWordings,
  prunedWordings,
  rangeWordings,
  rateLimitWordings,
  resultWordings,
  sizeWordings,
  timeoutWordings,
  type Wording,
} from '../../../test/sim/provider-wordings.ts'
import { describeError } from '../../errors.ts'
import { type RpcFailureKind, rpcError, rpcFailureOf } from '../../rpc/failures.ts'
import { refusalWordings, sortRefusal } from './refusals.ts'

const facts = { limit: 2_000, asked: 5_000, from: 1_000, to: 5_999 }
const sort = (wording: Wording) => {
  const data = wording.data === undefined ? '' : `: ${JSON.stringify(wording.data(facts))}`
  const text = `${wording.message(facts)}${data}`
  return sortRefusal({ status: wording.status, rpcCode: wording.code, text, method: 'eth_getLogs' })
}

describe.each([
  ['range-too-large', rangeWordings],
  ['too-many-results', resultWordings],
  ['response-too-large', sizeWordings],
  ['timeout', timeoutWordings],
  ['batch-refused', batchWordings],
  ['pruned', prunedWordings],
] as [RpcFailureKind, Record<string, Wording>][])('%s', (kind, wordings) => {
  test.each(Object.entries(wordings))('as %s says it', (_, wording) => {
    expect(sort(wording).kind).toBe(kind)
  })
})

test('rate limits, save where the wording is that of a size limit', () => {
  for (const provider of ['alchemy', 'infura', 'quicknode'] as const) {
    expect(sort(rateLimitWordings[provider]).kind).toBe('rate-limited')
  }
  const limitExceeded = { status: 200, rpcCode: -32005, text: 'limit exceeded' }
  expect(sortRefusal({ ...limitExceeded, method: 'eth_getLogs' }).kind).toBe('too-many-results')
  expect(sortRefusal({ ...limitExceeded, method: 'eth_blockNumber' }).kind).toBe('rate-limited')
})

test('the finalized tag, as those without it refuse it', () => {
  const kinds = Object.values(finalizedWordings).map(wording => sort(wording).kind)
  expect(kinds).toEqual(['tag-unknown', 'behind', 'tag-unknown', 'behind'])
})

test.each([
  ['daily request count exceeded, request rate limited', -32005, 200, 'quota'],
  ['Monthly capacity limit exceeded. Visit the dashboard to upgrade.', 429, 429, 'quota'],
  ['Too Many Requests', undefined, 429, 'rate-limited'],
  ['block range extends beyond current head block', -32602, 200, 'behind'],
  ['header not found', -32000, 200, 'behind'],
  ['missing trie node 4ab (path ) state 0x12 is not available', -32000, 200, 'pruned'],
  ['the method eth_getBlockReceipts does not exist/is not available', -32601, 200, 'method-missing'],
  ['Method not supported', -32004, 200, 'method-missing'],
  ['exceed max addresses or topics per search position', -32000, 200, 'filter-too-large'],
  ['This query contains 5006 filters. The current limit is 5000.', -32005, 200, 'filter-too-large'],
  ['execution reverted', 3, 200, 'reverted'],
  ['Transaction reverted without a reason', -32000, 200, 'reverted'],
  ["reverted with reason string 'too many requests'", -32000, 200, 'reverted'],
  ['Unauthorized', undefined, 401, 'unauthorized'],
  ['HTTP status 502', undefined, 502, 'transport'],
  ['HTTP status 504', undefined, 504, 'timeout'],
  ['HTTP status 413', undefined, 413, 'response-too-large'],
  ['something new', -32000, 200, 'refused'],
] as const)('%s', (text, rpcCode, status, kind) => {
  expect(sortRefusal({ status, rpcCode, text, method: 'eth_getLogs' }).kind).toBe(kind)
})

test('the blocks that a refusal allows are read from it', () => {
  const allowed = Object.entries(rangeWordings).map(([provider, wording]) => [provider, sort(wording).blocksAllowed])
  expect(Object.fromEntries(allowed)).toEqual({
    alchemy: 2_000,
    infura: 2_000,
    quicknode: 2_000,
    ankr: undefined,
    blast: 2_000,
    oneRpc: 2_000,
    tenderly: 2_000,
    drpc: 10_000,
    publicnode: 2_000,
    chainstack: undefined,
    erigon: 2_000,
    besu: undefined,
    moonbeam: 2_000,
    avalanche: 2_000,
    cronos: 2_000,
    morph: 2_000,
  })
  expect(sort(sizeWordings.alchemy).blocksAllowed).toBe(2_500)
  expect(sort(resultWordings.reth).blocksAllowed).toBe(2_500)
  expect(sort(resultWordings.infura).blocksAllowed).toBeUndefined()
})

test.each(['debug_getRawReceipts', 'debug_getRawHeader'])(
  '%s is kept to themselves by providers in many ways',
  method => {
    const sorted = (status: number, text: string) => sortRefusal({ status, rpcCode: undefined, text, method }).kind
    expect([sorted(403, 'HTTP status 403'), sorted(401, 'Unauthorized'), sorted(200, 'not for you')]).toEqual(
      Array(3).fill('method-missing'),
    )
    expect(sorted(429, 'Too Many Requests')).toBe('rate-limited')
  },
)

test('every row of the table names who says it and a kind of the list', () => {
  for (const [kind, , by] of refusalWordings) {
    const failure = { kind, endpoint: 'rpc.example', method: 'eth_getLogs' }
    expect(rpcFailureOf(rpcError(failure, { chain: 'eth', said: '' }))).toEqual(failure)
    expect(by.length).toBeGreaterThan(3)
  }
})

test('an error says what failed, with its values, why, and what to do', () => {
  const failure = { kind: 'rate-limited', endpoint: 'rpc.example', method: 'eth_getLogs', status: 429 } as const
  const error = rpcError(failure, { chain: 'polygon', said: 'Too Many Requests', retryAfterMs: 2_000 })
  expect(describeError(error)).toBe(
    'Error: polygon endpoint rpc.example answered 429 to eth_getLogs (rate-limited). (Too Many Requests)\n' +
      'Try:   lower requests_per_second or add a second endpoint.',
  )
  expect(error).toMatchObject({ code: 'upstream_rate_limited', retryable: true, retryAfterMs: 2_000 })
  expect(rpcFailureOf(error)).toEqual(failure)
  expect(rpcFailureOf(new Error('other'))).toBeUndefined()
})
