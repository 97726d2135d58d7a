// Every transfer of the sandbox's token can be paid, whatever hours of traffic did before.
import type { Hex } from 'ox/Hex'
import { expect, test } from 'vitest'
import { Draws } from './draws.ts'
import { developmentAccount } from './evm-accounts.ts'
import { coinBeginning, nextCoinTransfer } from './evm-coin.ts'
import type { Deployed, Transaction } from './evm-transactions.ts'

const wallets = Array.from({ length: 8 }, (_, index) => developmentAccount(index + 1))
const supply = 10n ** 24n

/** Its calls say in words what they do. */
const contract: Deployed = {
  address: developmentAccount(9).address,
  call: (...words) => ({ to: contract.address, data: words.join(' ') as Hex }),
}

test.each(['almanac', 'another'])('no wallet gives more of the token than it has, with the seed %s', seed => {
  const held = new Map<string, bigint>([[wallets[0]!.address, supply]])
  const follow = (transactions: readonly Transaction[]): void => {
    for (const { from, data } of transactions) {
      const [name, to, units] = data!.split(' ') as [string, string, string]
      if (name !== 'transfer') continue
      const amount = BigInt(units)
      expect(amount).toBeGreaterThan(0n)
      expect(held.get(from.address)).toBeGreaterThanOrEqual(amount)
      held.set(from.address, held.get(from.address)! - amount)
      held.set(to, (held.get(to) ?? 0n) + amount)
    }
  }
  const draws = new Draws(seed, 'coin')
  const beginning = coinBeginning({ contract, wallets, draws })
  follow(beginning.transactions)
  let { balances } = beginning
  for (let turn = 0; turn < 4_000; turn++) {
    const next = nextCoinTransfer({ contract, balances, wallets, draws })
    follow(next.transactions)
    balances = next.balances
  }
  expect(wallets.map(({ address }) => held.get(address))).toEqual(balances.map(each => BigInt(each) * 10n ** 16n))
  expect([...held.values()].reduce((sum, amount) => sum + amount)).toBe(supply)
  expect(Math.min(...balances)).toBeGreaterThan(0)
})
