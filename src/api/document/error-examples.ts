// The errors that the OpenAPI document shows: those of an operation in its own words, where the words are its own, and
// for the rest one sample of each code. All are bodies as clients get them.
import { AlmanacError, type ErrorCode } from '../../errors.ts'
import { type Scope, scopeLacking } from '../../keys/keys.ts'
import { type Parameter, readParameter } from '../params.ts'
import { problemAnswer } from '../problem.ts'

export type FailureSchema = 'Failure' | 'SolanaFailure'

type Asked = {
  parameters: readonly { parameter: Parameter<unknown>; isRequired: boolean }[]
  /** That a key needs. */
  scope: Scope | undefined
  told: readonly AlmanacError[]
}

/** The errors in `told` come last, and win. */
export function ownErrors({ parameters, scope, told }: Asked): AlmanacError[] {
  const own = parameters.filter(({ parameter: { name } }) => name !== 'chain' && name !== 'network')
  const refused = own.find(({ isRequired }) => isRequired) ?? own[0] ?? parameters[0]
  return [
    ...(refused === undefined ? [] : refusalOf(refused.parameter)),
    ...(scope === undefined ? [] : [scopeLacking(scope)]),
    ...told,
  ]
}

/** Texts that people send by mistake; no parameter takes all of them. */
const mistakes = ['0x12', '-1', 'yesterday', '']
const likelyMistakes: readonly [name: RegExp, text: string][] = [
  [/^chains?$/, 'nowhere'],
  [/date$/, 'yesterday'],
  [/block$|^from$|^number$|^limit$/, '-1'],
]

function refusalOf(parameter: Parameter<unknown>): AlmanacError[] {
  const likely = likelyMistakes.filter(([name]) => name.test(parameter.name)).map(([, text]) => text)
  for (const text of [...likely, ...mistakes]) {
    try {
      readParameter(parameter, text)
    } catch (error) {
      if (error instanceof AlmanacError) return [error]
      throw error
    }
  }
  return []
}

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
  position_gone: [
    'What was told from block 16220243 on cannot be followed any more: forget what you keep of it, and go on with after=details.next',
    { from_block: 16_220_243, next: 'WzEsIm1SS2xVb0dRQ1hVRyIsWzAs…' },
  ],
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

export function sampleError(code: ErrorCode, schema: FailureSchema): AlmanacError {
  const [message, details] = (schema === 'Failure' ? evmSamples[code] : undefined) ?? samples[code] ?? [code]
  return new AlmanacError(code, message, { details })
}

export function sampleBody(error: AlmanacError, schema: FailureSchema): unknown {
  const answer = problemAnswer(error, {
    requestId: '4f1c9a2be0-1z',
    accept: undefined,
    solana: schema === 'SolanaFailure',
  })
  return JSON.parse(Buffer.from(answer.body as Uint8Array).toString())
}
