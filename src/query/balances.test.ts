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
