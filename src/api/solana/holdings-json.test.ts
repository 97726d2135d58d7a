import { base58 } from '@scure/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../test/release-runs.ts'
import { exactAmount } from '../../exact-amount.ts'
import { plainName } from '../../plain-text.ts'
import { writePortfolio } from './holdings-json.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', '\\', '\u2028', 'usd\u202eniocsd\u0007', '\ud800', '💎'),
)
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const entry = fc.record({
  account: key,
  mint: key,
  name: text,
  symbol: text,
  amountRaw: u64,
  decimals: fc.nat(255),
  list: fc.constantFrom('nfts', 'tokens', 'neither'),
})

test('every portfolio is written as JSON.stringify would, with names that change nothing beside them', () => {
  fc.assert(
    fc.property(u64, fc.array(entry, { maxLength: 8 }), (lamports, entries) => {
      const rowsOf = (list: string) => entries.flatMap((each, row) => (each.list === list ? [row] : []))
      const amounts = entries.map(({ amountRaw, decimals }) => exactAmount(`${amountRaw}`, decimals))
      const written = writePortfolio({
        lamports,
        holdings: {
          length: entries.length,
          accounts: Buffer.concat(entries.map(({ account }) => account)),
          mints: Buffer.concat(entries.map(({ mint }) => mint)),
          amounts: entries.map(({ amountRaw }) => `${amountRaw}`),
          decimals: entries.map(({ decimals }) => decimals),
          names: entries.map(({ name }) => name),
          symbols: entries.map(({ symbol }) => symbol),
          supplies: entries.map(() => '1'),
          tokenStandards: entries.map(() => null),
          amountRules: entries.map(() => null),
        },
        nfts: rowsOf('nfts'),
        tokens: rowsOf('tokens'),
        unknown: [],
        amounts,
        slot: 1,
        readAtMs: 1,
      })
      const objectOf = (row: number) => {
        const { account, mint, name, symbol, amountRaw, decimals } = entries[row]!
        const keys = { associatedTokenAddress: base58.encode(account), mint: base58.encode(mint) }
        const shown = { name: plainName(name), symbol: plainName(symbol) }
        return { ...keys, ...shown, amount: amounts[row], amountRaw: `${amountRaw}`, decimals }
      }
      expect(written.toString()).toBe(
        JSON.stringify({
          nativeBalance: { lamports: `${lamports}`, solana: exactAmount(`${lamports}`, 9) },
          nfts: rowsOf('nfts').map(objectOf),
          tokens: rowsOf('tokens').map(objectOf),
        }),
      )
    }),
    { numRuns: propertyRuns(2_000) },
  )
})
