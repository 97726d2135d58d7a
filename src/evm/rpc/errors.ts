// What can go wrong with a JSON-RPC request: a closed list of kinds, and how an answer is sorted into it. Every failure becomes an
// AlmanacError that names the endpoint by host, never by its URL.
import { AlmanacError, type ErrorCode } from '../../errors.ts'
import { allowedBlocks, refusalWordings, suggestedNumbers, suggestedRange } from './wordings.ts'

export const rpcFailureKinds = [
  'range-too-large',
  'too-many-results',
  'response-too-large',
  'filter-too-large',
  'timeout',
  'rate-limited',
  'quota',
  'method-missing',
  'pruned',
  'behind',
  'tag-unknown',
  'batch-refused',
  'unauthorized',
  'wrong-chain',
  'reverted',
  'invalid-answer',
  'transport',
  'refused',
  'no-endpoint',
] as const
export type RpcFailureKind = (typeof rpcFailureKinds)[number]

/** The details of an AlmanacError that comes from a node. */
export type RpcFailure = {
  kind: RpcFailureKind
  endpoint: string
  method: string
  /** How many blocks the endpoint would answer at once, where its refusal says so. */
  blocksAllowed?: number
  status?: number
  rpcCode?: number
}

type KindRule = { code: ErrorCode; retryable: boolean; hint: string }

const rules: Record<RpcFailureKind, KindRule> = {
  'range-too-large': { code: 'upstream_failed', retryable: false, hint: 'ask for fewer blocks at once.' },
  'too-many-results': { code: 'upstream_failed', retryable: false, hint: 'ask for fewer blocks at once.' },
  'response-too-large': { code: 'upstream_failed', retryable: false, hint: 'ask for fewer blocks at once.' },
  'filter-too-large': { code: 'upstream_failed', retryable: false, hint: 'ask for fewer contracts at once.' },
  timeout: {
    code: 'timeout',
    retryable: true,
    hint: 'check that the node is not overloaded, or add a second endpoint.',
  },
  'rate-limited': {
    code: 'upstream_rate_limited',
    retryable: true,
    hint: 'lower requestsPerSecond or add a second endpoint.',
  },
  quota: {
    code: 'upstream_rate_limited',
    retryable: true,
    hint: 'raise the plan at the provider or add a second endpoint.',
  },
  'method-missing': {
    code: 'not_found',
    retryable: false,
    hint: 'enable the method on the node or add another endpoint.',
  },
  pruned: {
    code: 'upstream_failed',
    retryable: false,
    hint: 'add an archive endpoint, or set `from` above what is pruned.',
  },
  behind: {
    code: 'upstream_failed',
    retryable: true,
    hint: 'wait until the node has synced, or add a second endpoint.',
  },
  'tag-unknown': {
    code: 'upstream_failed',
    retryable: false,
    hint: 'nothing: finality is taken from the depth instead.',
  },
  'batch-refused': {
    code: 'upstream_failed',
    retryable: false,
    hint: 'nothing: smaller batches are sent from now on.',
  },
  unauthorized: { code: 'upstream_failed', retryable: false, hint: 'check the key in the URL of the endpoint.' },
  'wrong-chain': {
    code: 'upstream_invalid',
    retryable: false,
    hint: 'check the URL of the endpoint: it serves another chain.',
  },
  reverted: { code: 'upstream_failed', retryable: false, hint: 'nothing: the contract refuses the call.' },
  'invalid-answer': {
    code: 'upstream_invalid',
    retryable: true,
    hint: 'check what answers at this address, or add a second endpoint.',
  },
  transport: { code: 'upstream_failed', retryable: true, hint: 'check that the node runs and can be reached.' },
  refused: { code: 'upstream_failed', retryable: true, hint: 'read what the node says, or add a second endpoint.' },
  'no-endpoint': { code: 'upstream_failed', retryable: true, hint: 'add an endpoint of another provider.' },
}

/** `said` is the cause in the endpoint's own words, already without secrets. */
export function rpcError(
  failure: RpcFailure,
  { chain, said, retryAfterMs, retryable }: { chain: string; said: string; retryAfterMs?: number; retryable?: boolean },
): AlmanacError {
  const { code, hint, ...rule } = rules[failure.kind]
  const { endpoint, method, kind, status } = failure
  const how =
    status === undefined || status === 200 ? `failed ${method} (${kind})` : `answered ${status} to ${method} (${kind})`
  return new AlmanacError(code, `${chain} endpoint ${endpoint} ${how}.`, {
    cause: new Error(said),
    hint,
    details: failure,
    retryable: retryable ?? rule.retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** The failure behind an error that this module made; undefined for any other. */
export function rpcFailureOf(error: unknown): RpcFailure | undefined {
  if (!(error instanceof AlmanacError)) return undefined
  const failure = error.details as Partial<RpcFailure> | undefined
  return failure?.kind !== undefined && rpcFailureKinds.includes(failure.kind) ? (failure as RpcFailure) : undefined
}

export type Refusal = { status: number; rpcCode: number | undefined; text: string; method: string }
export type Sorted = { kind: RpcFailureKind; blocksAllowed?: number }

/** Sorts a refusal by its words first, then by its code, then by its HTTP status: codes mean different things at each provider. */
export function sortRefusal({ status, rpcCode, text, method }: Refusal): Sorted {
  if (rpcCode === 4444) return { kind: 'pruned' }
  if (rpcCode === 3) return { kind: 'reverted' }
  if (rpcCode === -32601) return { kind: 'method-missing' }
  // A gateway that answers 429 is over its limit whatever else it says, and "limit" wordings abound.
  const worded = refusalWordings.find(wording => wording.said.test(text))?.kind
  const kind =
    status === 429 && worded !== 'quota'
      ? 'rate-limited'
      : (worded ?? kindOfCode(rpcCode, method) ?? kindOfStatus(status))
  const blocksAllowed = splittable.has(kind) ? blocksAllowedBy(text) : undefined
  return blocksAllowed === undefined ? { kind } : { kind, blocksAllowed }
}

const splittable = new Set<RpcFailureKind>(['range-too-large', 'too-many-results', 'response-too-large'])

function kindOfCode(code: number | undefined, method: string): RpcFailureKind | undefined {
  // EIP-1474 calls -32005 "limit exceeded": of results where logs were asked for, of requests elsewhere.
  if (code === -32005) return method === 'eth_getLogs' ? 'too-many-results' : 'rate-limited'
  if (code === -32004) return 'method-missing'
  if (code === -32002) return 'timeout'
  if (code === -32003) return 'response-too-large'
  if (code === -39001) return 'behind'
  return undefined
}

function kindOfStatus(status: number): RpcFailureKind {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 413) return 'response-too-large'
  if (status >= 500) return 'transport'
  return 'refused'
}

function blocksAllowedBy(text: string): number | undefined {
  const range = suggestedRange.exec(text) ?? suggestedNumbers.exec(text)
  const blocks = range === null ? numberIn(allowedBlocks.exec(text)) : Number(range[2]) - Number(range[1]) + 1
  return blocks !== undefined && blocks >= 1 && blocks < 1e9 ? blocks : undefined
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  if (match?.[1] === undefined) return undefined
  return Number(match[1].replaceAll(',', '')) * (match[2] ? 1_000 : 1)
}
