// Transfers of ERC-20 tokens: which logs are ones, what their rows say, and that no log makes the decoder throw.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { propertyRuns } from '../../../test/release-runs.ts'
import { ledgerId } from '../../ledgers.ts'
import {
  type Address,
  type ChainId,
  cryptoPunks,
  etherLogs,
  type Hash,
  type TransferFacts,
  zeroAddress,
} from '../../model.ts'
import { unpackTransfer } from '../../store/transfer-payload.ts'
import type { RpcLog } from '../rpc/port.ts'
import { decodeTransfers } from './decode.ts'
import { sequenceLogs } from './log-sequence.ts'
import { earlyCollectionsOf, topics, topicsOf } from './token-events.ts'

const ledger = ledgerId(1 as ChainId, 'erc20')
const [alice, bob, token] = ['a1', 'b0', '11'].map(byte => `0x${byte.repeat(20)}`) as [Address, Address, Address]
const axie = '0xf5b0a3efb8e8e4c201e2a935f110eaaf3ffecb8d'
const transactionHash = `0x${'77'.repeat(32)}` as Hash
const max = 2n ** 256n - 1n

const word = (value: bigint | string): string =>
  `0x${(typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')}`
const transfer = { topics: [topics.transfer, word(alice), word(bob)], data: word(7n) }

function log(parts: Partial<RpcLog>): RpcLog {
  return {
    ...{ address: token, topics: [], data: '0x', removed: false },
    ...{ blockNumber: '0x10', blockHash: `0x${'bb'.repeat(32)}`, transactionHash },
    ...{ transactionIndex: '0x2', logIndex: '0x3' },
    ...parts,
  }
}

function decode(logs: readonly unknown[]) {
  const { rows, malformed } = decodeTransfers({
    logs: sequenceLogs(logs as RpcLog[], { complete: false }),
    ledger: 'erc20',
    earlyCollections: earlyCollectionsOf(ledger),
    transactionOf: () => {
      throw new Error('no transaction is needed')
    },
  })
  const reasons = Object.entries(malformed).filter(([, count]) => count > 0)
  return { rows, facts: rows.map(({ payload }) => unpackTransfer(payload)), malformed: Object.fromEntries(reasons) }
}

const row: TransferFacts = {
  ...{ standard: 'ERC1155', batch: false, from: alice, to: bob, operator: undefined },
  ...{ tokenId: 0n, amount: 7n, value: 0n, transactionHash, idCount: 1 },
}

test('three topics and a word of data are a transfer, without anything of its transaction', () => {
  const { rows, facts } = decode([log(transfer)])
  expect(facts).toEqual([row])
  expect(rows[0]).toMatchObject({ block: 16, transactionIndex: 2, logIndex: 3, batchIndex: 0, contract: token })
})

test('any amount, longer data, mints, burns and ether are ones', () => {
  const given = [
    { data: word(max) },
    { data: word(0n) },
    { data: `${word(1n)}${word(2n).slice(2)}` },
    { topics: [topics.transfer, word(0n), word(bob)] },
    { topics: [topics.transfer, word(alice), word(0n)] },
    { address: etherLogs },
  ].map((parts, at) => log({ ...transfer, ...parts, logIndex: `0x${at}` }))
  const { facts, malformed } = decode(given)
  expect(malformed).toEqual({})
  expect(facts.map(({ amount }) => amount)).toEqual([max, 0n, 1n, 7n, 7n, 7n])
  expect([facts[3]?.from, facts[4]?.to]).toEqual([zeroAddress, zeroAddress])
})

test('events of NFTs and of collections older than the standards are none', () => {
  const others = [
    { topics: [...transfer.topics, word(1n)], data: '0x' },
    { topics: [topics.transfer], data: `${word(alice)}${word(bob).slice(2)}${word(1n).slice(2)}` },
    { topics: [topics.transfer, word(alice)], data: transfer.data },
    { address: cryptoPunks },
    { address: axie },
    { topics: [topics.transferSingle, word(alice), word(alice), word(bob)] },
    { topics: [topics.assign, word(bob)] },
  ]
  expect(decode(others.map(parts => log({ ...transfer, ...parts })))).toMatchObject({ rows: [], malformed: {} })
})

test('data that is missing or cut, and what is not hex, is counted', () => {
  expect(decode([log({ ...transfer, data: '0x' })]).malformed).toEqual({ data: 1 })
  expect(decode([log({ ...transfer, data: word(1n).slice(0, -2) })]).malformed).toEqual({ data: 1 })
  expect(decode([log({ ...transfer, topics: [topics.transfer, '0x12', word(bob)] })]).malformed).toEqual({ topics: 1 })
  expect(decode([log({ ...transfer, data: `0x${'g'.repeat(64)}` })]).malformed).toEqual({ hex: 1 })
  expect(decode([log({ ...transfer, address: '0x12' })]).malformed).toEqual({ hex: 1 })
})

test('a ledger is asked for its own events alone', () => {
  expect(topicsOf(ledger)).toEqual([topics.transfer])
  expect(topicsOf(1 as ChainId)).toEqual(Object.values(topics))
})

test('no log makes it throw, and every payload is as the reference packs it', () => {
  const odd = fc.oneof(
    fc.constantFrom(...transfer.topics, ...Object.values(topics), '0x', '0x0', null, undefined),
    fc.bigInt({ min: 0n, max }).map(word),
    fc.jsonValue({ maxDepth: 1 }),
  )
  const oddLog = fc.record(
    {
      address: fc.oneof(fc.constantFrom(token, cryptoPunks, etherLogs), odd),
      topics: fc.oneof(fc.array(odd, { maxLength: 5 }), fc.tuple(fc.constant(topics.transfer), odd, odd), odd),
      data: odd,
      blockNumber: fc.oneof(fc.constant('0x1'), odd),
      transactionHash: fc.oneof(fc.constant(transactionHash), odd),
      transactionIndex: fc.oneof(fc.constant('0x1'), odd),
      logIndex: fc.oneof(fc.constantFrom('0x1', '0x2'), odd),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(oddLog), logs => {
      const { rows, facts } = decode(logs)
      for (const [at, { payload }] of rows.entries()) expect(Buffer.compare(packTransfer(facts[at]!), payload)).toBe(0)
    }),
    { numRuns: propertyRuns(500) },
  )
})
