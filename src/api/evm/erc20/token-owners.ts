// Who owns an ERC-20 token over HTTP: its owners in pages, how many there are, and how many there were. The rules are
// in `query/erc20/token-owners.ts`.
import type { ChainTable } from '../../../chains.ts'
import type { Admission } from '../../../keys/gatekeeper.ts'
import { ledgerId } from '../../../ledgers.ts'
import type { Address } from '../../../model.ts'
import { firstPage, type PageCursor } from '../../../query/cursor.ts'
import { withDescriptions } from '../../../query/erc20/token-facts.ts'
import { type HolderCounts, type OwnersAnswer, TokenOwners } from '../../../query/erc20/token-owners.ts'
import type { HolderKey } from '../../../query/holdings/questions.ts'
import { blockAsker, stateBlockAt } from '../../../query/lookups/date-to-block.ts'
import { completenessHeaders, type ReadyAnswer, readyAnswer } from '../../answer.ts'
import type { Context } from '../../context.ts'
import {
  chainErrors,
  inPath,
  inQuery,
  jsonSuccess,
  nodeErrors,
  onDemandTokens,
  stateHeaders,
} from '../../openapi-parts.ts'
import { perform } from '../../operation.ts'
import {
  choiceParameter,
  type Dialect,
  dateParameter,
  dialectOf,
  missing,
  type Parameter,
  QueryText,
  readParameter,
  unacceptable,
} from '../../params.ts'
import type { ApiRequest } from '../../request.ts'
import type { RouteParts } from '../../responder.ts'
import { openCursor } from '../cursor-parameter.ts'
import { asOfParameters, documented, holdingParameters, readAtBlock, usualPageSize } from '../holding-parameters.ts'
import { type AskedHoldings, holdingsOptions } from '../holdings-context.ts'
import { envelopeText } from '../list-envelope.ts'
import { formatted, percentOf, tokenParameter } from './token-json.ts'

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

type Asked = { context: Context; request: ApiRequest; query: QueryText; dialect: Dialect; options: AskedHoldings }

/** An answer that a node or an indexer may say more of is not kept. */
type Told = { ready: ReadyAnswer; keep: boolean }

function answering(work: (asked: Asked, owners: TokenOwners) => Promise<Told>): RouteParts['answer'] {
  return context => {
    const owners = new TokenOwners(context.holdings, context.tokenCalls, context.store)
    return request => {
      const dialect = dialectOf(request, context.settings.dialect)
      return perform(context, request, {
        ...{ scope: 'erc20', about: 'indexed', cacheKey: dialect },
        work: async (admission: Admission) => {
          const options = holdingsOptions(context, request, admission)
          return await work({ context, request, query: new QueryText(request.query), dialect, options }, owners)
        },
      })
    }
  }
}

type Answer = OwnersAnswer | HolderCounts

function told({ context, dialect }: Asked, answer: Answer, body: string): Told {
  const headers = completenessHeaders(answer, dialect)
  const ready = readyAnswer({ headers, body: Buffer.from(body) as Buffer<ArrayBuffer> })
  const isIndexed = answer.complete || context.freshen?.contract === undefined
  return { ready, keep: isIndexed && (answer.balances !== 'unchecked' || context.freshen?.calls === undefined) }
}

function tokenOf({ request }: Asked): Address {
  return readParameter(tokenParameter, request.pathParameter('address'))
}

