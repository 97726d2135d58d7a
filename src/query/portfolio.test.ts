import { describe, expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { isNft, portfolioOf } from './portfolio.ts'

describe('an NFT', () => {
  const mint = (decimals: number, tokenStandard: number | undefined, supply: bigint) =>
    isNft({ decimals: [decimals], tokenStandards: [tokenStandard ?? null], supplies: [`${supply}`] }, 0)

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
  await expect(
    portfolioOf(store, question, {
      key: { id: 'k', indexPerDay: undefined, indexWaiting: undefined },
      freshen: undefined,
      displayAmount: String,
    }),
  ).rejects.toMatchObject({
    code: 'not_configured',
    message:
      'Nothing in this process reads accounts of Solana devnet: that takes solana.devnet.rpc and a start without --only api.',
  })
})
