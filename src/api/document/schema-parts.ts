// What the schemas of several answers have in common. Nothing here is a schema of the document.
import { z } from 'zod'

export const hexAddress = z.string().regex(/^0x[0-9a-f]{40}$/)
export const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
export const decimal = z.string().regex(/^\d+$/)
export const utcTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
/** In the document, beside what all versions answer: what `/api/v2.2` does. Null where it has no such field. */
export const live = (schema: object | null) => ({ 'x-live': schema })
export const flag = (means: string) =>
  z
    .union([z.boolean(), z.enum(['true', 'false'])])
    .describe(`${means} A boolean in the live dialect, a string in the reference dialect.`)
    .meta(live({ type: 'boolean', description: means }))
export const count = z
  .union([z.int().min(0), decimal])
  .describe('A number in the live dialect, a string in the reference dialect.')
  .meta(live({ type: 'integer', minimum: 0 }))

/** What several answers say of a contract. */
export const contract = {
  token_address: hexAddress.describe('Address of the contract, lower case.'),
  name: z.string().nullable().describe('Name of the contract, as it says itself; null if it has none.'),
  symbol: z.string().nullable().describe('Symbol of the contract; null if it has none.'),
  possible_spam: flag('Whether the spam rules or your own list mark the contract.'),
  verified_collection: flag('Whether a list of verified collections has the contract.'),
}
export const standard = z.enum(['ERC721', 'ERC1155']).describe('Standard of the contract.')
export const tokenId = z
  .string()
  .regex(/^(\d+|0x[0-9a-f]+)$/)
  .describe('Id of the token: decimal, or hex with `format=hex`.')
export const chainName = z.string().describe('Short name of the chain.')
export const chainId = z
  .string()
  .regex(/^0x[0-9a-f]+$/)
  .describe('Id of the chain, in hex.')

/** Of the block of a transfer. */
export const blockTimestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.000Z)?$/)
  .describe('Time of the block, in UTC; with `.000Z` in the live dialect.')
  .meta(live({ type: 'string', description: 'Time of the block, in UTC.' }))

export const pageFields = {
  page: count.describe('Starts at 0 and grows by one with each cursor.'),
  page_size: count.describe('The limit in effect, not the number of rows.'),
  cursor: z
    .string()
    .nullable()
    .describe('Cursor of the next page. Empty (reference) or null (live) on the last page.')
    .meta(live({ type: ['string', 'null'], description: 'Cursor of the next page; null on the last page.' })),
}

export const truthFields = {
  block_exists: z.boolean().describe('Whether every requested block is at or below the head of the chain.'),
  index_complete: z.boolean().describe('Whether every block of the requested range is indexed for this contract.'),
}
