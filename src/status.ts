// What a service tells of its chains, as schemas from which the types come: every field of `/status` is described here
// and nowhere else. It decides nothing.
import { z } from 'zod'
import { type CoverageScope, type Hash, shownEvidences } from './model.ts'
import { viewNames } from './views.ts'

/** A text that is parsed where it comes in. */
const textOf = <Text extends string>() => z.string() as unknown as z.ZodType<Text, Text>

/** What a schema describes, as code hands it on. */
export type Told<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : { readonly [Name in keyof Value]: Told<Value[Name]> }

export const problemKinds = [
  'store_silent',
  'store_missing',
  'store_replaced',
  'store_damaged',
  'store_full',
  'worker_dead',
  'indexer_silent',
  'chain_behind',
  'chain_disputed',
  'wrong_chain',
  'head_old',
] as const
const moment = z.iso.datetime()

export const finding = z.object({
  tone: z.enum(['bad', 'warn']).describe('`bad`: something does not work; `warn`: it goes on without something.'),
  text: z.string().describe('What is wrong, in a few words.'),
  detail: z.string().optional().describe('Why, or what to do.'),
  chain: z.string().optional().describe('The chain that it is about, or a network such as `solana mainnet`.'),
  key: z.string().optional().describe('Id of the key that it is about.'),
})

export const findings = z
  .array(finding)
  .describe('What is wrong, or soon will be, in words for people; the worst first.')

export const verdict = z
  .object({
    tone: z.enum(['good', 'warn', 'bad']).describe('`good` where nothing is wrong, else that of the worst finding.'),
    text: z.string().describe('That all is well, or what is worst.'),
    detail: z.string().describe('Why, or what to do; how far the chains are where there is nothing to do.'),
  })
  .describe('Whether the service is well.')

/** The head is followed, and requests are served, whatever it says. */
const backfill = z.object({
  state: z.enum(['open', 'paused', 'outside_hours']).describe('Whether history may be filled now.'),
  paused: z
    .object({ by: z.string().describe('Who.'), at: moment.optional().describe('When.') })
    .optional()
    .describe('Who paused it and when; by `settings` where the configuration does.'),
  hours: z.string().optional().describe('In UTC.'),
  opens_at: moment.optional().describe('When the hours begin; only outside of them.'),
  blocks_per_second: z.number().optional().describe('Maximum, on average; absent: none.'),
})

export const evidence = z.enum(shownEvidences).describe('What the blocks rest on.')
export const first = z.int().describe('First block.')
export const last = z.int().describe('Last block.')

const endpoint = z.object({
  endpoint: z.string().describe('Its host, without path and key.'),
  healthy: z.boolean().describe('Whether it is asked.'),
  reason: z.string().optional().describe('The last failure of an EVM endpoint.'),
  fault: z.string().nullish().describe('The last failure of a Solana endpoint; null while it is healthy.'),
  wrong_chain: z
    .literal(true)
    .optional()
    .describe('The endpoint serves another chain than the configured one, and is not used.'),
  head: z.int().optional().describe('Its newest block.'),
  history_from: z
    .int()
    .optional()
    .describe(
      'Lowest block that the endpoint has; older ones are asked of others. Absent: none is known to be missing.',
    ),
  receipts: z
    .enum(['raw', 'json', 'logs'])
    .optional()
    .describe(
      'What whole blocks of the endpoint are proven from: receipts as bytes (`debug_getRawReceipts`), receipts as JSON, or logs alone. Absent: not asked yet.',
    ),
  slot: z.int().optional().describe('Its newest slot, on Solana.'),
  latency_ms: z.number().optional().describe('Usual time until it answers.'),
  requests: z.int().optional().describe('Sent since the process started.'),
  errors: z.int().optional().describe('How many of them failed.'),
  concurrency: z.int().optional().describe('How many requests it is sent at once.'),
})

