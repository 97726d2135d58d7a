// Displayed amounts against the Token-2022 program itself, run in process.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayAmount } from '../src/solana/amounts.ts'
import { decodeMint } from '../src/solana/decode.ts'
import { propertyRuns } from './release-runs.ts'
import { interestExtension, mintWithExtension, scaledExtension, startTokenProgram } from './solana-token-program.ts'

const program = await startTokenProgram()
const u64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(63)).map(([value, shift]) => value >> BigInt(shift)),
)
const decimals = fc.oneof(fc.nat(18), fc.nat(255))
const moment = fc.integer({ min: 0, max: 4_000_000_000 })
const rate = fc.oneof(fc.integer({ min: -1_000, max: 3_000 }), fc.integer({ min: -32_768, max: 32_767 }))

function expectSame(mint: Uint8Array, amount: bigint, chainTime: number) {
  const { decimals: places, amountRule = 'none' } = decodeMint(mint)!
  expect(displayAmount(amount, { decimals: places, amountRule }, chainTime)).toBe(
    program.uiAmount({ mint, amount, chainTime: BigInt(chainTime) }),
  )
}

test('interest-bearing amounts are the program’s, digit by digit', () => {
  fc.assert(
    fc.property(u64, decimals, moment, moment, moment, rate, rate, (amount, places, a, b, chainTime, before, now) => {
      const extension = interestExtension({
        initializedAt: BigInt(Math.min(a, b)),
        averageRate: before,
        updatedAt: BigInt(Math.max(a, b)),
        currentRate: now,
      })
      expectSame(mintWithExtension({ decimals: places, type: 10, extension }), amount, chainTime)
    }),
    { numRuns: propertyRuns(2_000) },
  )
})

test('scaled amounts are the program’s, before and after the next multiplier holds', () => {
  const multiplier = fc.oneof(
    fc.double({ min: 0.001, max: 1_000, noNaN: true }),
    fc.integer({ min: 1, max: 100_000 }).map(value => value / 1_000),
    // The program admits no other multipliers than positive normal doubles.
    fc.double({ min: 2 ** -1022, noNaN: true }),
  )
  fc.assert(
    fc.property(u64, decimals, multiplier, multiplier, moment, moment, (amount, places, now, next, from, chainTime) => {
      const extension = scaledExtension({ multiplier: now, nextFrom: BigInt(from), nextMultiplier: next })
      expectSame(mintWithExtension({ decimals: places, type: 25, extension }), amount, chainTime)
    }),
    { numRuns: propertyRuns(2_000) },
  )
})
