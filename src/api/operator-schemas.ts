// The schemas of the operators' routes, for the OpenAPI document and the clients that are typed by it.
import { z } from 'zod'
import { parseHours } from '../daily-hours.ts'
import { solanaNetworks } from '../model.ts'
import {
  chainStatus,
  evidence,
  findings,
  first,
  indexer,
  last,
  networkStatus,
  problemKinds,
  storeFacts,
  type Told,
  verdict,
  webhookStatus,
} from '../status.ts'
import { key } from './key-schemas.ts'

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
  sandbox_key: z.string().optional().describe('The public key of a sandbox; absent where the service is not one.'),
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

const coverage = z.object({
  intervals: z
    .array(z.object({ from: first, to: last, evidence }))
    .describe('Sorted. Only the longest ones where there are very many.'),
  intervals_total: z.int().describe('How many intervals there are, those not shown included.'),
  blocks: z.partialRecord(evidence, z.int()).describe('Blocks that each kind of evidence covers.'),
})

/** As it is sent every second: with what pages of the console show, and counts in the place of long lists. */
const liveChain = z.object({
  ...chainStatus.omit({ covered: true, retention: true }).shape,
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
  coverage: coverage.describe('Which blocks are indexed whole, and what they rest on.'),
  transfers_blocks: z
    .int()
    .optional()
    .describe('Blocks whose transfers are covered; absent where all that is kept of them is.'),
  contracts: z
    .object({
      total: z.int().describe('How many there are.'),
      shown: z
        .array(z.object({ contract: z.string().describe('Address of the contract.'), ...coverage.shape }))
        .describe('Some of them, each with its blocks.'),
    })
    .describe('Contracts that are indexed on demand.'),
})

export const status = z.object({
  indexer: indexer.optional().describe('The thread that indexes EVM chains. Absent where there is none.'),
  chains: z.record(z.string(), chainStatus).describe('How far each EVM chain is, by name.'),
  solana: z.record(z.string(), networkStatus).describe('How each Solana network is, by name.'),
  store: storeFacts.describe('Where rows are kept.'),
  new_key_limits: key
    .pick({ rate_per_second: true, quota_per_day: true, index_per_day: true, index_waiting: true })
    .describe('What a key gets for which no limits are given; null: no limit.'),
  version: z.string().describe('Of Almanac.'),
  webhooks: webhookStatus.optional().describe('Whether webhooks are sent. Absent where there are none.'),
  verdict,
  findings,
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
  not_served_per_second: z
    .number()
    .describe('Of the refused those with 501, for operations of the hosted service that are not served.'),
  p50_ms: z.number().nullable().describe('Time until half of the answers were ready; null while there was none.'),
  p99_ms: z.number().nullable().describe('Time until 99 of 100 answers were ready; null while there was none.'),
  requests_today: z.int().describe(`${key.shape.requests_today.description} Of all processes.`),
  keys_used_today: z.int().describe('Keys that these requests were sent with.'),
  keys: z
    .array(
      z.object({
        id: z.string().describe('Id of the key.'),
        name: z.string().describe('Name of the key.'),
        requests_per_second: z.number().describe('In the last minute.'),
        today: z.int().describe('Requests of the day (UTC).'),
        quota_per_day: key.shape.quota_per_day,
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
  verdict,
  findings,
  api: liveApi.optional().describe('Requests of clients: those for the console and for operators are not counted.'),
  chains: z.record(z.string(), liveChain).describe('How far each EVM chain is, by name.'),
  solana: status.shape.solana,
})

export { livePast, liveSample } from '../status.ts'

export const liveBlock = z.object({ chain: chainName, number: z.int().describe('Number of the block.') })

export type LiveStatus = Told<z.output<typeof liveStatus>>
export type LiveChain = LiveStatus['chains'][string]
export type LiveApi = NonNullable<LiveStatus['api']>
export type LiveBlock = z.output<typeof liveBlock>

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

const explainedToken = z.object({
  name: z.string().nullable().describe('As the token says itself; null where it was not read or has none.'),
  symbol: z.string().nullable().describe('As the token says itself; null where it was not read or has none.'),
  decimals: z.int().nullable().describe('As the token says itself; null where it was not read or has none.'),
  head: z.int().nullable().describe('The newest block of its ledger; null while unknown.'),
  finalized: z.int().nullable().describe('The newest block that is final; null while unknown.'),
  transfers: z.int().describe('Stored transfers of the token.'),
  covered: z.array(interval).describe('Indexed blocks of the token.'),
  estimate: z
    .object({
      transfers: z.int().describe('About how many transfers it has.'),
      seconds: z.int().describe('About how long reading the rest takes.'),
      targets: z.int().describe('As how many targets reading the rest counts against `index_per_day` of a key.'),
      held: z.boolean().describe('Whether no key that asked may have the rest read.'),
    })
    .nullable()
    .describe('Of a token of many transfers that are not all indexed; null otherwise.'),
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
  erc20: explainedToken
    .optional()
    .describe('The same as an ERC-20 token; absent where nothing is indexed of it as one.'),
  transfer: transfer.optional().describe('About the transaction that was asked for; absent where none was.'),
})
