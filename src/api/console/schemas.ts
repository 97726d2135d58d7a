// The schemas of what the pages of the console ask beside the operations, for the OpenAPI document.
import { z } from 'zod'
import { shownEvidences, solanaNetworks } from '../../model.ts'
import type { SearchAnswer } from '../../query/lookups/search.ts'
import { namedTransfer } from '../schemas.ts'

const moment = z.iso.datetime()
const hexAddress = z.string().regex(/^0x[0-9a-f]{40}$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const evidence = z.enum(shownEvidences).nullable().describe('Null where not every contract of the block is indexed.')

export const contractList = z.object({
  chain: z.string(),
  contracts: z.array(
    z.object({
      address: hexAddress,
      transfers: z.int().min(0),
      name: z.string().nullable(),
      symbol: z.string().nullable(),
      contract_type: z.enum(['ERC721', 'ERC1155']).nullable(),
      verified_collection: z.boolean(),
      possible_spam: z.boolean(),
      last_block: z.int().nullable().describe('Of its latest transfer.'),
      last_block_timestamp: moment.nullable(),
    }),
  ),
  after: z.string().nullable().describe('Pass it to get the next ones; null on the last page.'),
  suggested: z
    .array(z.object({ address: hexAddress, label: z.string().nullable() }))
    .describe('Where there are none yet: verified contracts of the chain to begin with.'),
})

export const chainCoverage = z.object({
  chain: z.string(),
  from: z.int(),
  to: z.int(),
  intervals: z
    .array(z.object({ from: z.int(), to: z.int(), evidence: z.enum(shownEvidences) }))
    .describe('Sorted, cut to the range. Only the longest ones where there are very many.'),
  intervals_total: z.int(),
})

export const labels = z.object({
  chain: z.string(),
  labels: z.record(z.string(), z.string()).describe('By address, in lower case.'),
})

export const blockFacts = z.object({
  chain: z.string(),
  number: z.int(),
  hash: hash.nullable(),
  parent_hash: hash.nullable(),
  timestamp: moment.nullable(),
  transactions: z.int().nullable(),
  head: z.int(),
  final: z.boolean(),
  evidence,
})

export const transaction = z.object({
  chain: z.string(),
  hash,
  block: z.int(),
  block_hash: hash.nullable(),
  transaction_index: z.int(),
  block_timestamp: moment.nullable(),
  final: z.boolean(),
  evidence,
  succeeded: z.boolean(),
  value: z.string().describe('In wei.'),
  logs: z.int(),
  endpoint: z.string().describe('That answered.'),
  from_address: hexAddress.nullable(),
  from_address_label: z.string().nullable(),
  to_address: hexAddress.nullable().describe('Null where it creates a contract.'),
  to_address_label: z.string().nullable(),
  created_contract: hexAddress.nullable(),
  gas_used: z.int().nullable().describe('As the node says, like the next three; null where it does not.'),
  fee: z.string().nullable().describe('In wei, without what a rollup pays to the chain below.'),
  nonce: z.int().nullable(),
  method: z.string().nullable().describe('The first four bytes of its input; null where it calls none.'),
  more_transfers: z.boolean().describe('More transfers are stored than are shown.'),
  transfers: z.array(namedTransfer),
})

const onChain = { chain: z.string(), address: hexAddress }

export const searchAnswer = z.object({
  query: z.string(),
  results: z.array(
    z.discriminatedUnion('type', [
      z.object({
        type: z.literal('contract'),
        ...onChain,
        transfers: z.int().min(0),
        label: z.string().nullable(),
        name: z.string().nullable(),
        symbol: z.string().nullable(),
        verified: z.boolean(),
        possible_spam: z.boolean(),
      }),
      z.object({
        type: z.literal('wallet'),
        address: hexAddress,
        label: z.string().nullable(),
        chains: z
          .array(z.string())
          .describe('Those on which it is known to be active, or else those that have a label for it.'),
      }),
      z.object({ type: z.literal('account'), network: z.enum(solanaNetworks), address: z.string() }),
      z.object({ type: z.literal('block'), chain: z.string(), number: z.int(), hash: z.string().nullable() }),
      z.object({
        type: z.literal('transaction'),
        chain: z.string(),
        hash: z.string(),
        block: z.int().nullable().describe('Null where no node could say whether the chain has it.'),
      }),
    ]),
  ),
  names: z
    .enum(['anywhere', 'beginnings'])
    .nullable()
    .describe('Where in names and labels the text was looked for; null where it was not.'),
}) satisfies z.ZodType<SearchAnswer & { query: string }>
