// The shape of an explanation over HTTP.
import { z } from 'zod'

const moment = z.iso.datetime()

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
      'Who decided: the operator’s pin, an imported list, the built-in pack, the rules, that the collection is verified, or nobody.',
    ),
  mark: mark.nullable().describe('What the operator, the list or the pack said.'),
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
    covered: z.array(interval),
  }),
  transfer: transfer.optional(),
})
