// The portfolio operation over HTTP. The rules are in `query/portfolio.ts`.

import { keyBytes, keyCharactersMax, putKey } from '../base58.ts'
import { exactAmount } from '../exact-amount.ts'
import { type PortfolioAnswer, portfolioOf } from '../query/portfolio.ts'
import type { Answer } from './answer.ts'
import { readyAnswer } from './answer-cache.ts'
import type { Exchange } from './exchange.ts'
import { putAscii } from './json-bytes.ts'
import { perform, type Workplace } from './operation.ts'
import { portfolioParameters, readParameter } from './params.ts'

/** Never kept: how old the reading is changes by the second, and an indexer may have to read it again. */
export function answerPortfolio(place: Workplace, exchange: Exchange): Answer | Promise<Answer> {
  return perform(place, exchange, {
    scope: 'portfolio',
    work: async () => {
      const network = readParameter(portfolioParameters.network, exchange.pathParameter('network'))
      const owner = readParameter(portfolioParameters.address, exchange.pathParameter('address'))
      const { store, freshen } = place
      const displayAmount = place.displayAmount ?? ((amount, mint) => exactAmount(amount.toString(), mint.decimals))
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

// Writes a portfolio as JSON bytes: no object and no text of a key for each entry. No rule of an answer here.
//
// Measured with 2,000 tokens (540 kB): see bench/README.md, against entries as objects and JSON.stringify.

const solDecimals = 9
/** Of u64. */
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
  // An entry that is begun behind the last one of each list is taken back.
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
  // Behind the last entry neither a comma nor the beginning of another one.
  return at - entryStart.length - 1
}