export const erc20Owners: RouteParts = {
  answer: answering(async (asked, owners) => {
    const { context, dialect, options } = asked
    const contract = tokenOf(asked)
    const cursor = await pageAsked(asked, contract)
    const chain = context.chains.byId(cursor.chain)!
    const { limit, page, atBlock } = cursor
    const question = { chain, contract, limit, atBlock, smallestFirst: cursor.order === 'asc', after: keyOf(cursor) }
    const answer = await owners.owners(question, options)
    const { next, supply, balances } = answer
    const sealed =
      next && context.cursors.seal({ ...cursor, page: page + 1, atBlock: next.atBlock, key: carried(next.after) })
    const envelope = { dialect, version: 'v2.2', total: undefined, page: page + 1, pageSize: limit } as const
    const rows = await ownerRows(asked, contract, cursor, answer)
    const facts = JSON.stringify({ total_supply: supply === undefined ? null : `${supply}`, balances, result: rows })
    return told(asked, answer, `{${envelopeText({ ...envelope, cursor: sealed })},${facts.slice(1)}`)
  }),
  document: ({ chains, pageSizeMax }, version) => {
    const { order, ...parameters } = parametersOf(chains, pageSizeMax)
    return {
      id: version === 'v2' ? 'getTokenOwners' : 'getTokenOwnersV22',
      tag: 'EVM',
      summary: 'Owners of a token',
      description: `Who owns one ERC-20 token, now or as of an earlier block (\`at_block\`, \`at_date\`), the largest first. Use it for a snapshot of holders. Owners are found by adding up the transfers, and compared with what the token says: \`balances\` tells whether both agree. ${onDemandTokens} Pages stay as of the block of the first one while tokens move.`,
      parameters: [
        inPath(tokenParameter),
        ...documented(parameters, [...asOfParameters, 'chain', 'limit', 'cursor']),
        inQuery(order),
      ],
      answers: {
        200: jsonSuccess('Erc20Owners', 'A page of owners, as of the block of its first page.', stateHeaders),
      },
      errors: [...chainErrors, 'list_too_large', ...nodeErrors],
    }
  },
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

async function pageAsked({ context, query, options }: Asked, contract: Address): Promise<PageCursor> {
  const { chains, settings, cursors } = context
  const parameters = parametersOf(chains, settings.pageSizeMax)
  const chain = query.optional(parameters.chain)
  const text = query.optional(parameters.cursor)
  const id = (chain ?? chains.usual).id
  const list = { list: 'erc20-owners', subject: contract.slice(2) } as const
  const asked: PageCursor = {
    ...{ ...firstPage, ...list, chain: id },
    order: query.optional(parameters.order) === 'ASC' ? 'asc' : 'desc',
    limit: query.optional(parameters.limit) ?? Math.min(usualPageSize, settings.pageSizeMax),
    atBlock: await readAtBlock(query, parameters, context, { chain: ledgerId(id, 'erc20'), key: options.key }),
  }
  // Parameters beside a cursor are read all the same, so that the sender learns of an invalid one.
  if (text === undefined) return asked
  const cursor = openCursor(cursors, text, { ...list, chain })
  return { ...cursor, limit: Math.min(cursor.limit, settings.pageSizeMax) }
}

async function ownerRows({ context, options }: Asked, token: Address, { chain: id }: PageCursor, answer: OwnersAnswer) {
  const { store } = context
  const chain = context.chains.byId(id)!
  const owners = answer.rows.map(({ owner }) => owner)
  const [decimals, labels] = await Promise.all([
    owners.length === 0 ? undefined : decimalsOf(context, id, token, options),
    store.labelsOf(chain.id, owners),
  ])
  return answer.rows.map(({ owner, amount }) => ({
    ...{ owner_address: owner, owner_address_label: labels.get(owner) ?? null, entity: null, entity_logo: null },
    ...{ is_contract: null, balance: amount === undefined ? null : `${amount}` },
    ...{ balance_formatted: formatted(amount, decimals), usd_value: null },
    percentage_relative_to_total_supply: percentOf(amount, answer.supply),
  }))
}

export const holders: RouteParts = {
  answer: answering(async (asked, owners) => {
    const { context, query, options } = asked
    const contract = tokenOf(asked)
    const parameters = parametersOf(context.chains, context.settings.pageSizeMax)
    const chain = query.optional(parameters.chain) ?? context.chains.usual
    const head = (await context.store.chainState(ledgerId(chain.id, 'erc20')))?.head
    const moments = head === undefined ? [] : Object.values(changesSince).map(seconds => head.timestamp - seconds)
    const question = { chain, contract, ...noPage, moments }
    const answer = await owners.counts(question, options)
    const decimals = await decimalsOf(context, chain.id, contract, options)
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
      balances: answer.balances,
    }
    return told(asked, answer, JSON.stringify(shown))
  }),
  document: ({ chains, pageSizeMax }, version) => ({
    id: version === 'v2' ? 'getTokenHolders' : 'getTokenHoldersV22',
    tag: 'EVM',
    summary: 'Holders of a token',
    description: `How many holders one ERC-20 token has, how many came or went lately, and what the largest of them have. Use it for an overview of a token. Holders are found by adding up the transfers; \`balances\` tells whether the token says the same. ${onDemandTokens}`,
    parameters: [inPath(tokenParameter), inQuery(parametersOf(chains, pageSizeMax).chain)],
    answers: { 200: jsonSuccess('Erc20Holders', 'Counts and shares; null where they are not known.', stateHeaders) },
    errors: [...chainErrors, 'list_too_large'],
  }),
}

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

