// The schemas of the operators' routes, for the OpenAPI document and the clients that are typed by it.
import { z } from 'zod'
import { parseHours } from '../daily-hours.ts'
import { keyNamePattern, scopes, usualLimits } from '../keys/keys.ts'
import { usualGrace } from '../keys/rotate-key.ts'
import {
  type BackfillStatus,
  type EndpointStatus,
  type IndexerStatus,
  type SourceStatus,
  shownEvidences,
  solanaNetworks,
} from '../model.ts'
import { problemKinds } from '../query/problems.ts'
import { viewNames } from '../views.ts'
import { measures } from './live-history.ts'

const moment = z.iso.datetime()

const problem = z.object({ problem: z.enum(problemKinds), chain: z.string().optional(), reason: z.string() })

export const health = z.object({
  status: z.literal('ok'),
  store_id: z
    .string()
    .optional()
    .describe('The same for every process on one store; absent until the store has answered.'),
})
export const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  reason: z.string().optional().describe('Why nothing can be served.'),
  problems: z
    .array(problem)
    .optional()
    .describe('What is wrong; a service with problems may still be ready. Absent where nothing is.'),
})

export const accountList = z.object({
  network: z.enum(solanaNetworks as ['mainnet', 'devnet']),
  accounts: z.array(z.object({ address: z.string(), read_at: moment })),
  before: z.string().nullable().describe('Pass it to get the next ones; null on the last page.'),
})

const limits = {
  rate_per_second: z.int().nullable(),
  quota_per_day: z.int().nullable(),
  index_per_day: z.int().nullable(),
  index_waiting: z.int().nullable(),
}

const requestsOfClients =
  'Requests of clients, in UTC: not those for operators, nor those that a browser sends from pages of this service with a key that has the scope `ops`.'

export const key = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(['active', 'expired', 'revoked']),
  scopes: z.array(z.string()),
  ...limits,
  unlimited: z.boolean().describe('Whether it has none of these limits.'),
  used_today: z.int().describe('All requests, as the quota counts them.'),
  requests_today: z.int().describe(requestsOfClients),
  last_used_on: z.iso.date().nullable().describe('The last day in UTC; null where it is more than 30 days ago.'),
  created_at: moment.nullable(),
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  replaces_id: z.string().nullable().describe('The id of the key that it was made to replace.'),
  from_environment: z
    .boolean()
    .describe("Whether it is the operator's own key (`ALMANAC_KEY`), which is neither rotated nor revoked here."),
})

export const keyList = z.object({
  keys: z.array(key),
  asked_by: z.string().describe('Id of the key that was sent with this request.'),
})

export const issuedKey = z.object({
  ...key.shape,
  secret: z.string().describe('Shown only in this answer; the service keeps a hash.'),
})

export const rotatedKey = z.object({ ...issuedKey.shape, replaces: key.describe('The old key, with its new end.') })

export const newRotation = z.strictObject({
  grace: z
    .string()
    .max(10)
    .optional()
    .describe(`How long the old key works on: a span such as 24h or 7d, or 0. Defaults to ${usualGrace}.`),
})

const countMax = 999_999_999_999

/** Usual where it is left out, none where it is null. */
const limit = (least: number) => z.int().min(least).max(countMax).nullish()

export const newKey = z.strictObject({
  name: z.string().regex(keyNamePattern).describe('For people: 1 to 100 characters on one line.'),
  scopes: z.array(z.enum(scopes)).min(1).describe('What the key may ask for.'),
  expires: z.string().max(40).optional().describe('A span such as 12h or 90d, or a date. Defaults to never.'),
  rate_per_second: limit(1).describe(`Defaults to ${usualLimits.ratePerSecond}.`),
  quota_per_day: limit(1).describe('Defaults to none.'),
  index_per_day: limit(0).describe(
    `Contracts, wallets and Solana owners a day, not kept yet, that are indexed on request of this key. Defaults to ${usualLimits.indexPerDay}.`,
  ),
  index_waiting: limit(1).describe(`How many of them may wait at once. Defaults to ${usualLimits.indexWaiting}.`),
})

const changed = (least: number) => limit(least).describe('Stays as it is where it is left out; null: no limit.')

export const keyChange = z.strictObject({
  name: newKey.shape.name.optional(),
  expires: newKey.shape.expires
    .unwrap()
    .nullish()
    .describe('A span from now such as 12h or 90d, or a date; null: never. Stays as it is where it is left out.'),
  rate_per_second: changed(1),
  quota_per_day: changed(1),
  index_per_day: changed(0),
  index_waiting: changed(1),
})

