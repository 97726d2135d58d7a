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

const chainName = z.string().describe('Short name of the chain.')

const problem = z.object({
  problem: z.enum(problemKinds).describe('What kind of problem it is.'),
  chain: z.string().optional().describe('The chain or network that has it; absent where it is of the whole service.'),
  reason: z.string().describe('What is wrong, in a sentence.'),
})

export const health = z.object({
  status: z.literal('ok').describe('The process answers.'),
  store_id: z
    .string()
    .optional()
    .describe('The same for every process on one store; absent until the store has answered.'),
})
export const readiness = z.object({
  status: z.enum(['ready', 'not ready']).describe('Whether requests can be served.'),
  reason: z.string().optional().describe('Why nothing can be served.'),
  problems: z
    .array(problem)
    .optional()
    .describe('What is wrong; a service with problems may still be ready. Absent where nothing is.'),
})

export const accountList = z.object({
  network: z.enum(solanaNetworks as ['mainnet', 'devnet']).describe('The Solana network.'),
  accounts: z
    .array(
      z.object({
        address: z.string().describe('Address of the account, in base58.'),
        read_at: moment.describe('When a node was last asked for it.'),
      }),
    )
    .describe('The last one that was read comes first.'),
  before: z.string().nullable().describe('Pass it to get the next ones; null on the last page.'),
})

const limits = {
  rate_per_second: z.int().nullable().describe('Requests that it may send in a second; null: no limit.'),
  quota_per_day: z.int().nullable().describe('Requests that it may send in a day (UTC); null: no limit.'),
  index_per_day: z
    .int()
    .nullable()
    .describe('Contracts, wallets and Solana owners that it may have indexed in a day (UTC); null: no limit.'),
  index_waiting: z.int().nullable().describe('How many of these may wait at once on a chain; null: no limit.'),
}

const requestsOfClients =
  'Requests of clients, in UTC: not those for operators, nor those that a browser sends from pages of this service with a key that has the scope `ops`.'

export const key = z.object({
  id: z.string().describe('Names the key in requests for operators. It is not the secret.'),
  name: z.string().describe('For people.'),
  state: z.enum(['active', 'expired', 'revoked']).describe('Whether it works now, and if not, why.'),
  scopes: z.array(z.string()).describe('What it may ask for.'),
  ...limits,
  unlimited: z.boolean().describe('Whether it has none of these limits.'),
  used_today: z.int().describe('All requests, as the quota counts them.'),
  requests_today: z.int().describe(requestsOfClients),
  last_used_on: z.iso.date().nullable().describe('The last day in UTC; null where it is more than 30 days ago.'),
  created_at: moment.nullable().describe('When it was issued; null where that is not known.'),
  expires_at: moment.nullable().describe('When it stops working; null: never.'),
  revoked_at: moment.nullable().describe('When it was revoked; null where it was not.'),
  replaces_id: z.string().nullable().describe('The id of the key that it was made to replace.'),
  from_environment: z
    .boolean()
    .describe("Whether it is the operator's own key (`ALMANAC_KEY`), which is neither rotated nor revoked here."),
})

