// The parameters of the operations on who owns what, and the block that a request asks for the state after. No rules.
import { z } from 'zod'
import type { ChainTable } from '../../chains.ts'
import type { ChainId } from '../../model.ts'
import { nearestWord } from '../../nearest-word.ts'
import type { IndexingKey } from '../../query/freshen.ts'
import { blockAsker, stateBlockAt } from '../../query/lookups/date-to-block.ts'
import type { Context } from '../context.ts'
import { inQuery, type Json } from '../openapi-parts.ts'
import {
  dateParameter,
  flagParameter,
  type Parameter,
  type QueryText,
  unacceptable,
  wholeParameter,
} from '../params.ts'
import {
  contractsParameter,
  includePrices,
  readContracts,
  tokenIdParameter,
  walletParameter,
} from './evm-parameters.ts'
import { flagsWhere, type HoldingFilter } from './holding-cursor.ts'
import { transferParameters } from './nft-transfers.ts'

const rangesMax = 100
/** Where no limit is given, however much a page may have. */
export const usualPageSize = 100

const listsOfContract = ['transfers', 'owners', 'unique-owners', 'stats', 'metadata']

/** `sizeField`: the field of the answer that holds the size of a page. */
export function holdingParameters(table: ChainTable, pageSizeMax: number, sizeField?: string) {
  const { address, chain, format, limit, disableTotal, cursor } = transferParameters(table, pageSizeMax, {
    usual: Math.min(usualPageSize, pageSizeMax),
    ...(sizeField === undefined ? {} : { sizeField }),
  })
  return {
    ...{ address, chain, format, limit, disableTotal, cursor },
    wallet: walletParameter,
    // What people type where a list of the whole contract is meant.
    tokenId: { ...tokenIdParameter, nearest: (text: string) => nearestWord(text, listsOfContract) },
    atBlock: wholeParameter('at_block', {
      ...{ min: 0, example: 16_220_243 },
      description:
        'Answers the state after this block. Takes precedence over `at_date`. Defaults to the head; a block above it is refused.',
    }),
    atDate: dateParameter(
      'at_date',
      'Answers the state after the last block at or before this moment. A moment after the head means the head.',
    ),
    excludeSpam: flagParameter('exclude_spam', 'Leaves possible spam out.'),
    tokenCounts: flagParameter('token_counts', 'Adds how many tokens of each collection the wallet has.'),
    normalizeMetadata: flagParameter('normalizeMetadata', 'Adds `normalized_metadata` where the metadata is known.'),
    mediaItems: flagParameter(
      'media_items',
      'Adds `media`: a link to the picture where the token URI holds it, else where it is said to be. Whole lists have none.',
    ),
    includePrices,
    tokenAddresses: contractsParameter('token_addresses', 'NFTs of these contracts alone.'),
    range: rangeParameter('range', 0, rangesMax - 1, 'Which part of the space of token hashes, from 0.'),
    totalRanges: rangeParameter('totalRanges', 1, rangesMax, 'Into how many parts the space of token hashes is split.'),
  }
}

export type HoldingParameters = ReturnType<typeof holdingParameters>

/** A number that is refused above its greatest value. */
function rangeParameter(name: string, min: number, max: number, description: string): Parameter<number> {
  return {
    name,
    read: text => (/^\d{1,3}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined),
    accepts: `a whole number from ${min} to ${max}`,
    schema: z.int().min(min).max(max),
    description,
    example: min,
  }
}

/** Those that an operation does not have are not read. */
export function readFilter(
  query: QueryText,
  parameters: HoldingParameters,
  has: readonly (keyof HoldingParameters)[],
): HoldingFilter {
  const isSet = (name: 'excludeSpam' | 'tokenCounts' | 'normalizeMetadata' | 'mediaItems' | 'includePrices') =>
    has.includes(name) && query.optional(parameters[name]) === true
  // Read so that an invalid one is refused: there are no prices.
  isSet('includePrices')
  return {
    ...flagsWhere(isSet),
    part: has.includes('range') ? readPart(query, parameters) : undefined,
    contracts: has.includes('tokenAddresses') ? readContracts(query, parameters.tokenAddresses) : [],
  }
}

function readPart(
  query: QueryText,
  { range: rangeOf, totalRanges: totalOf }: HoldingParameters,
): HoldingFilter['part'] {
  const [range, totalRanges] = [query.optional(rangeOf), query.optional(totalOf)]
  if (range === undefined && totalRanges === undefined) return undefined
  if (range === undefined) throw unacceptable('range', 'given together with totalRanges')
  if (totalRanges === undefined) throw unacceptable('totalRanges', 'given together with range')
  if (range >= totalRanges) throw unacceptable('range', `below totalRanges, which is ${totalRanges}`)
  return { range, totalRanges }
}

export const asOfParameters = ['atBlock', 'atDate'] as const

/** Undefined: the head. -1: before the first block. */
export async function readAtBlock(
  query: QueryText,
  { atBlock, atDate }: HoldingParameters,
  { store, freshen }: Pick<Context, 'store' | 'freshen'>,
  { chain, key }: { chain: ChainId; key: IndexingKey },
): Promise<number | undefined> {
  const [block, date] = [query.optional(atBlock), query.optional(atDate)]
  if (block === undefined && date === undefined) return undefined
  const head = (await store.chainState(chain))?.head
  if (block === undefined)
    return head === undefined
      ? undefined
      : await stateBlockAt(store, { chain, seconds: date! }, blockAsker(freshen?.block, key))
  if (head === undefined || block > head.number)
    throw unacceptable('at_block', `at most the head of the chain, which is ${head?.number ?? 'not known yet'}`)
  return block
}

export function documented(parameters: HoldingParameters, names: readonly (keyof HoldingParameters)[]): Json[] {
  return names.map(name => inQuery(parameters[name] as Parameter<unknown>))
}
