// The bytes that are hashed for receipts, against ox's RLP of the same fields.
import fc from 'fast-check'
import type { Hex } from 'ox/Hex'
import * as Rlp from 'ox/Rlp'
import { expect, test } from 'vitest'
import type { RpcReceipt } from '../rpc/port.ts'
import { receiptsRoot } from './receipts-root.ts'
import { listRoot } from './trie.ts'

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const bytes = (options: { minLength?: number; maxLength: number }) => fc.uint8Array(options).map(hexOf)
const quantity = fc.bigInt({ min: 0n, max: 2n ** 64n }).map(value => `0x${value.toString(16)}`)

const log = fc.record({
  address: bytes({ minLength: 20, maxLength: 20 }),
  topics: fc.array(bytes({ minLength: 32, maxLength: 32 }), { maxLength: 4 }),
  data: fc.oneof(bytes({ maxLength: 3 }), bytes({ maxLength: 300 })),
})
const receipt = fc.record({
  type: fc.constantFrom('0x0', '0x1', '0x2', '0x7e', undefined),
  status: fc.constantFrom('0x0', '0x1', '0x01', '0x00'),
  root: fc.option(bytes({ minLength: 32, maxLength: 32 }), { freq: 4, nil: undefined }),
  cumulativeGasUsed: quantity,
  logsBloom: bytes({ minLength: 256, maxLength: 256 }),
  logs: fc.array(log, { maxLength: 12 }),
  depositNonce: quantity,
  depositReceiptVersion: fc.constantFrom('0x1', undefined, null),
})

function minimal(text: string): Hex {
  const value = BigInt(text)
  const digits = value === 0n ? '' : value.toString(16)
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

function reference(given: RpcReceipt): Uint8Array {
  const { root, status, cumulativeGasUsed, logsBloom, logs, type, depositNonce, depositReceiptVersion } = given
  const logItems = logs.map(({ address, topics, data }) => [address as Hex, topics as Hex[], data as Hex])
  const outcome = root === undefined ? minimal(String(status)) : (root as Hex)
  const deposit = depositReceiptVersion ? [minimal(String(depositNonce)), minimal(String(depositReceiptVersion))] : []
  const rlp = Rlp.fromHex(
    [outcome, minimal(String(cumulativeGasUsed)), logsBloom as Hex, logItems, ...deposit] as never,
    { as: 'Bytes' },
  )
  const kind = Number(type ?? 0)
  return kind === 0 ? rlp : Buffer.concat([Uint8Array.of(kind), rlp])
}

test('the root is that of the receipts as ox encodes them', () => {
  fc.assert(
    fc.property(fc.array(receipt, { maxLength: 20 }), given => {
      const receipts = given as unknown as RpcReceipt[]
      expect(receiptsRoot(receipts)).toBe(hexOf(listRoot(receipts.map(reference))))
    }),
  )
})

test('very long data and many logs outgrow the buffer and change nothing', () => {
  const long = { address: `0x${'ab'.repeat(20)}`, topics: [`0x${'cd'.repeat(32)}`], data: `0x${'ef'.repeat(70_000)}` }
  const base = { type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: `0x${'00'.repeat(256)}` }
  const receipts = [1, 3, 2].map(count => ({ ...base, logs: new Array(count).fill(long) })) as unknown as RpcReceipt[]
  expect(receiptsRoot(receipts)).toBe(hexOf(listRoot(receipts.map(reference))))
})

test.each([
  ['no object', null],
  ['no logs', { logs: null }],
  ['a log that is none', { logs: [null] }],
  ['a topic that is not hex', { logs: [{ address: '0x00', topics: [`0x${'zz'.repeat(32)}`], data: '0x' }] }],
  ['half a byte', { logs: [{ address: '0x00', topics: [], data: '0x123' }] }],
  ['long data that is not hex', { logs: [{ address: '0x00', topics: [], data: `0x${'g'.repeat(400)}` }] }],
  ['no bloom', { logsBloom: undefined }],
  ['a type beyond all', { type: '0x80' }],
])('%s cannot be read', (_, changed) => {
  const good = { type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: '0x00', logs: [] }
  expect(receiptsRoot([good as unknown as RpcReceipt])).toMatch(/^0x/)
  const bad = changed === null ? null : { ...good, ...changed }
  expect(receiptsRoot([good, bad] as unknown as RpcReceipt[])).toBeUndefined()
})
