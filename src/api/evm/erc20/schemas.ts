// The schemas of answers on ERC-20 tokens, for the OpenAPI document and tests.
import { z } from 'zod'
import {
  blockTimestamp,
  contract,
  count,
  decimal,
  flag,
  hash,
  hexAddress,
  live,
  pageFields,
  truthFields,
} from '../../document/schema-parts.ts'

const offChain = z.null().describe('Always null: it is not on the chain.')
const label = (whose: string) => z.string().nullable().describe(`Label of ${whose}; null if there is none.`)
const price = z.null().describe('Always null: prices are not indexed.')
const decimals = z
  .string()
  .regex(/^\d+$/)
  .nullable()
  .describe('Digits after the decimal point, as text; null if the token does not say.')

const marks = {
  possible_spam: contract.possible_spam,
  verified_contract: flag('Whether a list of verified contracts has the token.'),
}

const transfer = z.object({
  token_name: contract.name,
  token_symbol: contract.symbol,
  token_logo: offChain,
  token_decimals: decimals,
  transaction_hash: hash.describe('Hash of the transaction.'),
  address: hexAddress.describe('Address of the token, lower case.'),
  block_timestamp: blockTimestamp,
  block_number: decimal.describe('Number of the block.'),
  block_hash: hash.describe('Hash of the block.'),
  from_address: hexAddress.describe('The sender; the zero address where tokens were minted.'),
  from_address_label: label('the sender'),
  from_address_entity: offChain,
  from_address_entity_logo: offChain,
  to_address: hexAddress.describe('The recipient; the zero address where tokens were burned.'),
  to_address_label: label('the recipient'),
  to_address_entity: offChain,
  to_address_entity_logo: offChain,
  value: decimal.describe('How much moved, in the smallest unit.'),
  transaction_index: z.int().min(0).describe('Place of the transaction in its block, from 0.'),
  log_index: z.int().min(0).describe('Place of the event in its block, from 0.'),
  ...marks,
})

export const erc20Transfers = z.object({
  total: count
    .nullable()
    .optional()
    .describe('Only under `/api/v2`: number of matching transfers; null unless `disable_total=false`.')
    .meta(live(null)),
  ...pageFields,
  result: z.array(transfer).describe('The transfers of this page.'),
  block_exists: truthFields.block_exists,
  index_complete: z.boolean().describe('Whether every block of the requested range is indexed for what was asked.'),
})

export const erc20Balances = z.array(
  z.object({
    token_address: hexAddress.describe('Address of the token, lower case.'),
    name: contract.name,
    symbol: contract.symbol,
    logo: offChain,
    thumbnail: offChain,
    decimals: z
      .int()
      .min(0)
      .max(255)
      .nullable()
      .describe('Digits after the decimal point; null if the token does not say.'),
    balance: decimal.describe('What the token says that the wallet has, in the smallest unit.'),
    ...marks,
  }),
)

export const erc20Metadata = z.array(
  z.object({
    address: hexAddress.describe('Address of the token, lower case.'),
    address_label: label('the token'),
    name: contract.name,
    symbol: contract.symbol,
    decimals,
    logo: offChain,
    logo_hash: offChain,
    thumbnail: offChain,
    total_supply: decimal
      .nullable()
      .describe('How much of it there is, in the smallest unit; null where neither the token nor a node says it.'),
    total_supply_formatted: z
      .string()
      .nullable()
      .describe('The same in the main unit, exact; null where the supply or the decimals are not known.'),
    fully_diluted_valuation: price,
    market_cap: price,
    circulating_supply: offChain,
    block_number: z.null().describe('Always null: the block of its creation is not looked for.'),
    validated: offChain,
    created_at: z.null().describe('Always null: the block of its creation is not looked for.'),
    ...marks,
    categories: z.array(z.string()).describe('Always empty: it is not on the chain.'),
    links: z.object({}).describe('Always empty: it is not on the chain.'),
  }),
)

export const erc20Allowance = z.object({
  allowance: decimal.describe('What the spender may take of the owner, in the smallest unit.'),
})

const balancesField = z
  .enum(['exact', 'read', 'unchecked'])
  .describe(
    '`exact`: the sums of the transfers equal the supply and, for a sample of holders, what the token says. `read`: they do not, or transfers may be missing: balances were read from the token, or are null, and the order is that of the sums. `unchecked`: no node told; balances are sums of transfers.',
  )