const source = z.object({
  kind: z.enum(['files', 'portal']).describe('Files in a folder, or a portal that is asked over HTTP.'),
  name: z.string().describe('A folder, or the host of a portal.'),
  blocks: z.int().describe('That it has and did not get wrong.'),
  from: z.int().optional().describe('Its first block.'),
  to: z.int().optional().describe('Its last block.'),
  state: z.enum(['ready', 'waiting', 'failed', 'empty']).describe('Whether history is read from it.'),
  reason: z
    .string()
    .optional()
    .describe('Why it is not ready, or what of it cannot be read while it is: a path, or `history_summaries`.'),
  refused: z
    .array(
      z.object({
        name: z.string().describe('The file, or the range.'),
        block: z.int().optional().describe('The block that is wrong, where it is known.'),
        reason: z.string().describe('Why it is not used.'),
      }),
    )
    .describe('Files, or ranges of a portal, that are not used, and why.'),
})

const queue = z.object({
  running: z.int().describe('Being indexed.'),
  running_max: z.int().describe('How many may be at once.'),
  waiting: z.int().describe('Waiting.'),
  waiting_max: z.int().describe('How many may wait.'),
})

const dailyBudget = z
  .object({
    calls: z.int().describe('Calls to its endpoints that were made today.'),
    left: z.int().describe('How many are left.'),
  })
  .optional()
  .describe('The budget of the day (UTC); absent where none is set.')

const chainState = z.enum(['backfilling', 'live', 'stalled', 'disputed', 'store_full'])

const tokenLedger = z.object({
  state: chainState.describe('As of the chain, for its ERC-20 tokens.'),
  index: z
    .enum(['full', 'on-demand'])
    .optional()
    .describe('Whether every token is indexed, or those that are asked for.'),
  reason: z.string().optional().describe('Why it is not live.'),
  head: z.int().describe('The newest block of the ledger; -1 while unknown.'),
  complete: z.boolean().describe('Whether every token, or every one that was asked for, is indexed.'),
  contracts: z
    .int()
    .optional()
    .describe('Tokens that are indexed on demand. Absent where another process has the ledger.'),
  queue: queue.optional().describe('Tokens that are being indexed, and those that wait for it.'),
  blocks_left: z.int().optional().describe('Blocks of history that are still missing.'),
  eta_seconds: z.number().nullable().describe('Time until it is complete at the current rate; null while unknown.'),
  too_large: z
    .array(
      z.object({
        contract: z.string().describe('The token.'),
        transfers: z.int().describe('About how many transfers it has.'),
        targets: z.int().describe('As how many targets reading the rest counts against `index_per_day` of a key.'),
        seconds: z.int().describe('About how long reading the rest takes.'),
      }),
    )
    .optional()
    .describe(
      'Tokens of which no key that asked may have all read: they are followed, and older transfers are missing.',
    ),
})

