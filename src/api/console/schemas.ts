// The schemas of what the pages of the console ask beside the operations, for the OpenAPI document.
import { z } from 'zod'
import { shownEvidences, solanaNetworks } from '../../model.ts'
import type { SearchAnswer } from '../../query/lookups/search.ts'
import { namedTransfer } from '../schemas.ts'

const moment = z.iso.datetime()
const hexAddress = z.string().regex(/^0x[0-9a-f]{40}$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const evidence = z.enum(shownEvidences).nullable().describe('Null where not every contract of the block is indexed.')

const chain = z.string().describe('Short name of the chain.')
const address = hexAddress.describe('The address, lower case.')
const name = z.string().nullable().describe('As the contract says itself; null where it has none.')
const symbol = z.string().nullable().describe('As the contract says itself; null where it has none.')
const label = z.string().nullable().describe('Label of the address; null where it has none.')
const verified = z.boolean().describe('Whether a list of verified collections has it.')
const spam = z.boolean().describe('Whether the spam rules or a list mark it.')
const transfers = z.int().min(0).describe('Its stored transfers.')

export const contractList = z.object({
  chain,
  contracts: z
    .array(
      z.object({
        address,
        transfers,
        name,
        symbol,
        contract_type: z
          .enum(['ERC721', 'ERC1155', 'ERC20'])
          .nullable()
          .describe('Its standard; null where it is not known.'),
        verified_collection: verified,
        possible_spam: spam,
        last_block: z.int().nullable().describe('Of its latest transfer.'),
        last_block_timestamp: moment.nullable().describe('Time of that block.'),
        blocks_left: z
          .int()
          .nullable()
          .describe('Blocks up to the head that are not indexed of it yet; null where every contract is indexed.'),
      }),
    )
    .describe('A page of them.'),
  after: z.string().nullable().describe('Pass it to get the next ones; null on the last page.'),
  suggested: z
    .array(z.object({ address, label }))
    .describe('Where there are none yet: verified contracts of the chain to begin with.'),
})

export const chainCoverage = z.object({
  chain,
  from: z.int().describe('First block of the range.'),
  to: z.int().describe('Last block of the range.'),
  intervals: z
    .array(
      z.object({
        from: z.int().describe('First block.'),
        to: z.int().describe('Last block.'),
        evidence: z.enum(shownEvidences).describe('What the blocks rest on.'),
      }),
    )
    .describe('Sorted, cut to the range. Only the longest ones where there are very many.'),
  intervals_total: z.int().describe('How many intervals there are, those not shown included.'),
})

export const labels = z.object({
  chain,
  labels: z.record(z.string(), z.string()).describe('By address, in lower case.'),
})

export const blockFacts = z.object({
  chain,
  number: z.int().describe('Number of the block.'),
  hash: hash.nullable().describe('Hash of the block; null where it is not known.'),
  parent_hash: hash.nullable().describe('Hash of the block before; null where it is not known.'),
  timestamp: moment.nullable().describe('Time of the block; null where it is not known.'),
  transactions: z.int().nullable().describe('How many it has; null where that is not known.'),
  head: z.int().describe('The newest block of the chain.'),
  final: z.boolean().describe('Whether no reorg can replace it.'),
  evidence,
})

export const transaction = z.object({
  chain,
  hash: hash.describe('Hash of the transaction.'),
  block: z.int().describe('Number of its block.'),
  block_hash: hash.nullable().describe('Hash of its block; null where it is not known.'),
  transaction_index: z.int().describe('Its place in the block, from 0.'),
  block_timestamp: moment.nullable().describe('Time of its block; null where it is not known.'),
  final: z.boolean().describe('Whether no reorg can replace its block.'),
  evidence,
  succeeded: z.boolean().describe('False: it was reverted.'),
  value: z.string().describe('In wei.'),
  logs: z.int().describe('How many events it has.'),
  endpoint: z.string().describe('That answered.'),
  from_address: hexAddress.nullable().describe('Who sent it; null where the node does not say.'),
  from_address_label: label,
  to_address: hexAddress.nullable().describe('Null where it creates a contract.'),
  to_address_label: label,
  created_contract: hexAddress.nullable().describe('The contract that it created; null where it created none.'),
  gas_used: z.int().nullable().describe('As the node says, like the next three; null where it does not.'),
  fee: z.string().nullable().describe('In wei, without what a rollup pays to the chain below.'),
  nonce: z.int().nullable().describe('How many transactions its sender had sent before.'),
  method: z.string().nullable().describe('The first four bytes of its input; null where it calls none.'),
  more_transfers: z.boolean().describe('More transfers are stored than are shown.'),
  transfers: z.array(namedTransfer).describe('Its stored NFT transfers.'),
})

const type = <Name extends string>(name: Name) => z.literal(name).describe('What was found.')

export const searchAnswer = z.object({
  query: z.string().describe('The text that was looked for.'),
  results: z
    .array(
      z.discriminatedUnion('type', [
        z.object({
          type: z.enum(['contract', 'erc20']).describe('A contract of NFTs, or an ERC-20 token.'),
          ...{ chain, address, transfers, label, name, symbol, verified, possible_spam: spam },
        }),
        z.object({
          ...{ type: type('wallet'), address, label },
          chains: z
            .array(z.string())
            .describe('Those on which it is known to be active, or else those that have a label for it.'),
        }),
        z.object({
          type: type('account'),
          network: z.enum(solanaNetworks).describe('The Solana network.'),
          address: z.string().describe('The address, in base58.'),
        }),
        z.object({
          ...{ type: type('block'), chain },
          number: z.int().describe('Number of the block.'),
          hash: z.string().nullable().describe('Its hash; null where it is not known.'),
        }),
        z.object({
          ...{ type: type('transaction'), chain },
          hash: z.string().describe('Hash of the transaction.'),
          block: z.int().nullable().describe('Null where no node could say whether the chain has it.'),
        }),
      ]),
    )
    .describe('What was found, the best first.'),
  names: z
    .enum(['anywhere', 'beginnings'])
    .nullable()
    .describe('Where in names and labels the text was looked for; null where it was not.'),
}) satisfies z.ZodType<SearchAnswer & { query: string }>
