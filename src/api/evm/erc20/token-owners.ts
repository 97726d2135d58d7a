// Who owns an ERC-20 token over HTTP: its owners in pages, how many there are, and how many there were. The rules are
// in `query/erc20/token-owners.ts`.

import type { Chain, ChainTable } from '../../../chains.ts'
import { ledgerId } from '../../../ledgers.ts'
import type { Address } from '../../../model.ts'
import { firstPage, type PageCursor } from '../../../query/cursor.ts'
import type { HolderCounts, OwnersAnswer } from '../../../query/erc20/token-owners.ts'
import type { HolderKey } from '../../../query/holdings/questions.ts'
import { blockAsker, stateBlockAt } from '../../../query/lookups/date-to-block.ts'
import { completenessHeaders } from '../../answer.ts'
import {
  balancesHeaders,
  chainErrors,
  chainListErrors,
  inPath,
  inQuery,
  jsonSuccess,
  listSuccess,
  nodeErrors,
  onDemandTokens,
  stateHeaders,
} from '../../openapi-parts.ts'
import { choiceParameter, dateParameter, missing, type QueryText, readParameter, unacceptable } from '../../params.ts'
import { pageAsked } from '../cursor-parameter.ts'
import { asOfParameters, documented, holdingParameters, readAtBlock, usualPageSize } from '../holding-parameters.ts'
import { envelopeText } from '../list-envelope.ts'
import { formatted, linesOfRecords, percentOf, tokenParameter } from './token-json.ts'
import { required, type TokenAsked, type Told, tokenRoute } from './token-route.ts'

const minute = 60
const hour = 60 * minute
const day = 24 * hour

const frames = {
  ...{ '1min': minute, '5min': 5 * minute, '10min': 10 * minute, '30min': 30 * minute },
  ...{ '1h': hour, '4h': 4 * hour, '12h': 12 * hour, '1d': day, '1w': 7 * day, '1M': 30 * day },
} as const
const frameNames = Object.keys(frames) as (keyof typeof frames)[]
/** Of a history of holders. */
const partsMax = 500

function parametersOf(table: ChainTable, pageSizeMax: number) {
  return {
    ...holdingParameters(table, pageSizeMax),
    order: choiceParameter('order', ['ASC', 'DESC'], { default: 'DESC', description: 'Smallest or largest first.' }),
    fromDate: dateParameter('fromDate', 'The first moment.'),
    toDate: dateParameter('toDate', 'The last moment, inclusive.'),
    timeFrame: choiceParameter('timeFrame', frameNames, {
      default: '1d',
      description: 'How far the moments are from each other. A month is 30 days.',
    }),
  }
}

type Asked = TokenAsked<ReturnType<typeof parametersOf>>

/** An answer that a node or an indexer may say more of is not kept. */
function toldOf({ context, dialect }: Asked, answer: OwnersAnswer | HolderCounts, body: string): Told {
  const isIndexed = answer.complete || context.freshen?.contract === undefined
  const isChecked = answer.checkedAt === answer.block || context.freshen?.calls === undefined
  return { body, headers: completenessHeaders(answer, dialect), keep: isIndexed && isChecked }
}

function tokenOf({ request }: Asked): Address {
  return readParameter(tokenParameter, request.pathParameter('address'))
}

export const erc20Owners = tokenRoute({
  id: 'getTokenOwners',
  summary: 'Owners of a token',
  description: `Who owns one ERC-20 token, now or as of an earlier block (\`at_block\`, \`at_date\`), the largest first. Use it for a snapshot of holders. Owners are found by adding up the transfers, and compared with what the token says: \`balances\` tells whether both agree. ${onDemandTokens} Pages stay as of the block of the first one while tokens move.`,
  parameters: parametersOf,
  documented: ({ order, ...parameters }) => [
    inPath(tokenParameter),
    ...documented(parameters, [...asOfParameters, 'chain', 'limit', 'cursor']),
    inQuery(order),
  ],
  success: listSuccess('Erc20Owners', 'A page of owners, as of the block of its first page.', balancesHeaders),
  errors: [...chainListErrors, 'list_too_large', ...nodeErrors],
  answer: async asked => {
    const { context, chain: usual, dialect, options } = asked
    const contract = tokenOf(asked)
    const cursor = await ownersPage(asked, contract)
    const chain = context.chains.byId(cursor.chain) ?? usual
    const { limit, page, atBlock } = cursor
    const question = { chain, contract, limit, atBlock, smallestFirst: cursor.order === 'asc', after: keyOf(cursor) }
    const answer = await context.tokenOwners.owners(question, options)
    const { next, supply, balances, checkedAt } = answer
    const sealed =
      next && context.cursors.seal({ ...cursor, page: page + 1, atBlock: next.atBlock, key: carried(next.after) })
    const envelope = { dialect, version: 'v2.2', total: undefined, page: page + 1, pageSize: limit } as const
    const records = await recordsOf(asked, { chain, contract, supply })
    const facts = {
      ...{ total_supply: supply === undefined ? null : `${supply}`, balances, balances_block: checkedAt ?? null },
      result: await records(answer.rows),
    }
    const body = `{${envelopeText({ ...envelope, cursor: sealed })},${JSON.stringify(facts).slice(1)}`
    return toldOf(asked, answer, body)
  },
  whole: async asked => {
    const { context, chain, options } = asked
    const contract = tokenOf(asked)
    const { atBlock, order } = await ownersPage(asked, contract)
    const question = { chain, contract, atBlock, smallestFirst: order === 'asc' }
    const { batches, supply, balances, checkedAt, ...claim } = await context.tokenOwners.whole(question, options)
    const headers = {
      'X-Balances': balances,
      ...(checkedAt === undefined ? {} : { 'X-Balances-Block': `${checkedAt}` }),
    }
    const records = await recordsOf(asked, { chain, contract, supply })
    const written = async function* () {
      for await (const rows of batches) yield { rows: rows.length, lines: linesOfRecords(await records(rows)) }
    }
    return { ...claim, headers, columns: ownerColumns, batches: written() }
  },
})

