// What can go wrong with a JSON-RPC request, as a closed list of kinds. Every failure becomes an AlmanacError that
// names the endpoint and never shows its URL.
import { AlmanacError, type ErrorCode } from '../errors.ts'

export type FailureRule = {
  code: ErrorCode
  retryable: boolean
  hint?: string | undefined
  /** When to come back where the endpoint does not say. */
  retryAfterMs?: number | undefined
}

const failed = (retryable: boolean, hint?: string): FailureRule => ({ code: 'upstream_failed', retryable, hint })
const fewerBlocks = failed(false, 'ask for fewer blocks at once.')
const limited = (hint: string): FailureRule => ({ code: 'upstream_rate_limited', retryable: true, hint })

const unreachedHint = 'check that the node runs and can be reached.'
const unresolvedHint = 'check the spelling of the host, or the network: its name has no address.'
/** Of an endpoint whose URL begins with https. */
export const withoutTls = 'no TLS at this port'
const plainHint = 'use http:// instead of https:// where the node has no TLS, or check the port.'
const certificateHint = 'name the authority of its certificate in NODE_EXTRA_CA_CERTS, or check the host.'

const rules = {
  'range-too-large': fewerBlocks,
  'too-many-results': fewerBlocks,
  'response-too-large': fewerBlocks,
  'filter-too-large': failed(false, 'ask for fewer contracts at once.'),
  timeout: { ...failed(true, 'check that the node is not overloaded, or add a second endpoint.'), code: 'timeout' },
  'rate-limited': limited('lower requests_per_second or add a second endpoint.'),
  quota: limited('raise the plan at the provider or add a second endpoint.'),
  'method-missing': { ...failed(false, 'enable the method on the node or add another endpoint.'), code: 'not_found' },
  pruned: failed(false, 'add an archive endpoint, or set `from` above what is pruned.'),
  behind: failed(true, 'wait until the node has synced, or add a second endpoint.'),
  'tag-unknown': failed(false),
  'batch-refused': failed(false),
  unauthorized: failed(false, 'check the key in the URL of the endpoint.'),
  /** What it serves instead says what to do. */
  'wrong-chain': { ...failed(false), code: 'upstream_invalid' },
  reverted: failed(false),
  /** The endpoint refuses this question and answers others. */
  'question-refused': failed(true),
  'invalid-answer': {
    ...failed(true, 'check what answers at this address, or add a second endpoint.'),
    code: 'upstream_invalid',
  },
  transport: failed(true, unreachedHint),
  refused: failed(true, "read the node's error message, or add a second endpoint."),
  'no-endpoint': failed(true, 'add an endpoint of another provider.'),
} as const satisfies Record<string, FailureRule>

export type RpcFailureKind = keyof typeof rules

/** Worth another try at the same endpoint, on every chain. */
export const repeatableKinds = new Set<RpcFailureKind>(['transport', 'rate-limited', 'invalid-answer', 'refused'])

/**
 * One call of a batch may fail so while the others are answered: what came is kept, and the call is sent again. Any
 * other failure is about the question, and sending it again would not help.
 */
const passingKinds = new Set<RpcFailureKind>([...repeatableKinds, 'timeout', 'behind'])

export function isPassing(error: unknown): error is AlmanacError {
  const failure = rpcFailureOf(error)
  return failure !== undefined && passingKinds.has(failure.kind)
}

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

/** `said` is the cause in the endpoint's own words, without secrets; `rule` overrides that of the kind. */
export type FailureContext = {
  chain: string
  said: string
  retryAfterMs?: number | undefined
  rule?: Partial<FailureRule> | undefined
}

export function rpcError(failure: RpcFailure, { chain, said, retryAfterMs, rule }: FailureContext): AlmanacError {
  const { endpoint, method, kind } = failure
  const { code, retryable, hint: usual, retryAfterMs: laterMs }: FailureRule = { ...rules[kind], ...rule }
  const hint = isOfWebsite(failure, said)
    ? 'this may be no JSON-RPC node: check the URL and its path.'
    : kind === 'transport'
      ? (hintOfTransport(said) ?? usual)
      : usual
  const isOther = kind === 'wrong-chain'
  const message =
    kind === 'no-endpoint'
      ? `No ${chain} endpoint answers ${method}.`
      : `${chain} endpoint ${endpoint} ${isOther ? said : howOf(failure)}.`
  const comeBackMs = retryAfterMs ?? laterMs
  return new AlmanacError(code, message, {
    ...(isOther ? {} : { cause: new Error(said) }),
    details: failure,
    operatorsOnly: true,
    retryable,
    ...(hint === undefined ? {} : { hint }),
    ...(comeBackMs === undefined ? {} : { retryAfterMs: comeBackMs }),
  })
}

/** Nodes answer a question with JSON; a wrong path may still be one of a provider. */
function isOfWebsite({ kind, status, rpcCode }: RpcFailure, said: string): boolean {
  if (kind === 'refused') return rpcCode === undefined && (status === 404 || status === 405)
  return kind === 'invalid-answer' && said.includes('an HTML page')
}

/** What to do about an endpoint that could not be reached, where the reason tells. */
function hintOfTransport(said: string): string | undefined {
  if (/\b(ENOTFOUND|EAI_AGAIN)\b/.test(said)) return unresolvedHint
  if (said.includes(withoutTls)) return plainHint
  return /\bcertificate\b/.test(said) ? certificateHint : undefined
}

/** The last failure of an endpoint has no hint: where it could not be reached, here it gets one. */
export function withHint(reason: string): string {
  if (!/ did not answer \w+(?! in time)\b/.test(reason)) return reason
  return `${reason.replace(/\.?$/, '.')} Try: ${hintOfTransport(reason) ?? unreachedHint}`
}

function howOf({ method, kind, status }: RpcFailure): string {
  const answered = status === undefined || status === 200 ? undefined : `answered ${status} to ${method}`
  if (kind === 'transport') return answered ?? `did not answer ${method}`
  if (kind === 'timeout') return answered ?? `did not answer ${method} in time`
  return `${answered ?? `failed ${method}`} (${kind})`
}

/** The failure of an error that `rpcError` made; undefined for any other error. */
export function rpcFailureOf(error: unknown): RpcFailure | undefined {
  if (!(error instanceof AlmanacError)) return undefined
  const failure = error.details as Partial<RpcFailure> | undefined
  return failure?.kind !== undefined && failure.kind in rules ? (failure as RpcFailure) : undefined
}

export type Refusal = { status: number; rpcCode: number | undefined; text: string; method: string }
export type SortedRefusal = { kind: RpcFailureKind; blocksAllowed?: number }

/** The last resort where neither the words nor the code of a refusal say what it means. */
export function kindOfStatus(status: number): RpcFailureKind {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 413) return 'response-too-large'
  if (status === 429) return 'rate-limited'
  if (status >= 500) return 'transport'
  return 'refused'
}
