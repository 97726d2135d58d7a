import { expect, test } from 'vitest'
import { ChainTable, defineChain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import { topics, zeroWord } from '../decode/token-events.ts'
import type { RpcBlock, RpcReceipt } from '../rpc/port.ts'
import { areRawReceipts, readRawReceipts, takesRawReceipts } from './raw-receipts.ts'
import { receiptsRoot } from './receipts-root.ts'
import { encodeRlp } from './rlp.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
const noBloom = `0x${'00'.repeat(256)}`
const [contract, listed, party] = ['aa', 'bb', 'cc'].map(byte => `0x${byte.repeat(20)}`) as [string, string, string]
const word = `0x${'00'.repeat(12)}${party.slice(2)}`
const log = (address: string, ...logTopics: string[]) => ({ address, topics: logTopics, data: '0x' })

/** Of a block before Byzantium, of today, and of a deposit on an OP chain with nonce and version. */
const receipts = [
  { root: `0x${'11'.repeat(32)}`, logs: [log(contract), log(contract, topics.transfer, zeroWord, word)] },
  { type: '0x2', status: '0x1', logs: [log(contract, topics.transfer, zeroWord, word, zeroWord)] },
  {
    ...{ type: '0x7e', status: '0x0', depositNonce: '0x5', depositReceiptVersion: '0x1' },
    logs: [log(listed, topics.transfer, zeroWord, word)],
  },
] as const
const json = receipts.map((receipt, index) => ({
  ...{ cumulativeGasUsed: quantityHex(index + 1), logsBloom: noBloom, ...receipt },
})) as unknown as RpcReceipt[]
const raw = receipts.map((receipt, index) => {
  const status = 'root' in receipt ? bytes(receipt.root) : Buffer.from(receipt.status === '0x1' ? [1] : [])
  const logs = receipt.logs.map(each => [bytes(each.address), each.topics.map(bytes), bytes(each.data)])
  const deposit = 'depositNonce' in receipt ? [Buffer.of(5), Buffer.of(1)] : []
  const list = encodeRlp([status, Buffer.of(index + 1), bytes(noBloom), logs, ...deposit])
  return `${'type' in receipt ? `0x${receipt.type.slice(2).padStart(2, '0')}` : '0x'}${list.toString('hex')}`
})
const hashes = receipts.map((_, index) => `0x${String(index).repeat(64)}`)
const block = {
  ...{ number: '0x7', hash: `0x${'22'.repeat(32)}`, receiptsRoot: receiptsRoot(json) },
  transactions: hashes.map(hash => ({ hash })),
} as unknown as RpcBlock

test('receipts of every form are hashed as they are, and fungible transfers stay bytes', () => {
  const read = readRawReceipts(block, raw, new Set([0xbb]))
  if ('failure' in read) throw new Error(read.failure.message)
  expect(read.logCount).toBe(4)
  const places = read.logs.logs.map(each => [each.address, each.logIndex, each.transactionHash, each.topics.length])
  expect(places).toEqual([
    [contract, '0x2', hashes[1], 4],
    [listed, '0x3', hashes[2], 3],
  ])
  const { bytes: held, places: parties } = read.parties
  expect(parties.length).toBe(3)
  expect(parties[0]).toBe(0)
  expect(Buffer.from(held.subarray(parties[2], parties[2]! + 20)).toString('hex')).toBe(party.slice(2))
})

test('without a list of contracts every transfer is spelled out', () => {
  const read = readRawReceipts(block, raw)
  if ('failure' in read) throw new Error(read.failure.message)
  expect([read.logs.length, read.parties.places.length]).toEqual([3, 0])
})

test('another root, another number of receipts and what is not hex are failures', () => {
  const failureOf = (given: readonly string[]) => {
    const read = readRawReceipts(block, given)
    return 'failure' in read ? read.failure.message : undefined
  }
  expect(failureOf(raw.toReversed())).toMatch(/^block 7: the 3 raw receipts hash to 0x/)
  expect(failureOf(raw.slice(1))).toBe('block 7: 2 raw receipts came for 3 transactions')
  expect(failureOf([...raw.slice(1), '0x0g'])).toBe('block 7: a raw receipt is not bytes in hex')
})

test('raw receipts are used where the root holds every log', () => {
  const table = new ChainTable()
  const taken = (name: string) => takesRawReceipts(table.parse(name)!)
  expect([taken('eth'), taken('bsc'), taken('polygon'), taken('cronos')]).toEqual([true, true, false, false])
  expect(takesRawReceipts(defineChain({ name: 'own', id: 5 }))).toBe(true)
  const are = (name: string, receipts: unknown) => areRawReceipts(table.parse(name)!, receipts)
  expect([are('eth', []), are('eth', [{}]), are('polygon', ['0x']), are('eth', ['0x'])]).toEqual([
    false,
    false,
    false,
    true,
  ])
})
