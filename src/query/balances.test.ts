import { expect, test } from 'vitest'
import { defineChain } from '../chains.ts'
import type { Address, Hash } from '../model.ts'
import { Balances } from './balances.ts'
import type { IndexingKey } from './freshen.ts'

const chain = defineChain({ name: 'sim', id: 31_337 })
const wallet = `0x${'1'.repeat(40)}` as Address
const [ours, theirs] = ['a', 'b'].map(digit => `0x${digit.repeat(64)}`) as [Hash, Hash]

test('what a node says of another branch is answered once, and not kept for the head', async () => {
  const head = { number: 5, hash: ours, timestamp: 50 }
  const balances = new Balances({ chainState: async () => ({ head, finalized: 1 }) })
  const said = [
    { hash: theirs, balance: '1' },
    { hash: ours, balance: '2' },
    { hash: ours, balance: '3' },
  ]
  const freshen = {
    balances: async () => {
      const { hash, balance } = said.shift()!
      return { block: 5, hash, timestamp: 50, balances: [balance] }
    },
  }
  const ask = async () => {
    const asked = { chain, wallets: [wallet], toBlock: undefined }
    return (await balances.answer(asked, { key: { id: 'k' } as IndexingKey, freshen })).balances[0]
  }
  expect([await ask(), await ask(), await ask()]).toEqual(['1', '2', '2'])
})

test('balances between the final block and the head are read once for a head, and all of one branch', async () => {
  let head = { number: 5, hash: ours, timestamp: 50 }
  const balances = new Balances({ chainState: async () => ({ head, finalized: 1 }) })
  const other = `0x${'2'.repeat(40)}` as Address
  const asked: number[] = []
  let branch = ours
  const freshen = {
    balances: async ({ wallets }: { wallets: readonly Address[] }) => {
      asked.push(wallets.length)
      return { block: 3, hash: branch, timestamp: 30, balances: wallets.map(() => branch) }
    },
  }
  const ask = async (...wallets: Address[]) =>
    (await balances.answer({ chain, wallets, toBlock: 3 }, { key: { id: 'k' } as IndexingKey, freshen })).balances
  await ask(wallet)
  await ask(wallet)
  expect(asked).toEqual([1])
  branch = theirs
  expect(await ask(wallet, other)).toEqual([theirs, theirs])
  head = { ...head, hash: theirs }
  await ask(wallet)
  expect(asked).toEqual([1, 2, 1])
})

test('where the node leaves the branch of the index, what was kept of the head is read again with the rest', async () => {
  const head = { number: 5, hash: ours, timestamp: 50 }
  const balances = new Balances({ chainState: async () => ({ head, finalized: 1 }) })
  const other = `0x${'2'.repeat(40)}` as Address
  let branch = ours
  const freshen = {
    balances: async ({ wallets }: { wallets: readonly Address[] }) => {
      return { block: 5, hash: branch, timestamp: 50, balances: wallets.map(() => branch) }
    },
  }
  const ask = async (...wallets: Address[]) =>
    (await balances.answer({ chain, wallets, toBlock: undefined }, { key: { id: 'k' } as IndexingKey, freshen }))
      .balances
  expect(await ask(wallet)).toEqual([ours])
  branch = theirs
  expect(await ask(wallet, other)).toEqual([theirs, theirs])
  expect(await ask(wallet)).toEqual([ours])
})
