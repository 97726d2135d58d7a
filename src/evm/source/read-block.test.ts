import { expect, test } from 'vitest'
import type { Hash } from '../../model.ts'
import type { RpcCall } from '../rpc/port.ts'
import { readBlock } from './read-block.ts'

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash
const blockAt = (number: number, hash = hashOf(number)) => ({
  ...{ number: `0x${number.toString(16)}`, hash, parentHash: hashOf(number - 1), timestamp: '0x64' },
  transactions: [hashOf(1), hashOf(2)],
})
const replaced = hashOf(0xdead)
const signal = new AbortController().signal

/** A node whose chain has blocks up to 9, and still knows one that was replaced. */
const node = {
  async ask([call]: readonly RpcCall[]) {
    const [name] = call!.params as [string]
    const number = Number(name)
    const isByHash = call!.method === 'eth_getBlockByHash'
    const found = name === replaced ? blockAt(5, replaced) : number > 9 ? null : blockAt(number)
    return { values: [isByHash || name !== replaced ? found : null], endpoint: 'node' } as never
  },
}

test('a block by its number and by its hash', async () => {
  const seven = { number: 7, hash: hashOf(7), parentHash: hashOf(6), timestamp: 100, transactions: 2 }
  expect(await readBlock(node, 7, signal)).toEqual(seven)
  expect(await readBlock(node, hashOf(7), signal)).toEqual(seven)
})

test('neither a block above the head nor one that was replaced', async () => {
  expect(await readBlock(node, 10, signal)).toBeUndefined()
  expect(await readBlock(node, hashOf(10), signal)).toBeUndefined()
  expect(await readBlock(node, replaced, signal)).toBeUndefined()
})

test('nothing of an answer that is not a block', async () => {
  for (const answer of [{}, 'block', { ...blockAt(7), hash: '0x12' }, { ...blockAt(7), number: null }]) {
    const odd = { ask: async () => ({ values: [answer], endpoint: 'node' }) as never }
    expect(await readBlock(odd, 7, signal)).toBeUndefined()
  }
})