export const keyUse = z.object({
  id: z.string(),
  last_hour: z
    .object({
      answered: z.int(),
      limited: z.int().describe('With 429.'),
      forbidden: z.int().describe('With 403.'),
      refused: z.int().describe('With another status from 400 to 499, or with 501.'),
      failed: z.int().describe('With a status of 500 or more, except 501.'),
    })
    .describe('Answers of this process to the operations; zeros where the key is none of the last 200 that were sent.'),
  today: z
    .array(z.object({ use: z.string(), requests: z.int() }))
    .describe(
      'Requests of the day in UTC by the scope that they needed, of all processes, most first. `any`: every key may; `console`: of this console.',
    ),
  refusals: z
    .array(z.object({ at: moment, status: z.int(), code: z.string(), route: z.string() }))
    .describe('The last 20 that this process refused or failed to answer, newest first. Those not found are left out.'),
})

const throttle = {
  blocks_per_second: z.number().positive().optional().describe('Maximum, on average.'),
  hours: z
    .string()
    .refine(text => parseHours(text) !== undefined)
    .optional()
    .describe('Hours of the day in UTC in which history is filled, such as 22:00-06:00.'),
}

/** What is left out stays; within `throttle` it is as the settings say. */
export const newBackfillOrder = z.strictObject({
  paused: z.boolean().optional().describe('Whether history is filled. Stays as it is where it is left out.'),
  throttle: z
    .strictObject(throttle)
    .nullable()
    .optional()
    .describe('How fast and when; null: as the settings say. Stays as it is where it is left out.'),
})

const ordered = { by: z.string().describe('Who gave the order.'), at: moment }

export const backfillOrder = z.object({
  chain: z.string(),
  paused: z.object(ordered).nullable(),
  throttle: z.object({ ...throttle, ...ordered }).nullable(),
})

const backfill = z.object({
  state: z.enum(['open', 'paused', 'outside_hours']),
  paused: z
    .object({ by: z.string(), at: moment.optional() })
    .optional()
    .describe('Who paused it and when; by `settings` where the configuration does.'),
  hours: z.string().optional().describe('In UTC.'),
  opens_at: moment.optional().describe('When the hours begin; only outside of them.'),
  blocks_per_second: z.number().optional(),
}) satisfies z.ZodType<BackfillStatus>

const evidence = z.enum(shownEvidences)

const coverage = {
  intervals: z
    .array(z.object({ from: z.int(), to: z.int(), evidence }))
    .describe('Sorted. Only the longest ones where there are very many.'),
  intervals_total: z.int(),
  blocks: z.partialRecord(evidence, z.int()).describe('Blocks that each kind of evidence covers.'),
}

const endpoint = z.object({
  endpoint: z.string(),
  healthy: z.boolean(),
  reason: z.string().optional(),
  fault: z.string().nullish(),
  wrong_chain: z
    .literal(true)
    .optional()
    .describe('The endpoint serves another chain than the configured one, and is not used.'),
  head: z.int().optional(),
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
  slot: z.int().optional(),
  latency_ms: z.number().optional(),
  requests: z.int().optional(),
  errors: z.int().optional(),
}) satisfies z.ZodType<EndpointStatus>

const source = z.object({
  kind: z.enum(['files', 'portal']),
  name: z.string().describe('A folder, or the host of a portal.'),
  blocks: z.int().describe('That it has and did not get wrong.'),
  from: z.int().optional(),
  to: z.int().optional(),
  state: z.enum(['ready', 'waiting', 'failed', 'empty']),
  reason: z
    .string()
    .optional()
    .describe('Why it is not ready, or what of it cannot be read while it is: a path, or `history_summaries`.'),
  refused: z
    .array(z.object({ name: z.string(), block: z.int().optional(), reason: z.string() }))
    .describe('Files, or ranges of a portal, that are not used, and why.'),
}) satisfies z.ZodType<SourceStatus>

