// The shapes of what `/events` tells, for the OpenAPI document and the clients that are typed by it. Tests hold real events against them.
import { z } from 'zod'
import { evidences } from '../model.ts'
import { measures } from './live-history.ts'

const evidence = z.enum(evidences)

const coverage = {
  intervals: z
    .array(z.object({ from: z.int(), to: z.int(), evidence }))
    .describe('Sorted; the longest ones where there are very many.'),
  intervals_total: z.int(),
  blocks: z.partialRecord(evidence, z.int()).describe('How many blocks each kind of evidence covers.'),
}

const endpoint = z.object({
  endpoint: z.string(),
  healthy: z.boolean(),
  reason: z.string().optional(),
  fault: z.string().nullish(),
  head: z.int().optional(),
  slot: z.int().optional(),
  latency_ms: z.number().optional(),
  requests: z.int().optional(),
  errors: z.int().optional(),
})

const chain = z.object({
  state: z.enum(['backfilling', 'live', 'stalled']),
  reason: z.string().optional(),
  index: z.enum(['full', 'on-demand']).optional(),
  from: z.int().optional(),
  head: z.int().describe('-1 while it is not known.'),
  finalized: z.int().describe('-1 while it is not known.'),
  lag_seconds: z.number(),
  complete: z.boolean(),
  eta_seconds: z.number().nullable(),
  rates: z
    .object({ blocksPerSecond: z.number(), rowsPerSecond: z.number(), bytesPerSecond: z.number() })
    .nullish()
    .describe('Of the last minute; null where nothing is read.'),
  coverage: z.object(coverage),
  contracts: z.object({ total: z.int(), shown: z.array(z.object({ contract: z.string(), ...coverage })) }),
  rpc: z.array(endpoint),
})

const network = z.object({
  state: z.enum(['live', 'stalled']),
  slot: z.int(),
  lag_seconds: z.number(),
  rpc: z.array(endpoint),
})

export const storeFacts = z.object({
  engine: z.string(),
  location: z.string(),
  schema_version: z.int(),
  size_bytes: z.int(),
})

export const liveStatusShape = z.object({
  at: z.int().describe('Unix milliseconds.'),
  version: z.string(),
  store: storeFacts,
  chains: z.record(z.string(), chain),
  solana: z.record(z.string(), network),
})

const lineName = {
  chain: z.string().describe('The name of the chain, or of a Solana network such as `solana mainnet`.'),
  measure: z.enum(measures),
  endpoint: z.string().optional(),
}

export const livePastShape = z.object({
  at: z.array(z.int()).describe('Unix milliseconds.'),
  lines: z.array(z.object({ ...lineName, values: z.array(z.number().nullable()) })),
})

export const liveSampleShape = z.object({
  at: z.int(),
  values: z.array(z.object({ ...lineName, value: z.number() })),
})

export const liveBlockShape = z.object({ chain: z.string(), number: z.int() })
