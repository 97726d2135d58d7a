// What an endpoint says of a transaction is believed only if a row can be made of it.
import { expect, test } from 'vitest'
import { defineChain } from '../../chains.ts'
import { readFacts } from './read-facts.ts'

const hash = `0x${'11'.repeat(32)}`
const blockHash = `0x${'22'.repeat(32)}`
const right = { hash, blockHash, from: `0x${'33'.repeat(20)}`, value: '0x0' }

function read(transaction: object) {
  const bodies = [Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 0, result: transaction }))]
  const questions = [{ kind: 'transaction', hash, number: 1, blockHash }] as const
  return readFacts({ chain: defineChain({ name: 'sim', id: 1337 }), questions, bodies })
}

test.each([
  ['a sender that is an object', { from: { toString: 1 } }],
  ['a sender that is too short', { from: '0x33' }],
  ['no sender', { from: undefined }],
  ['a value that is a list', { value: [] }],
  ['a value that is not hex', { value: '0xzz' }],
  ['a value of more digits than a row has', { value: `0x${'0'.repeat(65)}` }],
])('%s is refused', (_, odd) => {
  expect(read({ ...right, ...odd })).toBe(`transaction ${hash} came without a readable sender or value`)
})

test('a sender and a value are taken, as a word where the hash does not prove them', () => {
  const transactions = new Map([[hash, { value: '0x0', from: right.from }]])
  expect(read(right)).toMatchObject({ transactions, doubtful: [0] })
})