const ownerColumns = [
  ...['owner_address', 'owner_address_label', 'entity', 'entity_logo', 'is_contract', 'balance', 'balance_formatted'],
  ...['usd_value', 'percentage_relative_to_total_supply'],
]

/** Writes rows of one token, whose decimals are read once. */
async function recordsOf(asked: Asked, token: { chain: Chain; contract: Address; supply: bigint | undefined }) {
  const { chain, contract, supply } = token
  const decimals = await decimalsOf(asked, chain, contract)
  return async (rows: OwnersAnswer['rows']) => {
    const owners = rows.map(({ owner }) => owner)
    const labels = await asked.context.store.labelsOf(chain.id, owners)
    return rows.map(({ owner, amount }) => ({
      ...{ owner_address: owner, owner_address_label: labels.get(owner) ?? null, entity: null, entity_logo: null },
      ...{ is_contract: null, balance: amount === undefined ? null : `${amount}` },
      ...{ balance_formatted: formatted(amount, decimals), usd_value: null },
      percentage_relative_to_total_supply: percentOf(amount, supply),
    }))
  }
}

async function decimalsOf({ context, options }: Asked, chain: Chain, token: Address): Promise<number | undefined> {
  return (await context.tokenFacts.of({ chain, about: [token] }, [token], options)).get(token)?.decimals
}

const amountDigits = 64

/** The amount and the address of the last row. */
function carried({ amount, address }: HolderKey): string {
  return amount.toString(16).padStart(amountDigits, '0') + address.slice(2)
}

function keyOf({ page, key }: PageCursor): HolderKey | undefined {
  if (page === 0) return undefined
  return { amount: BigInt(`0x${key.slice(0, amountDigits)}`), address: `0x${key.slice(amountDigits)}` as Address }
}

async function ownersPage(asked: Asked, contract: Address): Promise<PageCursor> {
  const { context, request, query, parameters, named, chain, options } = asked
  const { cursors, settings } = context
  const first: PageCursor = {
    ...{ ...firstPage, list: 'erc20-owners', subject: contract.slice(2), chain: chain.id },
    order: query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
    limit: query.optional(parameters.limit) ?? Math.min(usualPageSize, settings.pageSizeMax),
    atBlock: await readAtBlock(query, parameters, context, { chain: ledgerId(chain.id, 'erc20'), key: options.key }),
  }
  const { version } = request
  return pageAsked(first, { query, cursors, version, chain: named, limitMax: settings.pageSizeMax })
}

export const holders = tokenRoute({
  id: 'getTokenHolders',
  summary: 'Holders of a token',
  description: `How many holders one ERC-20 token has, how many came or went lately, and what the largest of them have. Use it for an overview of a token. Holders are found by adding up the transfers; \`balances\` tells whether the token says the same. ${onDemandTokens}`,
  parameters: parametersOf,
  documented: ({ chain }) => [inPath(tokenParameter), inQuery(chain)],
  success: jsonSuccess('Erc20Holders', 'Counts and shares; null where they are not known.', stateHeaders),
  errors: [...chainErrors, 'list_too_large'],
  answer: async asked => {
    const { context, chain, options } = asked
    const contract = tokenOf(asked)
    const head = (await context.store.chainState(ledgerId(chain.id, 'erc20')))?.head
    const moments = head === undefined ? [] : Object.values(changesSince).map(seconds => head.timestamp - seconds)
    const answer = await context.tokenOwners.counts({ chain, contract, ...noPage, moments }, options)
    const decimals = await decimalsOf(asked, chain, contract)
    const shown = {
      totalHolders: answer.holders,
      holdersByAcquisition: unknownWays,
      holderChange: Object.fromEntries(
        Object.keys(changesSince).map((name, at) => {
          const { change, percent } = changeOf(answer.holders, answer.past[at])
          return [name, { change, changePercent: percent }]
        }),
      ),
      holderSupply: Object.fromEntries(largestCounts.map(count => [`top${count}`, largestOf(answer, count, decimals)])),
      ...{ balances: answer.balances, balancesBlock: answer.checkedAt ?? null },
    }
    return toldOf(asked, answer, JSON.stringify(shown))
  },
})