export const chainStatus = z.object({
  state: chainState.describe('`backfilling` follows the head while history is still missing; `live` has all of it.'),
  reason: z.string().optional().describe('Why it is not live.'),
  dispute: z
    .object({
      block: z.int().describe('The block that they disagree on.'),
      hashes: z
        .array(
          z.object({
            hash: textOf<Hash>().describe('The hash.'),
            endpoints: z.array(z.string()).describe('The endpoints that say so.'),
          }),
        )
        .describe('Each hash that is said of it.'),
      since: z.string().describe('When it was first seen.'),
    })
    .optional()
    .describe('Endpoints disagree on a block that should be final. Nothing new is claimed while it lasts.'),
  evidence_reason: z
    .string()
    .optional()
    .describe('Why blocks were stored as the word of endpoints, the last time; absent where everything was proven.'),
  new_header_fields: z
    .array(z.string())
    .optional()
    .describe(
      'Header fields of a fork that this version does not know. Blocks are proven with them; update when you can.',
    ),
  index: z.enum(['full', 'on-demand']).optional().describe('Whether every block is indexed, or what is asked for.'),
  views: z
    .array(z.enum(viewNames))
    .optional()
    .describe('What a chain that is indexed in full keeps. Without `activity` wallets are looked up when requested.'),
  views_filling: z
    .array(
      z.object({
        view: z.enum(viewNames).describe('The index.'),
        contracts: z.int().describe('Contracts that are done.'),
        of: z.int().describe('Contracts in all.'),
      }),
    )
    .optional()
    .describe('Indexes that are filled from stored transfers: how many contracts are done, of how many.'),
  from: z.int().optional().describe('The block at which its history begins, as configured.'),
  head: z.int().describe('The newest block; -1 while unknown.'),
  finalized: z.int().describe('The newest block that is final; -1 while unknown.'),
  lag_seconds: z.number().describe('Since the first block that is not stored yet, or since the last contact.'),
  following_seconds: z.number().optional().describe('For how long the process follows the head, or stands by.'),
  head_age_seconds: z.number().nullish().describe('Age of the newest block by the clock of the service.'),
  as_of: z
    .string()
    .optional()
    .describe('Of which block answers are, while the chain is stalled or its newest block is old. Absent otherwise.'),
  head_old: z
    .boolean()
    .optional()
    .describe(
      'The newest block is older than `head_age_max_seconds`, or 30 usual block times and two minutes: the node may have stopped.',
    ),
  complete: z.boolean().describe('Whether every block from the first to the head is indexed.'),
  eta_seconds: z.number().nullable().describe('Time until it is complete at the current rate; null while unknown.'),
  rates: z
    .object({
      blocks_per_second: z.number().describe('Blocks of history that were read.'),
      rows_per_second: z.number().describe('Rows that were stored.'),
      bytes_per_second: z.number().describe('Bytes that sources sent.'),
    })
    .nullish()
    .describe('Of the last minute; null where nothing is being read.'),
  blocks_left: z
    .int()
    .optional()
    .describe('Blocks of history that are still missing, those that no source has included.'),
  backfill: backfill
    .optional()
    .describe('Whether history may be filled, and how fast. Absent where another process has the chain.'),
  queue: queue.optional().describe('Contracts that are being indexed on demand, and those that wait for it.'),
  covered: z
    .array(
      z.object({
        from: first,
        to: last,
        evidence,
        scope: textOf<CoverageScope>().describe(
          'What is indexed of these blocks: `full`, `transfers`, `watched` or one contract.',
        ),
      }),
    )
    .describe('Which blocks are indexed, and what they rest on.'),
  contracts: z.int().optional().describe('Contracts that are indexed on demand; absent where the chain is full.'),
  erc20: tokenLedger
    .optional()
    .describe('The ledger of ERC-20 tokens. Absent until a token of the chain is asked for, unless it keeps them all.'),
  retention: z
    .object({
      contract_days: z.number().describe('For contracts.'),
      wallet_days: z.number().describe('For wallets.'),
    })
    .optional()
    .describe('Days without a request after which what was indexed on demand is let go; 0: never.'),
  rpc: z.array(endpoint).describe('Empty where the chain has no node.'),
  sources: z
    .array(source)
    .optional()
    .describe(
      'Files and portals that give history, in the order in which they are asked; absent where there are none.',
    ),
  ws: z
    .object({
      endpoint: z.string().describe('Its host, without path and key.'),
      connected: z.boolean().describe('Whether it is connected now.'),
      reconnects: z.int().describe('How often it was connected again.'),
    })
    .optional()
    .describe('The WebSocket that announces new heads, where one is configured.'),
  daily_budget: dailyBudget,
})

export const networkStatus = z.object({
  state: z.enum(['live', 'stalled']).describe('Whether an endpoint answers with new slots.'),
  reason: z.string().optional().describe('Why it is not live.'),
  slot: z.int().describe('The newest slot.'),
  lag_seconds: z.number().describe('Since the last contact.'),
  rpc: z.array(endpoint).describe('Its endpoints.'),
  daily_budget: dailyBudget,
})

export const storeFacts = z.object({
  engine: z.string().describe('`sqlite` or `postgres`.'),
  location: z.string().describe('The file, or the database without its password.'),
  schema_version: z.int().describe('The format of its tables.'),
  size_bytes: z.int().describe('On the disk, the write-ahead log of a file included.'),
  used_bytes: z.int().describe('Of them in use: the free pages of a file take new rows before it grows.'),
  bytes_max: z.int().nullable().describe('The setting `limits.store_bytes_max`; null where it is unset.'),
  full_in_seconds: z
    .int()
    .nullable()
    .describe(
      'When it will be full if it grows as in the last hours; null where it does not grow or too little is known.',
    ),
})

