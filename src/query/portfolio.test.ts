import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { exactAmount, isNft, portfolioOf } from './portfolio.ts'

describe('amounts', () => {
  test.each([
    [0n, 9, '0'],
    [5_999_980_000n, 9, '5.99998'],
    [100_000n, 3, '100'],
    [1n, 0, '1'],
    [1n, 9, '0.000000001'],
    [2n ** 64n - 1n, 9, '18446744073.709551615'],
    [1n, 255, `0.${'0'.repeat(254)}1`],
  ])('%s with %s decimals is %s', (raw, decimals, text) => {
    expect(exactAmount(raw, decimals)).toBe(text)
  })

  test('are exact and without needless zeros', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(255), (raw, decimals) => {
        const text = exactAmount(raw, decimals)
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        const [whole = '', fraction = ''] = text.split('.')
        expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(raw)
      }),
    )
  })
})

describe('an NFT', () => {
  const mint = (decimals: number, tokenStandard: number | undefined, supply: bigint) =>
    isNft({ decimals, tokenStandard, supply } as Parameters<typeof isNft>[0])

  test('has no decimals, whatever its metadata says', () => {
    for (const standard of [undefined, 0, 1, 2, 3, 4, 5]) expect(mint(1, standard, 1n)).toBe(false)
  })

  test('is what its token standard says, and otherwise what there is one of', () => {
    for (const standard of [0, 3, 4, 5]) expect(mint(0, standard, 1_000n)).toBe(true)
    for (const standard of [1, 2]) expect(mint(0, standard, 1n)).toBe(false)
    for (const standard of [undefined, 6, 99]) {
      expect(mint(0, standard, 1n)).toBe(true)
      expect(mint(0, standard, 2n)).toBe(false)
      expect(mint(0, standard, 0n)).toBe(false)
    }
  })
})

test('a process that reads no accounts names both ways to become one that does', async () => {
  const store = { portfolioOf: async () => undefined } as unknown as Store
  const question = { network: 'devnet', owner: new Uint8Array(32) } as const
  await expect(portfolioOf(store, question, { freshen: undefined, displayAmount: String })).rejects.toMatchObject({
    code: 'not_configured',
    message:
      'Nothing in this process reads accounts of Solana devnet: that takes solana.devnet.rpc and a start without --only api.',
  })
})