export const holderHistory: RouteParts = {
  answer: answering(async (asked, owners) => {
    const { context, query, dialect, options } = asked
    const contract = tokenOf(asked)
    const parameters = parametersOf(context.chains, context.settings.pageSizeMax)
    const chain = query.optional(parameters.chain) ?? context.chains.usual
    const ledger = ledgerId(chain.id, 'erc20')
    const moments = momentsAsked(query, parameters)
    const head = (await context.store.chainState(ledger))?.head
    const known = head === undefined ? [] : moments.filter(moment => moment <= head.timestamp)
    const atBlock =
      known.length === 0
        ? undefined
        : await stateBlockAt(
            context.store,
            { chain: ledger, seconds: known[0]! },
            blockAsker(context.freshen?.block, options.key),
          )
    // One moment more tells what changed until the last of them.
    const before = known.length === 0 ? [] : [known.at(-1)! - frames[query.optional(parameters.timeFrame) ?? '1d']]
    const question = { chain, contract, ...noPage, atBlock, moments: [...known, ...before] }
    const answer = await owners.counts(question, options)
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
    return told(asked, answer, body)
  }),
  document: ({ chains, pageSizeMax }, version) => {
    const { chain, fromDate, toDate, timeFrame } = parametersOf(chains, pageSizeMax)
    return {
      id: version === 'v2' ? 'getHistoricalTokenHolders' : 'getHistoricalTokenHoldersV22',
      tag: 'EVM',
      summary: 'Holders of a token over time',
      description: `How many holders one ERC-20 token had at up to ${partsMax} moments, the newest first. Use it for a chart. Moments after the newest block are left out. Transfers are taken back from the last moment on, at most 100,000 of them: what lies before is null. ${onDemandTokens}`,
      parameters: [
        inPath(tokenParameter),
        { ...inQuery(fromDate), required: true },
        { ...inQuery(toDate), required: true },
        inQuery(timeFrame),
        inQuery(chain),
      ],
      answers: { 200: jsonSuccess('Erc20HolderHistory', 'A row for each moment.', stateHeaders) },
      errors: [...chainErrors, 'list_too_large', ...nodeErrors],
      failures: [missing(fromDate.name, fromDate.accepts)],
    }
  },
}

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

function required<Value>(query: QueryText, parameter: Parameter<Value>): Value {
  const value = query.optional(parameter)
  if (value === undefined) throw missing(parameter.name, parameter.accepts)
  return value
}

async function decimalsOf(
  { contracts, tokenCalls, chains }: Context,
  id: number,
  token: Address,
  options: AskedHoldings,
) {
  const chain = chains.byId(id)!
  const known = await contracts.of(ledgerId(chain.id, 'erc20'), [token])
  const facts = await withDescriptions(tokenCalls, { chain, about: [token] }, [token], known, options)
  return facts.get(token)?.decimals
}