const changesSince = {
  ...{ '5min': 5 * minute, '1h': hour, '6h': 6 * hour, '24h': day, '3d': 3 * day, '7d': 7 * day, '30d': 30 * day },
} as const
const largestCounts = [10, 25, 50, 100, 250, 500] as const
const unknownWays = { swap: null, transfer: null, airdrop: null }
const noPage = { limit: 0, after: undefined, atBlock: undefined, smallestFirst: false }

function changeOf(now: number, before: number | undefined) {
  if (before === undefined) return { change: null, percent: null }
  return { change: now - before, percent: before === 0 ? null : ((now - before) / before) * 100 }
}

/** Sums of transfers are no balances of every token. */
function largestOf({ balances, largest, supply }: HolderCounts, count: number, decimals: number | undefined) {
  if (balances !== 'exact') return { supply: null, supplyPercent: null }
  const sum = largest.slice(0, count).reduce((all, amount) => all + amount, 0n)
  return { supply: formatted(sum, decimals), supplyPercent: percentOf(sum, supply) }
}

export const holderHistory = tokenRoute({
  id: 'getHistoricalTokenHolders',
  summary: 'Holders of a token over time',
  description: `How many holders one ERC-20 token had at up to ${partsMax} moments, the newest first. Use it for a chart. Moments after the newest block are left out. Counts go back over at most 100,000 transfers before the last moment; those of earlier moments are null. ${onDemandTokens}`,
  parameters: parametersOf,
  documented: ({ chain, fromDate, toDate, timeFrame }) => [
    inPath(tokenParameter),
    { ...inQuery(fromDate), required: true },
    { ...inQuery(toDate), required: true },
    inQuery(timeFrame),
    inQuery(chain),
  ],
  success: jsonSuccess('Erc20HolderHistory', 'A row for each moment.', stateHeaders),
  errors: [...chainErrors, 'list_too_large', ...nodeErrors],
  failures: ({ fromDate }) => [missing(fromDate.name, fromDate.accepts)],
  answer: async asked => {
    const { context, query, parameters, chain, dialect, options } = asked
    const contract = tokenOf(asked)
    const ledger = ledgerId(chain.id, 'erc20')
    const moments = momentsAsked(query, parameters)
    const head = (await context.store.chainState(ledger))?.head
    const known = head === undefined ? [] : moments.filter(moment => moment <= head.timestamp)
    const asker = blockAsker(context.freshen?.block, options.key)
    const atBlock =
      known.length === 0 ? undefined : await stateBlockAt(context.store, { chain: ledger, seconds: known[0]! }, asker)
    // One moment more tells what changed until the last of them.
    const before = known.length === 0 ? [] : [known.at(-1)! - frames[query.optional(parameters.timeFrame) ?? '1d']]
    const question = { chain, contract, ...noPage, atBlock, moments: [...known, ...before] }
    const answer = await context.tokenOwners.counts(question, options)
    const result = known.map((moment, at) => {
      const [now, earlier] = [answer.past[at], answer.past[at + 1]]
      const { change, percent } = now === undefined ? changeOf(0, undefined) : changeOf(now, earlier)
      return {
        timestamp: new Date(moment * 1_000).toISOString(),
        ...{ totalHolders: now ?? null, netHolderChange: change, holderPercentChange: percent },
        ...{ newHoldersByAcquisition: unknownWays, holdersIn: unknownSizes, holdersOut: unknownSizes },
      }
    })
    const envelope = { dialect, version: 'v2.2', total: undefined, page: 0, pageSize: result.length } as const
    const body = `{${envelopeText({ ...envelope, cursor: undefined })},"result":${JSON.stringify(result)}}`
    return toldOf(asked, answer, body)
  },
})

const sizes = ['whales', 'sharks', 'dolphins', 'fish', 'octopus', 'crabs', 'shrimps']
const unknownSizes = Object.fromEntries(sizes.map(size => [size, null]))

/** Unix seconds, the newest first. */
function momentsAsked(query: QueryText, parameters: ReturnType<typeof parametersOf>): number[] {
  const [from, to] = [required(query, parameters.fromDate), required(query, parameters.toDate)]
  const frame = frames[query.optional(parameters.timeFrame) ?? '1d']
  const [first, last] = [Math.ceil(from), Math.floor(to)]
  if (first > last) throw unacceptable('fromDate', 'at most toDate')
  const parts = Math.floor((last - first) / frame) + 1
  if (parts > partsMax)
    throw unacceptable('timeFrame', `so long that there are at most ${partsMax} moments, not ${parts}`)
  return Array.from({ length: parts }, (_, at) => last - at * frame)
}
