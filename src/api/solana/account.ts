// The operations on a Solana account over HTTP: its portfolio, balance, tokens and NFTs. All show the same reading of
// the account. The rules are in `query/portfolio.ts`.
import { encodeKey, keyBytes } from '../../base58.ts'
import { exactAmount } from '../../exact-amount.ts'
import type { Admission } from '../../keys/gatekeeper.ts'
import { isOnCurve } from '../../on-curve.ts'
import { type DisplayAmount, isFungibleAsset, type PortfolioAnswer, portfolioOf } from '../../query/portfolio.ts'
import { readyAnswer } from '../answer.ts'
import { inPath, inQuery, jsonSuccess, solanaErrors, solanaHeaders } from '../openapi-parts.ts'
import { perform } from '../operation.ts'
import { type Parameter, QueryText, readParameter, unacceptable } from '../params.ts'
import type { ApiRequest } from '../request.ts'
import type { RouteParts } from '../responder.ts'
import { balanceText, writeHoldings, writePortfolio } from './holdings-json.ts'
import { exampleAccount, flagWithoutEffect, includeFungibleAssets, network, pubkeyParameter } from './parameters.ts'

const address = pubkeyParameter('Address of the account.', exampleAccount)
const excludeSpam = flagWithoutEffect('excludeSpam', 'Nothing is judged to be spam on Solana')

const freshSentence = 'A node is asked unless the reading is fresh; `X-Solana-Slot` and `Age` say of when it is.'

type Flags = ReadonlySet<string>

type AccountView = {
  id: string
  summary: string
  schema: Parameters<typeof jsonSuccess>[0]
  /** What is answered, and when to use it. */
  description: string
  /** Of the body alone. */
  answered: string
  /** Flags of the query; `body` gets the names of those that are true. */
  flags: readonly Parameter<boolean>[]
  body: (answer: PortfolioAnswer, flags: Flags) => Buffer<ArrayBuffer>
  /** Refuses program-derived addresses, as the hosted service does. */
  walletsOnly: boolean
}

export const portfolio = accountRoute({
  id: 'getPortfolio',
  summary: 'Balance, tokens and NFTs of a Solana account',
  schema: 'Portfolio',
  description:
    'What a Solana account holds: its native balance, its NFTs and its tokens, each list in the order of the token accounts. Use it for a wallet in one request. An account that does not exist has a balance of zero and empty lists.',
  answered: 'What the account holds.',
  flags: [],
  body: writePortfolio,
  walletsOnly: false,
})

export const balance = accountRoute({
  id: 'getSolanaBalance',
  summary: 'Balance of a Solana account',
  schema: 'SolanaBalance',
  description: 'The native balance of a Solana wallet, in SOL and in lamports. Use it where its tokens do not matter.',
  answered: 'The native balance.',
  flags: [],
  body: answer => Buffer.from(balanceText(answer)) as Buffer<ArrayBuffer>,
  walletsOnly: true,
})

export const tokens = accountRoute({
  id: 'getSolanaTokens',
  summary: 'Tokens of a Solana account',
  schema: 'SolanaHoldings',
  description:
    'The fungible tokens of a Solana wallet with their exact amounts: an entry for each token account with a balance, in the order of these accounts.',
  answered: 'An entry for each token account with a balance.',
  flags: [excludeSpam],
  body: answer => writeHoldings(answer, answer.tokens),
  walletsOnly: true,
})

export const nfts = accountRoute({
  id: 'getSolanaNfts',
  summary: 'NFTs of a Solana account',
  schema: 'SolanaHoldings',
  description:
    'The NFTs of a Solana wallet: an entry for each token account with one, in the order of these accounts. `includeFungibleAssets` lists assets of which there are many too.',
  answered: 'An entry for each token account with an NFT.',
  flags: [
    includeFungibleAssets,
    flagWithoutEffect('nftMetadata', 'Nothing is fetched from the web'),
    flagWithoutEffect('mediaItems', 'Nothing is fetched from the web'),
    excludeSpam,
  ],
  body: (answer, flags) => writeHoldings(answer, nftRows(answer, flags)),
  walletsOnly: true,
})

/** In the order of their account keys, as each list alone is. */
function nftRows({ nfts, tokens, holdings }: PortfolioAnswer, flags: Flags): readonly number[] {
  if (!flags.has(includeFungibleAssets.name)) return nfts
  return [...nfts, ...tokens.filter(row => isFungibleAsset(holdings, row))].sort((a, b) => a - b)
}

const plainAmount: DisplayAmount = (amount, mint) => exactAmount(amount.toString(), mint.decimals)

function accountRoute({
  id,
  summary,
  schema,
  description,
  answered,
  flags,
  body,
  walletsOnly,
}: AccountView): RouteParts {
  return {
    answer: context => {
      const { store, freshen, displayAmount = plainAmount } = context
      const work = async (request: ApiRequest, { key }: Admission) => {
        const asked = readParameter(network, request.pathParameter('network'))
        const owner = readParameter(address, request.pathParameter('address'))
        if (walletsOnly && !isOnCurve(owner))
          throw unacceptable('address', 'the address of a wallet: this one is derived from a program')
        const given = flagsOf(request, flags)
        const answer = await portfolioOf(store, { network: asked, owner }, { key, freshen, displayAmount })
        const headers = { ...readingHeaders(answer), ...unknownMints(answer) }
        // The age changes by the second, and an indexer may have to read the account again.
        return { ready: readyAnswer({ headers, body: body(answer, given) }), keep: false }
      }
      return request => perform(context, request, { scope: 'portfolio', work: admission => work(request, admission) })
    },
    document: {
      id,
      tag: 'Solana',
      summary,
      description: `${description} ${freshSentence}`,
      parameters: [inPath(network), inPath(address), ...flags.map(inQuery)],
      answers: { 200: jsonSuccess(schema, answered, solanaHeaders) },
      errors: solanaErrors,
    },
    failureSchema: 'SolanaFailure',
  }
}

function flagsOf(request: ApiRequest, flags: readonly Parameter<boolean>[]): Flags {
  const query = new QueryText(request.query)
  return new Set(flags.filter(flag => query.optional(flag) === true).map(({ name }) => name))
}

/** Says how fresh a reading of the node is. */
export function readingHeaders({ slot, readAtMs }: { slot: number; readAtMs: number }): Record<string, string> {
  const ageSeconds = Math.max(0, Math.floor((Date.now() - readAtMs) / 1_000))
  return { 'X-Solana-Slot': `${slot}`, Age: `${ageSeconds}` }
}

/** Keeps the header below 2 kB, whatever the account holds. */
const namedMintsMax = 32

function unknownMints({ holdings, unknown }: PortfolioAnswer): Record<string, string> {
  if (unknown.length === 0) return {}
  const mints = new Set(unknown.map(row => encodeKey(holdings.mints.subarray(row * keyBytes, (row + 1) * keyBytes))))
  const named = [...mints].slice(0, namedMintsMax)
  const more = mints.size > named.length ? [`+${mints.size - named.length}`] : []
  return { 'X-Solana-Unknown-Mints': [...named, ...more].join(', ') }
}
