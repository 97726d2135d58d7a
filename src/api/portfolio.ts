// The portfolio operation over HTTP. The rules are in `query/portfolio.ts`.
import { base58 } from '@scure/base'
import { z } from 'zod'
import { encodeKey, keyBytes, keyCharactersMax, putKey } from '../base58.ts'
import { exactAmount } from '../exact-amount.ts'
import type { Admission } from '../keys/gatekeeper.ts'
import { solanaNetworks } from '../model.ts'
import { plainName } from '../plain-text.ts'
import { type DisplayAmount, type PortfolioAnswer, portfolioOf } from '../query/portfolio.ts'
import { readyAnswer } from './answer.ts'
import { putAscii } from './json-bytes.ts'
import { inPath, jsonSuccess, solanaErrors, solanaHeaders } from './openapi-parts.ts'
import { perform } from './operation.ts'
import { type Parameter, readParameter } from './params.ts'
import type { ApiRequest } from './request.ts'
import type { RouteParts } from './responder.ts'

const parameters = {
  network: {
    name: 'network',
    read: (text: string) => solanaNetworks.find(network => network === text),
    accepts: solanaNetworks.join(' or '),
    schema: z.enum(solanaNetworks as ['mainnet', 'devnet']),
    description: 'Solana network.',
    example: 'mainnet',
  },
  address: {
    name: 'address',
    read: parsePubkey,
    accepts: 'a public key of 32 bytes in base58',
    schema: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    description: 'Address of the account.',
    example: 'EJpLyTeE8XHG9CeREeHd6pr6hNhaRnTRJx4Z5DPhEJJ6',
  },
} satisfies Record<string, Parameter<unknown>>

function parsePubkey(text: string): Uint8Array | undefined {
  // Decoding takes quadratic time, so the length is checked first.
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === 32 ? bytes : undefined
}

const plainAmount: DisplayAmount = (amount, mint) => exactAmount(amount.toString(), mint.decimals)

export const portfolio: RouteParts = {
  answer: context => {
    const { store, freshen, displayAmount = plainAmount } = context
    const work = async (request: ApiRequest, { key }: Admission) => {
      const network = readParameter(parameters.network, request.pathParameter('network'))
      const owner = readParameter(parameters.address, request.pathParameter('address'))
      const answer = await portfolioOf(store, { network, owner }, { key, freshen, displayAmount })
      const ageSeconds = Math.max(0, Math.floor((Date.now() - answer.readAtMs) / 1_000))
      const headers = { 'X-Solana-Slot': `${answer.slot}`, Age: `${ageSeconds}`, ...unknownMints(answer) }
      // The age changes by the second, and an indexer may have to read the account again.
      return { ready: readyAnswer({ headers, body: writePortfolio(answer) }), keep: false }
    }
    return request => perform(context, request, { scope: 'portfolio', work: admission => work(request, admission) })
  },
  document: {
    id: 'getPortfolio',
    tag: 'Solana',
    summary: 'Balance, tokens and NFTs of a Solana account',
    parameters: [inPath(parameters.network), inPath(parameters.address)],
    answers: { 200: jsonSuccess('Portfolio', 'What the account holds.', solanaHeaders) },
    errors: solanaErrors,
  },
  failureSchema: 'SolanaFailure',
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

// Writes a portfolio as JSON bytes, without an object or a text of a key for each entry. bench/README.md compares it
// with JSON.stringify.

const solDecimals = 9
/** Of a u64. */
const rawDigitsMax = 20

const entryStart = '{"associatedTokenAddress":"'
const mintKey = '","mint":"'
/** An entry without its name, its symbol and the displayed amount. */
const entryBytes =
  `${entryStart}${mintKey}","name":,"symbol":,"amount":"","amountRaw":"","decimals":255},`.length +
  2 * keyCharactersMax +
  rawDigitsMax

export function writePortfolio(answer: PortfolioAnswer): Buffer<ArrayBuffer> {
  const lamports = answer.lamports.toString()
  const head = `{"nativeBalance":{"lamports":"${lamports}","solana":"${exactAmount(lamports, solDecimals)}"},"nfts":[`
  const between = '],"tokens":['
  const tail = ']}'
  const out = Buffer.allocUnsafeSlow(head.length + between.length + tail.length + entriesBytesMax(answer))
  let at = putAscii(out, 0, head)
  at = putEntries(out, at, answer, answer.nfts)
  at = putAscii(out, at, between)
  at = putEntries(out, at, answer, answer.tokens)
  at = putAscii(out, at, tail)
  return out.subarray(0, at)
}

function entriesBytesMax({ holdings, amounts }: PortfolioAnswer): number {
  const { length, names, symbols } = holdings
  // The entry that is begun after the last one of each list is taken back.
  let bytes = 2 * entryStart.length + length * entryBytes
  // An escaped character takes up to six bytes, and there are two quotes.
  for (let row = 0; row < length; row++)
    bytes += (names[row]!.length + symbols[row]!.length) * 6 + 4 + amounts[row]!.length
  return bytes
}

function putEntries(
  out: Buffer,
  start: number,
  { holdings, amounts }: PortfolioAnswer,
  rows: readonly number[],
): number {
  if (rows.length === 0) return start
  let at = putAscii(out, start, entryStart)
  for (const row of rows) {
    at = putKey(out, at, holdings.accounts, row * keyBytes)
    at = putKey(out, putAscii(out, at, mintKey), holdings.mints, row * keyBytes)
    const decimals = holdings.decimals[row] ?? null
    // Metadata may be known before its mint; names without decimals would promise more than is known.
    const name = decimals === null ? '""' : JSON.stringify(plainName(holdings.names[row]!))
    const symbol = decimals === null ? '""' : JSON.stringify(plainName(holdings.symbols[row]!))
    const facts = `","name":${name},"symbol":${symbol},"amount":"${amounts[row]}","amountRaw":"${holdings.amounts[row]}","decimals":${decimals ?? 0}},${entryStart}`
    at += out.write(facts, at)
  }
  // Takes back the comma and the start of an entry after the last one.
  return at - entryStart.length - 1
}
