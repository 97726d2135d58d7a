// The portfolio operation over HTTP. The rules are in `query/portfolio.ts`.
import { keyBytes, keyCharactersMax, putKey } from '../base58.ts'
import { exactAmount } from '../exact-amount.ts'
import { type DisplayAmount, type PortfolioAnswer, portfolioOf } from '../query/portfolio.ts'
import { readyAnswer } from './answer.ts'
import type { Context } from './context.ts'
import { putAscii } from './json-bytes.ts'
import { inPath, type Json, jsonSuccess, operation, solanaErrors, solanaHeaders } from './openapi-parts.ts'
import { perform } from './operation.ts'
import { portfolioParameters, readParameter } from './params.ts'
import type { Handler } from './responder.ts'

/** Never kept: the age of the reading changes by the second, and an indexer may have to read the account again. */
export function answerPortfolio(context: Context): Handler {
  const { store, freshen, displayAmount = plainAmount } = context
  return request =>
    perform(context, request, {
      scope: 'portfolio',
      work: async () => {
        const network = readParameter(portfolioParameters.network, request.pathParameter('network'))
        const owner = readParameter(portfolioParameters.address, request.pathParameter('address'))
        const answer = await portfolioOf(store, { network, owner }, { freshen, displayAmount })
        const ready = readyAnswer({
          headers: {
            'X-Solana-Slot': `${answer.slot}`,
            Age: `${Math.max(0, Math.floor((Date.now() - answer.readAtMs) / 1_000))}`,
          },
          body: writePortfolio(answer),
        })
        return { ready, keep: false }
      },
    })
}

const plainAmount: DisplayAmount = (amount, mint) => exactAmount(amount.toString(), mint.decimals)

// Writes a portfolio as JSON bytes, without an object or a text of a key for each entry. bench/README.md compares it with
// JSON.stringify.

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
    const name = JSON.stringify(holdings.names[row])
    const symbol = JSON.stringify(holdings.symbols[row])
    const facts = `","name":${name},"symbol":${symbol},"amount":"${amounts[row]}","amountRaw":"${holdings.amounts[row]}","decimals":${holdings.decimals[row]}},${entryStart}`
    at += out.write(facts, at)
  }
  // Takes back the comma and the start of an entry after the last one.
  return at - entryStart.length - 1
}

export function portfolioDocument(): Json {
  const { network, address } = portfolioParameters
  return operation({
    id: 'getPortfolio',
    tag: 'Solana',
    summary: 'Balance, tokens and NFTs of a Solana account',
    parameters: [inPath(network), inPath(address)],
    answers: { 200: jsonSuccess('Portfolio', 'What the account holds.', { account: exampleAccount }, solanaHeaders) },
    errors: solanaErrors,
    failureSchema: 'SolanaFailure',
  })
}

const exampleAccount = {
  nativeBalance: { lamports: '902329912', solana: '0.902329912' },
  nfts: [
    {
      associatedTokenAddress: 'Aymvy5sNtxRpUBFT19nNetsGb4VBpmb6qyPs2ybGPUcr',
      mint: '9PN8gNqJy5mVnr8PJSaiKULG2inbTZxm4Xwgc2LM6x5Z',
      ...{ name: 'Nug 5585', symbol: 'METAWANA', amount: '1', amountRaw: '1', decimals: 0 },
    },
  ],
  tokens: [
    {
      associatedTokenAddress: 'J3sQDCWQQuZRCSgW7BWZ8s8Zoz16mprPxoCuryo6YXUX',
      mint: 'VVWAy5U2KFd1p8AdchjUxqaJbZPBeP5vUQRZtAy8hyc',
      ...{ name: 'Flip', symbol: 'FLIP', amount: '7777', amountRaw: '7777000000000', decimals: 9 },
    },
  ],
}
