import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineChain } from '../../chains.ts'
import type { Address } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'
import { firstBlockWhere, WalletLookup } from './wallet-lookup.ts'

test('finds the first block wherever it is, in few batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(20_000_000), fc.nat(20_000_000), fc.nat(20_000_000), async (a, b, first) => {
      const interval = { from: Math.min(a, b), to: Math.max(a, b) }
      let batches = 0
      const found = await firstBlockWhere(async blocks => {
        batches++
        expect(blocks.length).toBeLessThanOrEqual(15)
        expect(blocks.every(block => block >= interval.from && block <= interval.to)).toBe(true)
        return blocks.map(block => block >= first)
      }, interval)
      expect(found).toBe(first > interval.to ? undefined : Math.max(first, interval.from))
      expect(batches).toBeLessThanOrEqual(8)
    }),
  )
})

test('an empty interval has no first block', async () => {
  expect(await firstBlockWhere(async blocks => blocks.map(() => true), { from: 5, to: 4 })).toBeUndefined()
})

const wallet = `0x${'1'.repeat(40)}` as Address
const other = `0x${'2'.repeat(40)}`
const hash = (block: number): string => `0x${block.toString(16).padStart(64, '0')}`
/** Funded in block 3, it sends in block 5. */
const transactionOf = (block: number): object => {
  const parties = block === 5 ? { from: wallet, to: other } : { from: other, to: wallet }
  return { ...parties, hash: hash(100 + block), value: '0x1', nonce: '0x0', transactionIndex: '0x0' }
}

test.each([
  ['a list that is a text', (block: object) => ({ ...block, transactions: 'none' })],
  ['a transaction that is null', (block: object) => ({ ...block, transactions: [null] })],
  ['a recipient that is a number', (block: object) => withTransaction(block, { to: 5 })],
  ['a value that is a text', (block: object) => withTransaction(block, { value: 'much' })],
  ['a hash that is a list', (block: object) => withTransaction(block, { hash: [] })],
  ['no block', () => null],
])('%s is the failure of its endpoint, and another one is asked', async (_, lie) => {
  const distrusted: string[] = []
  const rpc: RpcPort = {
    endpoints: ['liar', 'honest'],
    async ask(calls, { exclude, bytesMax }) {
      const endpoint = exclude?.has('liar') ? 'honest' : 'liar'
      const values = calls.map(({ method, params }) => {
        if (method === 'eth_getTransactionCount') return Number(params[1]) < 5 ? '0x0' : '0x1'
        if (method === 'eth_getBalance') return Number(params[1]) < 3 ? '0x0' : '0x1'
        // It is parsed here.
        expect(bytesMax).toBeLessThan(2e7)
        const [number, at] = [params[0], Number(params[0])]
        const header = { number, hash: hash(at), parentHash: hash(at - 1), timestamp: '0x9' }
        const block = { ...header, transactions: [transactionOf(at)] }
        return endpoint === 'liar' ? lie(block) : block
      })
      return { endpoint, values, bytes: 0 }
    },
    askRaw: () => Promise.reject(new Error('not asked')),
    hasDropped: async () => false,
    historyFrom: 0,
    distrust: (endpoint, reason) => {
      distrusted.push(endpoint)
      return reason
    },
    status: () => [],
  }
  const lookup = new WalletLookup(defineChain({ name: 'sim', id: 1337 }), rpc)
  const { activity } = await lookup.find(wallet, 20, undefined, new AbortController().signal)
  expect(activity).toMatchObject({ first: { block: 3, hash: hash(103) }, last: { block: 5, hash: hash(105) } })
  expect(distrusted).toContain('liar')
})

function withTransaction(block: object, change: object): object {
  return { ...block, transactions: [{ ...(block as { transactions: object[] }).transactions[0], ...change }] }
}