export const keyList = z.object({
  keys: z.array(key).describe('Every key, those that expired or were revoked included.'),
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
  rate_per_second: limit(1).describe(
    `Requests that the key may send in a second. Defaults to ${usualLimits.ratePerSecond}; null: no limit.`,
  ),
  quota_per_day: limit(1).describe('Requests that the key may send in a day (UTC). Left out or null: no limit.'),
  index_per_day: limit(0).describe(
    `Contracts, wallets and Solana owners a day, not kept yet, that are indexed on request of this key. Defaults to ${usualLimits.indexPerDay}; null: no limit.`,
  ),
  index_waiting: limit(1).describe(
    `How many of them may wait at once. Defaults to ${usualLimits.indexWaiting}; null: no limit.`,
  ),
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
  id: z.string().describe('Id of the key.'),
  last_hour: z
    .object({
      answered: z.int().describe('With a status below 400.'),
      limited: z.int().describe('With 429.'),
      forbidden: z.int().describe('With 403.'),
      refused: z.int().describe('With another status from 400 to 499, or with 501.'),
      failed: z.int().describe('With a status of 500 or more, except 501.'),
    })
    .describe('Answers of this process to the operations; zeros where the key is none of the last 200 that were sent.'),
  today: z
    .array(
      z.object({
        use: z.string().describe('The scope, `any` or `console`.'),
        requests: z.int().describe('How many were sent.'),
      }),
    )
    .describe(
      'Requests of the day in UTC by the scope that they needed, of all processes, most first. `any`: every key may; `console`: of this console.',
    ),
  refusals: z
    .array(
      z.object({
        at: moment.describe('When it was answered.'),
        status: z.int().describe('The HTTP status.'),
        code: z.string().describe('The code of the error.'),
        route: z.string().describe('The route that was asked, with names in the place of values.'),
      }),
    )
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

const ordered = { by: z.string().describe('Who gave the order.'), at: moment.describe('When.') }

export const backfillOrder = z.object({
  chain: chainName,
  paused: z.object(ordered).nullable().describe('Who paused its history; null where an order does not.'),
  throttle: z
    .object({ ...throttle, ...ordered })
    .nullable()
    .describe('How fast and when its history is filled; null: as the settings say.'),
})

const backfill = z.object({
  state: z.enum(['open', 'paused', 'outside_hours']).describe('Whether history may be filled now.'),
  paused: z
    .object({ by: z.string().describe('Who.'), at: moment.optional().describe('When.') })
    .optional()
    .describe('Who paused it and when; by `settings` where the configuration does.'),
  hours: z.string().optional().describe('In UTC.'),
  opens_at: moment.optional().describe('When the hours begin; only outside of them.'),
  blocks_per_second: z.number().optional().describe('Maximum, on average; absent: none.'),
}) satisfies z.ZodType<BackfillStatus>

const evidence = z.enum(shownEvidences).describe('What the blocks rest on.')
const first = z.int().describe('First block.')
const last = z.int().describe('Last block.')

const coverage = {
  intervals: z
    .array(z.object({ from: first, to: last, evidence }))
    .describe('Sorted. Only the longest ones where there are very many.'),
  intervals_total: z.int().describe('How many intervals there are, those not shown included.'),
  blocks: z.partialRecord(evidence, z.int()).describe('Blocks that each kind of evidence covers.'),
}

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
}) satisfies z.ZodType<EndpointStatus>

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
}) satisfies z.ZodType<SourceStatus>

const dailyBudget = z
  .object({
    calls: z.int().describe('Calls to its endpoints that were made today.'),
    left: z.int().describe('How many are left.'),
  })
  .optional()
  .describe('The budget of the day (UTC); absent where none is set.')