export const indexer = z.object({
  answers: z.boolean().describe('False: it is silent or starts again; its chains are as they were last known.'),
  restarts: z.int().describe('How often it was started again.'),
  last_restart: z.string().optional().describe('Why it was last started again.'),
})

/** Of all webhooks. */
export const webhookStatus = z.object({
  active: z.int().describe('Webhooks that send.'),
  retrying: z.int().describe('Webhooks that try again after a failure.'),
  paused: z.int().describe('Webhooks that their owners paused, or that ended with their keys.'),
  stopped: z.int().describe('Webhooks that were paused after failures.'),
  lag_seconds: z.int().describe('The longest time for which one that is not paused has not acknowledged something.'),
  behind: z
    .array(
      z.object({
        id: z.string().describe('Of the webhook.'),
        name: z.string().describe('Its name.'),
        state: z.enum(['active', 'retrying', 'paused']).describe('Whether it sends.'),
        reason: z.string().nullable().describe('Why it is not active.'),
        attempts: z.int().describe('Failed attempts of what it sends now.'),
        lag_seconds: z.int().describe('For how long there is something that was not acknowledged.'),
      }),
    )
    .describe('Those that fail or were stopped, and those behind for longer than a minute, at most 100.'),
})

const measures = [
  'lag_seconds',
  'blocks_per_second',
  'rows_per_second',
  'latency_ms',
  'healthy',
  'requests_per_second',
  'errors_per_second',
  'p50_ms',
  'p99_ms',
] as const

const lineName = {
  measure: z.enum(measures).describe('What is measured.'),
  chain: z
    .string()
    .exactOptional()
    .describe('Name of the chain, or of a Solana network such as `solana mainnet`; absent for figures of the API.'),
  endpoint: z.string().exactOptional().describe('The endpoint whose answers are measured; absent for the whole chain.'),
  key: z.string().exactOptional().describe('Id of the key whose requests are counted.'),
}

export const livePast = z.object({
  at: z.array(z.int()).describe('Unix milliseconds.'),
  lines: z
    .array(
      z.object({
        ...lineName,
        values: z.array(z.number().nullable()).describe('One for each moment; null: not known.'),
      }),
    )
    .describe('One for each figure.'),
})

export const liveSample = z.object({
  at: z.int().describe('Unix milliseconds.'),
  values: z
    .array(z.object({ ...lineName, value: z.number().describe('The figure; of `healthy` 1 or 0.') }))
    .describe('One for each figure.'),
})

export type Finding = Told<z.output<typeof finding>>
export type Verdict = Told<z.output<typeof verdict>>
export type EndpointStatus = Told<z.output<typeof endpoint>>
export type SourceStatus = Told<z.output<typeof source>>
export type BackfillStatus = Told<z.output<typeof backfill>>
export type QueueStatus = Told<z.output<typeof queue>>
export type ChainStatus = Told<z.output<typeof chainStatus>>
export type TokenLedgerStatus = Told<z.output<typeof tokenLedger>>
export type SolanaStatus = Told<z.output<typeof networkStatus>>
export type IndexerStatus = Told<z.output<typeof indexer>>
export type Dispute = NonNullable<ChainStatus['dispute']>
export type SocketStatus = NonNullable<ChainStatus['ws']>
export type BudgetStatus = NonNullable<ChainStatus['daily_budget']>
export type ProblemKind = (typeof problemKinds)[number]
export type WebhookStatus = Told<z.output<typeof webhookStatus>>
export type LivePast = z.output<typeof livePast>
export type LiveSample = z.output<typeof liveSample>

/** What indexers report for `/status`, by the name of the chain or network. */
export type StatusReport = {
  /** Absent where this process indexes no EVM chain. */
  indexer?: IndexerStatus
  chains: Readonly<Record<string, ChainStatus>>
  solana: Readonly<Record<string, SolanaStatus>>
  /** Absent where there are none. */
  webhooks?: WebhookStatus | undefined
}
