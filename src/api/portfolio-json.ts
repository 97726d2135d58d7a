// Writes a portfolio as JSON bytes: no object and no text of a key for each entry. No rule of an answer here.
//
// Measured with 2,000 tokens (540 kB): see bench/README.md, against entries as objects and JSON.stringify.
import { keyCharactersMax, putKey } from '../base58.ts'
import { exactAmount, type PortfolioAnswer, type PortfolioEntry } from '../query/portfolio.ts'
import { putAscii } from './json-bytes.ts'

const solDecimals = 9
/** Of u64. */
const rawDigitsMax = 20

const keys = {
  account: Buffer.from('{"associatedTokenAddress":"'),
  mint: Buffer.from('","mint":"'),
  name: Buffer.from('","name":'),
  symbol: Buffer.from(',"symbol":'),
  amount: Buffer.from(',"amount":"'),
  amountRaw: Buffer.from('","amountRaw":"'),
  decimals: Buffer.from('","decimals":'),
  end: Buffer.from('},'),
}
/** Keys of the entry and of both accounts, the raw amount and the decimals. */
const entryBytes =
  Object.values(keys).reduce((sum, text) => sum + text.length, 0) + 2 * keyCharactersMax + rawDigitsMax + 3

export function writePortfolio({ lamports, nfts, tokens }: PortfolioAnswer): Buffer<ArrayBuffer> {
  const head = `{"nativeBalance":{"lamports":"${lamports}","solana":"${exactAmount(lamports, solDecimals)}"},"nfts":[`
  const between = '],"tokens":['
  const tail = ']}'
  const out = Buffer.allocUnsafeSlow(head.length + between.length + tail.length + bytesMax(nfts) + bytesMax(tokens))
  let at = putAscii(out, 0, head)
  at = putEntries(out, at, nfts)
  at = putAscii(out, at, between)
  at = putEntries(out, at, tokens)
  at = putAscii(out, at, tail)
  return out.subarray(0, at)
}

/** An escaped character takes up to six bytes; two quotes. */
function bytesMax(entries: readonly PortfolioEntry[]): number {
  let bytes = entries.length * entryBytes
  for (const { name, symbol, amount } of entries) bytes += (name.length + symbol.length) * 6 + 4 + amount.length
  return bytes
}

function putEntries(out: Buffer, start: number, entries: readonly PortfolioEntry[]): number {
  let at = start
  for (const { account, mint, name, symbol, amount, amountRaw, decimals } of entries) {
    at = putKey(out, putBytes(out, at, keys.account), account)
    at = putKey(out, putBytes(out, at, keys.mint), mint)
    at = putText(out, putBytes(out, at, keys.name), name)
    at = putText(out, putBytes(out, at, keys.symbol), symbol)
    at = putAscii(out, putBytes(out, at, keys.amount), amount)
    at = putAscii(out, putBytes(out, at, keys.amountRaw), `${amountRaw}`)
    at = putAscii(out, putBytes(out, at, keys.decimals), `${decimals}`)
    at = putBytes(out, at, keys.end)
  }
  // No comma behind the last one.
  return entries.length === 0 ? at : at - 1
}

function putBytes(out: Buffer, at: number, bytes: Uint8Array): number {
  out.set(bytes, at)
  return at + bytes.length
}

const quote = '"'.charCodeAt(0)
const backslash = '\\'.charCodeAt(0)

/** A JSON string. Most names are plain: they are copied while they are looked at. */
function putText(out: Buffer, start: number, text: string): number {
  let at = start
  out[at++] = quote
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 32 || code > 126 || code === quote || code === backslash)
      return start + out.write(JSON.stringify(text), start)
    out[at++] = code
  }
  out[at++] = quote
  return at
}
