// Writes what a Solana account holds as JSON bytes, without an object or a text of a key for each entry.
// bench/README.md compares it with JSON.stringify.
import { keyBytes, keyCharactersMax, putKey } from '../../base58.ts'
import { exactAmount } from '../../exact-amount.ts'
import { plainName } from '../../plain-text.ts'
import type { PortfolioAnswer } from '../../query/portfolio.ts'
import { putAscii } from '../json-bytes.ts'

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
  const { nfts, tokens } = answer
  const head = `{"nativeBalance":${balanceText(answer)},"nfts":[`
  return writeLists(answer, [head, nfts, '],"tokens":[', tokens, ']}'])
}

export function writeHoldings(answer: PortfolioAnswer, rows: readonly number[]): Buffer<ArrayBuffer> {
  return writeLists(answer, ['[', rows, ']'])
}

export function balanceText({ lamports }: Pick<PortfolioAnswer, 'lamports'>): string {
  return `{"lamports":"${lamports}","solana":"${exactAmount(lamports.toString(), solDecimals)}"}`
}

/** Texts, and the entries of rows between them. No row may be given twice. */
function writeLists(answer: PortfolioAnswer, parts: readonly (string | readonly number[])[]): Buffer<ArrayBuffer> {
  const texts = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0)
  const out = Buffer.allocUnsafeSlow(texts + entriesBytesMax(answer))
  let at = 0
  for (const part of parts) at = typeof part === 'string' ? putAscii(out, at, part) : putEntries(out, at, answer, part)
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
