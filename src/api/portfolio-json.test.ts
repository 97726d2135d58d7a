import { base58 } from '@scure/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactAmount, type PortfolioEntry } from '../query/portfolio.ts'
import { writePortfolio } from './portfolio-json.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '"', '\\', '\u2028', '\ud800', '💎'))
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const entry: fc.Arbitrary<PortfolioEntry> = fc
  .record({ account: key, mint: key, name: text, symbol: text, amountRaw: u64, decimals: fc.nat(255) })
  .map(fields => ({ ...fields, amount: exactAmount(fields.amountRaw, fields.decimals) }))

test('every portfolio is written as JSON.stringify would', () => {
  fc.assert(
    fc.property(u64, fc.array(entry, { maxLength: 5 }), fc.array(entry, { maxLength: 5 }), (lamports, nfts, tokens) => {
      const written = writePortfolio({ lamports, nfts, tokens, slot: 1, readAtMs: 1 }).toString()
      expect(written).toBe(
        JSON.stringify({
          nativeBalance: { lamports: `${lamports}`, solana: exactAmount(lamports, 9) },
          nfts: nfts.map(entryOf),
          tokens: tokens.map(entryOf),
        }),
      )
    }),
    { numRuns: 2_000 },
  )
})

function entryOf({ account, mint, name, symbol, amount, amountRaw, decimals }: PortfolioEntry) {
  return {
    associatedTokenAddress: base58.encode(account),
    mint: base58.encode(mint),
    name,
    symbol,
    amount,
    amountRaw: `${amountRaw}`,
    decimals,
  }
}