const chain = z.object({
  state: z
    .enum(['backfilling', 'live', 'stalled', 'disputed', 'store_full'])
    .describe('`backfilling` follows the head while history is still missing; `live` has all of it.'),
  reason: z.string().optional().describe('Why it is not live.'),
  dispute: z
    .object({
      block: z.int().describe('The block that they disagree on.'),
      hashes: z
        .array(
          z.object({
            hash: z.string().describe('The hash.'),
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
  recent: z
    .array(
      z.object({
        number: z.int().describe('Number of the block.'),
        hash: z.string().describe('Its first bytes.'),
        timestamp: z.int().describe('Time of the block, in unix seconds.'),
        transfers: z.int().optional().describe('Of the newest ones, where the chain keeps `by_block`.'),
      }),
    )
    .optional()
    .describe('The newest stored blocks that are not final, lowest first. A number with another hash was replaced.'),
  queue: z
    .object({
      running: z.int().describe('Being indexed.'),
      running_max: z.int().describe('How many may be at once.'),
      waiting: z.int().describe('Waiting.'),
      waiting_max: z.int().describe('How many may wait.'),
    })
    .optional()
    .describe('Contracts that are being indexed on demand, and those that wait for it.'),
  coverage: z.object(coverage).describe('Which blocks are indexed whole, and what they rest on.'),
  transfers_blocks: z
    .int()
    .optional()
    .describe('Blocks whose transfers are covered; absent where all that is kept of them is.'),
  contracts: z
    .object({
      total: z.int().describe('How many there are.'),
      shown: z
        .array(z.object({ contract: z.string().describe('Address of the contract.'), ...coverage }))
        .describe('Some of them, each with its blocks.'),
    })
    .describe('Contracts that are indexed on demand.'),
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

/** As `/status` has it: each interval with its scope, and nothing that is made for pages of the console. */
const reportedChain = z.object({
  ...chain.omit({ coverage: true, transfers_blocks: true, contracts: true, recent: true }).shape,
  covered: z
    .array(
      z.object({
        from: first,
        to: last,
        evidence,
        scope: z.string().describe('What is indexed of these blocks: `full`, `transfers`, `watched` or one contract.'),
      }),
    )
    .describe('Which blocks are indexed, and what they rest on.'),
  contracts: z.int().optional().describe('Contracts that are indexed on demand; absent where the chain is full.'),
  retention: z
    .object({
      contract_days: z.number().describe('For contracts.'),
      wallet_days: z.number().describe('For wallets.'),
    })
    .optional()
    .describe('Days without a request after which what was indexed on demand is let go; 0: never.'),
})

const network = z.object({
  state: z.enum(['live', 'stalled']).describe('Whether an endpoint answers with new slots.'),
  reason: z.string().optional().describe('Why it is not live.'),
  slot: z.int().describe('The newest slot.'),
  lag_seconds: z.number().describe('Since the last contact.'),
  rpc: z.array(endpoint).describe('Its endpoints.'),
  daily_budget: dailyBudget,
})

const storeFacts = z.object({
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

const indexer = z.object({
  answers: z.boolean().describe('False: it is silent or starts again; its chains are as they were last known.'),
  restarts: z.int().describe('How often it was started again.'),
  last_restart: z.string().optional().describe('Why it was last started again.'),
}) satisfies z.ZodType<IndexerStatus>

export const status = z.object({
  indexer: indexer.optional().describe('The thread that indexes EVM chains. Absent where there is none.'),
  chains: z.record(z.string(), reportedChain).describe('How far each EVM chain is, by name.'),
  solana: z.record(z.string(), network).describe('How each Solana network is, by name.'),
  store: storeFacts.describe('Where rows are kept.'),
  new_key_limits: z.object(limits).describe('What a key gets for which no limits are given; null: no limit.'),
  version: z.string().describe('Of Almanac.'),
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
  p99_ms: z.number().nullable().describe('Time until 99 of 100 answers were ready; null while there was none.'),
  requests_today: z.int().describe(`${requestsOfClients} Of all processes.`),
  keys_used_today: z.int().describe('Keys that these requests were sent with.'),
  keys: z
    .array(
      z.object({
        id: z.string().describe('Id of the key.'),
        name: z.string().describe('Name of the key.'),
        requests_per_second: z.number().describe('In the last minute.'),
        today: z.int().describe('Requests of the day (UTC).'),
        quota_per_day: limits.quota_per_day,
        refused_last_hour: z.int().describe('By this process, with a status from 400 to 499, or 501.'),
        failed_last_hour: z.int().describe('By this process, with a status of 500 or more, except 501.'),
      }),
    )
    .describe('The ten that are used most, those included that were only refused.'),
})

export const liveStatus = z.object({
  at: z.int().describe('Unix milliseconds.'),
  version: z.string().describe('Of Almanac.'),
  sandbox: z
    .literal(true)
    .optional()
    .describe('The chains are local ones that `almanac start` made to try the service.'),
  store: storeFacts.describe('Where rows are kept.'),
  problems: z.array(problem).describe('What is wrong, in the words of `/ready`.'),
  api: liveApi.optional().describe('Requests of clients: those for the console and for operators are not counted.'),
  chains: z.record(z.string(), chain).describe('How far each EVM chain is, by name.'),
  solana: status.shape.solana,
})

const lineName = {
  measure: z.enum(measures).describe('What is measured.'),
  chain: z
    .string()
    .optional()
    .describe('Name of the chain, or of a Solana network such as `solana mainnet`; absent for figures of the API.'),
  endpoint: z.string().optional().describe('The endpoint whose answers are measured; absent for the whole chain.'),
  key: z.string().optional().describe('Id of the key whose requests are counted.'),
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

export const liveBlock = z.object({ chain: chainName, number: z.int().describe('Number of the block.') })

const mark = z.object({
  chain: chainName,
  contract: z.string().describe('Address of the contract.'),
  verified: z.boolean().nullable().describe('Whether it marks the collection as verified; null: it does not say.'),
  spam: z.boolean().nullable().describe('Whether it marks the contract as spam; null: it does not say.'),
  rank: z.enum(['operator', 'imported', 'built-in']).describe('Whose entry it is; the operator’s counts first.'),
  source: z.string().describe('Where it comes from.'),
  updated_at: moment.describe('When it was last changed.'),
})

const flag = z.object({
  value: z.boolean().describe('What answers show.'),
  because: z
    .enum(['pin', 'list', 'pack', 'rules', 'verified', 'nobody'])
    .describe(
      'What decided: the operator’s pin, an imported list, the built-in pack, the rules, that the collection is verified, or nothing (`nobody`).',
    ),
  mark: mark.nullable().describe('The entry of the operator, the list or the pack.'),
})

const interval = z.object({ from: first, to: last, evidence: z.string().describe('What the blocks rest on.') })

const transfer = z.object({
  verdict: z
    .enum([
      'stored',
      'not covered',
      'above the head',
      'no transfer',
      'reverted',
      'unknown transaction',
      'missing',
      'not asked',
    ])
    .describe('Whether the transfer is stored, and if not, which kind of reason there is.'),
  because: z.string().describe('The reason in a sentence.'),
  rows: z
    .array(
      z.object({
        block: z.int().describe('Number of the block.'),
        transaction_index: z.int().describe('Place of the transaction in its block, from 0.'),
        log_index: z.int().describe('Place of the event in its block, from 0.'),
        batch_index: z.int().describe('Place in a batch of the event, from 0.'),
      }),
    )
    .describe('The stored rows of the transaction.'),
  covered: interval.nullable().describe('The indexed blocks around it; null where its block is not indexed.'),
  node: z
    .object({
      endpoint: z.string().describe('That was asked.'),
      block: z.int().describe('The block of the transaction.'),
      transaction_index: z.int().describe('Its place in the block, from 0.'),
      succeeded: z.boolean().describe('False: it was reverted, and moved nothing.'),
      other_logs: z.int().describe('Events of other contracts.'),
      logs: z
        .array(
          z.object({
            log_index: z.int().describe('Place of the event in its block, from 0.'),
            transfers: z.int().describe('How many transfers the event is.'),
            reason: z.string().nullable().describe('Why it is none; null where it is one.'),
          }),
        )
        .describe('Events of the contract.'),
    })
    .nullable()
    .describe('What a node says of the transaction; null where none was asked.'),
})

export const explanation = z.object({
  chain: chainName,
  contract: z.string().describe('Address of the contract.'),
  possible_spam: z
    .object({
      ...flag.shape,
      score: z.number().nullable().describe('Sum of the weights of the rules that apply; null while not judged.'),
      score_needed: z.number().describe('From this score on the rules call it spam.'),
      rules_version: z.int().nullable().describe('Of the rules that judged; null while not judged.'),
      judged_at: moment.nullable().describe('When the rules judged; null while they have not.'),
      judged_on: z.string().nullable().describe('What the judgement rests on; null while there is none.'),
      rules: z
        .array(
          z.object({
            rule: z.string().describe('Name of the rule: `/docs/spam-rules.html`.'),
            weight: z.number().describe('What it adds to the score.'),
            numbers: z.record(z.string(), z.union([z.number(), z.string()])).describe('What it counted.'),
            reason: z.string().nullable().describe('Why it applies, in a sentence.'),
          }),
        )
        .describe('The rules that apply.'),
    })
    .describe('Whether answers call it spam, and what decided.'),
  verified_collection: flag.describe('Whether answers call it verified, and what decided.'),
  name: z.string().nullable().describe('As the contract says itself; null where it was not read or has none.'),
  symbol: z.string().nullable().describe('As the contract says itself; null where it was not read or has none.'),
  interfaces: z.array(z.string()).nullable().describe('Standards that it says it has; null where it was not asked.'),
  deployer: z.string().nullable().describe('Who created it; null where that is not known.'),
  deployer_label: z.string().nullable().describe('What answers show beside the address of the deployer.'),
  created_block: z.int().nullable().describe('The block that created it; null where that is not known.'),
  read_at: moment.nullable().describe('When the contract was last asked; null: never.'),
  labels: z
    .array(
      z.object({
        chain: z.string().nullable().describe('Null: on every chain.'),
        label: z.string().describe('The label.'),
        rank: mark.shape.rank,
        source: mark.shape.source,
        updated_at: mark.shape.updated_at,
        shown: z.boolean().describe('Whether answers show it.'),
      }),
    )
    .describe('Every label of its address.'),
  marks: z.array(mark).describe('Every entry about it.'),
  index: z
    .object({
      head: z.int().nullable().describe('The newest block of the chain; null while unknown.'),
      finalized: z.int().nullable().describe('The newest block that is final; null while unknown.'),
      transfers: z.int().describe('Stored transfers of the contract.'),
      impossible_sums: z
        .int()
        .nullable()
        .describe(
          'Wallets and tokens whose sum is below zero, which are not shown as holders; null while not every block is indexed.',
        ),
      covered: z.array(interval).describe('Indexed blocks of the contract.'),
    })
    .describe('What is indexed of it.'),
  transfer: transfer.optional().describe('About the transaction that was asked for; absent where none was.'),
})