const balancesBlock = z
  .int()
  .min(0)
  .nullable()
  .describe(
    'After which block the token was asked: that of the answer, or the last that was compared where no node has the state after it; null where no node told.',
  )
const totalSupply = decimal
  .nullable()
  .describe('How much of the token there is, in the smallest unit; null where neither it nor a node says it.')

export const erc20Owners = z.object({
  page: count.describe('Number of the page, from 1.'),
  page_size: pageFields.page_size,
  cursor: pageFields.cursor,
  total_supply: totalSupply,
  balances: balancesField,
  balances_block: balancesBlock,
  result: z
    .array(
      z.object({
        owner_address: hexAddress.describe('The owner, lower case.'),
        owner_address_label: label('the owner'),
        entity: offChain,
        entity_logo: offChain,
        is_contract: z.null().describe('Always null: it is not looked for.'),
        balance: decimal
          .nullable()
          .describe('In the smallest unit; null where the token does not say it, or no node has the state.'),
        balance_formatted: z
          .string()
          .nullable()
          .describe('The same in the main unit, exact; null where the decimals are not known.'),
        usd_value: price,
        percentage_relative_to_total_supply: z
          .number()
          .nullable()
          .describe('Share of the supply, of 100; null where the supply is not known.'),
      }),
    )
    .describe('The owners of this page, by what their transfers come to.'),
})

export const erc20Stats = z.object({
  transfers: z
    .object({ total: decimal.describe('How many transfers are indexed.') })
    .describe('The transfers of the token.'),
})

const unknownWay = z.null().describe('Always null: why a wallet holds it is not known.')
const acquisition = z
  .object({ swap: unknownWay, transfer: unknownWay, airdrop: unknownWay })
  .describe('How holders got it: not known.')
const change = (since: string) =>
  z
    .object({
      change: z.int().nullable().describe('How many more there are; null where it is not known.'),
      changePercent: z
        .number()
        .nullable()
        .describe('The same of those before, of 100; null where there were none or it is not known.'),
    })
    .describe(`Since ${since} before the newest block.`)
const largest = (howMany: number) =>
  z
    .object({
      supply: z
        .string()
        .nullable()
        .describe('What they have, in the main unit; null where sums of transfers are not balances of this token.'),
      supplyPercent: z.number().nullable().describe('The same of the supply, of 100; null where that is not known.'),
    })
    .describe(`Of the ${howMany} largest.`)

export const erc20Holders = z.object({
  totalHolders: z.int().min(0).describe('How many addresses received more than they sent.'),
  holdersByAcquisition: acquisition,
  holderChange: z
    .object({
      '5min': change('5 minutes'),
      '1h': change('an hour'),
      '6h': change('6 hours'),
      '24h': change('a day'),
      '3d': change('3 days'),
      '7d': change('7 days'),
      '30d': change('30 days'),
    })
    .describe('How many holders came or went.'),
  holderSupply: z
    .object({
      top10: largest(10),
      top25: largest(25),
      top50: largest(50),
      top100: largest(100),
      top250: largest(250),
      top500: largest(500),
    })
    .describe('What the largest holders have.'),
  balances: balancesField,
  balancesBlock,
})

const sizes = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps'] as const
const bySize = (who: string) =>
  z
    .object(Object.fromEntries(sizes.map(size => [size, z.null().describe('Always null: it takes prices.')])))
    .describe(`${who} by the worth of what they hold: not known.`)

export const erc20HolderHistory = z.object({
  page: count.describe('Always 0: all of them are in one answer.'),
  page_size: count.describe('How many there are.'),
  cursor: pageFields.cursor,
  result: z
    .array(
      z.object({
        timestamp: z.iso.datetime().describe('A moment. What follows is the state after the last block until then.'),
        totalHolders: z
          .int()
          .min(0)
          .nullable()
          .describe('How many holders there were; null where finding it takes more transfers than are read.'),
        netHolderChange: z.int().nullable().describe('How many more than at the moment before.'),
        holderPercentChange: z
          .number()
          .nullable()
          .describe('The same of those before, of 100; null where there were none.'),
        newHoldersByAcquisition: acquisition,
        holdersIn: bySize('Who came'),
        holdersOut: bySize('Who left'),
      }),
    )
    .describe('A row for each moment, the newest first.'),
})