const chain = z.object({
  state: z.enum(['backfilling', 'live', 'stalled', 'disputed', 'store_full']),
  reason: z.string().optional(),
  dispute: z
    .object({
      block: z.int(),
      hashes: z.array(z.object({ hash: z.string(), endpoints: z.array(z.string()) })),
      since: z.string(),
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
  index: z.enum(['full', 'on-demand']).optional(),
  views: z
    .array(z.enum(viewNames))
    .optional()
    .describe('What a chain that is indexed in full keeps. Without `activity` wallets are looked up when requested.'),
  views_filling: z
    .array(z.object({ view: z.enum(viewNames), contracts: z.int(), of: z.int() }))
    .optional()
    .describe('Indexes that are filled from stored transfers: how many contracts are done, of how many.'),
  from: z.int().optional(),
  head: z.int().describe('-1 while unknown.'),
  finalized: z.int().describe('-1 while unknown.'),
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
  complete: z.boolean(),
  eta_seconds: z.number().nullable(),
  rates: z
    .object({ blocks_per_second: z.number(), rows_per_second: z.number(), bytes_per_second: z.number() })
    .nullish()
    .describe('Of the last minute; null where nothing is being read.'),
  blocks_left: z
    .int()
    .optional()
    .describe('Blocks of history that are still missing, those that no source has included.'),
  backfill: backfill
    .optional()
    .describe('Whether history may be filled, and how fast. Absent where another process has the chain.'),
  recent: z
    .array(
      z.object({
        number: z.int(),
        hash: z.string().describe('Its first bytes.'),
        timestamp: z.int(),
        transfers: z.int().optional().describe('Of the newest ones, where the chain keeps `by_block`.'),
      }),
    )
    .optional()
    .describe('The newest stored blocks that are not final, lowest first. A number with another hash was replaced.'),
  queue: z
    .object({ running: z.int(), running_max: z.int(), waiting: z.int(), waiting_max: z.int() })
    .optional()
    .describe('Contracts that are being indexed on demand, and those that wait for it.'),
  coverage: z.object(coverage),
  transfers_blocks: z
    .int()
    .optional()
    .describe('Blocks whose transfers are covered; absent where all that is kept of them is.'),
  contracts: z.object({ total: z.int(), shown: z.array(z.object({ contract: z.string(), ...coverage })) }),
  rpc: z.array(endpoint).describe('Empty where the chain has no node.'),
  sources: z
    .array(source)
    .optional()
    .describe(
      'Files and portals that give history, in the order in which they are asked; absent where there are none.',
    ),
  ws: z
    .object({ endpoint: z.string(), connected: z.boolean(), reconnects: z.int() })
    .optional()
    .describe('The WebSocket that announces new heads, where one is configured.'),
})

const network = z.object({
  state: z.enum(['live', 'stalled']),
  reason: z.string().optional(),
  slot: z.int(),
  lag_seconds: z.number(),
  rpc: z.array(endpoint),
})

const storeFacts = z.object({
  engine: z.string(),
  location: z.string(),
  schema_version: z.int(),
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

const indexer = z.object({
  answers: z.boolean().describe('False: it is silent or starts again; its chains are as they were last known.'),
  restarts: z.int(),
  last_restart: z.string().optional().describe('Why it was last started again.'),
}) satisfies z.ZodType<IndexerStatus>

export const status = z.object({
  indexer: indexer.optional().describe('The thread that indexes EVM chains. Absent where there is none.'),
  chains: z.record(z.string(), z.unknown()),
  solana: z.record(z.string(), z.unknown()),
  store: storeFacts,
  new_key_limits: z.object(limits).describe('What a key gets for which no limits are given; null: no limit.'),
  version: z.string(),
})

const liveApi = z.object({
  requests_per_second: z
    .number()
    .describe(
      'Requests of clients to which this process admitted a key in the last minute: the same as `requests_today` counts.',
    ),
  errors_per_second: z.number().describe('Answers with a status of 500 or more, except 501.'),
  error_share: z
    .number()
    .describe('Share of these answers in the requests and in what failed before a key was looked at, from 0 to 1.'),
  refused_per_second: z
    .number()
    .describe(
      'Answers, with or without a key that was admitted, with a status from 400 to 499, or 501 for an operation that is not served.',
    ),
  p50_ms: z.number().nullable().describe('Time until half of the answers were ready; null while there was none.'),
  p99_ms: z.number().nullable(),
  requests_today: z.int().describe(`${requestsOfClients} Of all processes.`),
  keys_used_today: z.int().describe('Keys that these requests were sent with.'),
  keys: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        requests_per_second: z.number(),
        today: z.int(),
        quota_per_day: z.int().nullable(),
        refused_last_hour: z.int().describe('By this process, with a status from 400 to 499, or 501.'),
        failed_last_hour: z.int().describe('By this process, with a status of 500 or more, except 501.'),
      }),
    )
    .describe('The ten that are used most, those included that were only refused.'),
})

export const liveStatus = z.object({
  at: z.int().describe('Unix milliseconds.'),
  version: z.string(),
  sandbox: z
    .literal(true)
    .optional()
    .describe('The chains are local ones that `almanac start` made to try the service.'),
  store: storeFacts,
  problems: z.array(problem).describe('What is wrong, in the words of `/ready`.'),
  api: liveApi.optional().describe('Requests of clients: those for the console and for operators are not counted.'),
  chains: z.record(z.string(), chain),
  solana: z.record(z.string(), network),
})

const lineName = {
  measure: z.enum(measures),
  chain: z
    .string()
    .optional()
    .describe('Name of the chain, or of a Solana network such as `solana mainnet`; absent for figures of the API.'),
  endpoint: z.string().optional(),
  key: z.string().optional().describe('Id of the key whose requests are counted.'),
}

export const livePast = z.object({
  at: z.array(z.int()).describe('Unix milliseconds.'),
  lines: z.array(z.object({ ...lineName, values: z.array(z.number().nullable()) })),
})

export const liveSample = z.object({
  at: z.int(),
  values: z.array(z.object({ ...lineName, value: z.number() })),
})

export const liveBlock = z.object({ chain: z.string(), number: z.int() })

const mark = z.object({
  chain: z.string(),
  contract: z.string(),
  verified: z.boolean().nullable(),
  spam: z.boolean().nullable(),
  rank: z.enum(['operator', 'imported', 'built-in']),
  source: z.string(),
  updated_at: moment,
})

const flag = z.object({
  value: z.boolean(),
  because: z
    .enum(['pin', 'list', 'pack', 'rules', 'verified', 'nobody'])
    .describe(
      'What decided: the operator’s pin, an imported list, the built-in pack, the rules, that the collection is verified, or nothing (`nobody`).',
    ),
  mark: mark.nullable().describe('The entry of the operator, the list or the pack.'),
})

const interval = z.object({ from: z.int(), to: z.int(), evidence: z.string() })

const transfer = z.object({
  verdict: z.enum([
    'stored',
    'not covered',
    'above the head',
    'no transfer',
    'reverted',
    'unknown transaction',
    'missing',
    'not asked',
  ]),
  because: z.string(),
  rows: z.array(z.object({ block: z.int(), transaction_index: z.int(), log_index: z.int(), batch_index: z.int() })),
  covered: interval.nullable(),
  node: z
    .object({
      endpoint: z.string(),
      block: z.int(),
      transaction_index: z.int(),
      succeeded: z.boolean(),
      other_logs: z.int(),
      logs: z.array(z.object({ log_index: z.int(), transfers: z.int(), reason: z.string().nullable() })),
    })
    .nullable(),
})

export const explanation = z.object({
  chain: z.string(),
  contract: z.string(),
  possible_spam: z.object({
    ...flag.shape,
    score: z.number().nullable(),
    score_needed: z.number(),
    rules_version: z.int().nullable(),
    judged_at: moment.nullable(),
    judged_on: z.string().nullable(),
    rules: z.array(
      z.object({
        rule: z.string(),
        weight: z.number(),
        numbers: z.record(z.string(), z.union([z.number(), z.string()])),
        reason: z.string().nullable(),
      }),
    ),
  }),
  verified_collection: flag,
  name: z.string().nullable(),
  symbol: z.string().nullable(),
  interfaces: z.array(z.string()).nullable(),
  deployer: z.string().nullable(),
  deployer_label: z.string().nullable().describe('What answers show beside the address of the deployer.'),
  created_block: z.int().nullable(),
  read_at: moment.nullable(),
  labels: z.array(
    z.object({
      chain: z.string().nullable().describe('Null: on every chain.'),
      label: z.string(),
      rank: mark.shape.rank,
      source: z.string(),
      updated_at: moment,
      shown: z.boolean(),
    }),
  ),
  marks: z.array(mark),
  index: z.object({
    head: z.int().nullable(),
    finalized: z.int().nullable(),
    transfers: z.int(),
    impossible_sums: z
      .int()
      .nullable()
      .describe(
        'Wallets and tokens whose sum is below zero, which are not shown as holders; null while not every block is indexed.',
      ),
    covered: z.array(interval),
  }),
  transfer: transfer.optional(),
})
