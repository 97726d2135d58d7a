import fc from 'fast-check'
import * as ContractAddress from 'ox/ContractAddress'
import { describe, expect, test } from 'vitest'
import { type ChainId, etherLogs, zeroAddress } from '../../model.ts'
import { unpackActivity } from '../../store/packed-activity.ts'
import type { RpcBlock, RpcLog, RpcTransaction } from '../rpc/port.ts'
import { collectActivity } from './activity.ts'
import { sequenceLogs } from './log-sequence.ts'
import { earlyCollectionsOf, topics } from './token-events.ts'

const wallet = (digit: string): string => `0x${digit.repeat(40)}`
const word = (text: string): string => `0x${text.slice(2).padStart(64, '0')}`
const hex = (number: number): string => `0x${number.toString(16)}`
const hashOf = (block: number, index: number): string =>
  `0x${hex(block * 100 + index)
    .slice(2)
    .padStart(64, '0')}`
const earlyCollections = earlyCollectionsOf(1 as ChainId)

function block(number: number, transactions: Partial<RpcTransaction>[]): RpcBlock {
  return {
    number: hex(number),
    hash: word(hex(number)),
    parentHash: word(hex(number - 1)),
    timestamp: hex(number * 10),
    logsBloom: null,
    transactions: transactions.map((parts, index) => ({
      hash: hashOf(number, index),
      from: wallet('1'),
      to: wallet('2'),
      value: '0x0',
      nonce: '0x0',
      transactionIndex: hex(index),
      ...parts,
    })),
  }
}

function log(parts: Partial<RpcLog>): RpcLog {
  const place = { blockNumber: '0x1', blockHash: word('0x1'), transactionIndex: '0x0', logIndex: '0x0' }
  return { ...place, address: wallet('c'), topics: [], data: '0x', transactionHash: hashOf(1, 0), ...parts }
}

function spans(blocks: RpcBlock[], logs: RpcLog[] = []) {
  const { packed, unreadable } = collectActivity({
    blocks,
    logs: sequenceLogs(logs, { complete: true }),
    earlyCollections,
  })
  const rows = unpackActivity(packed)
  const place = ({ block: number, transactionIndex }: { block: number; transactionIndex: number }) =>
    `${number}.${transactionIndex}`
  return {
    rows,
    unreadable,
    spans: Object.fromEntries(rows.map(row => [row.address, `${place(row.first)}-${place(row.last)}`])),
  }
}

describe('the logs of ether (EIP-7708)', () => {
  const ether = (from: string, to: string): RpcLog =>
    log({ address: etherLogs, topics: [topics.transfer, word(from), word(to)], data: word('0x5') })
  const sent = [block(1, [{ value: '0x5' }])]

  test('add nothing where their parties are sender and recipient', () => {
    expect(spans(sent, [ether(wallet('1'), wallet('2'))])).toEqual(spans(sent))
  })

  test('make a wallet active that ether reaches by a call within a transaction, once', () => {
    const inner = [ether(wallet('2'), wallet('9')), { ...ether(wallet('2'), wallet('9')), logIndex: '0x1' }]
    expect(spans(sent, inner).spans).toEqual({ ...spans(sent).spans, [wallet('9')]: '1.0-1.0' })
  })
})

describe('transactions', () => {
  test('senders and recipients, first and last over all blocks', () => {
    const blocks = [
      block(1, [{}, { from: wallet('3'), to: wallet('1') }]),
      block(2, [{ from: wallet('2'), to: wallet('2') }]),
    ]
    const { rows, spans: found } = spans(blocks)
    expect(found).toEqual({ [wallet('1')]: '1.0-1.1', [wallet('2')]: '1.0-2.0', [wallet('3')]: '1.1-1.1' })
    expect(rows[0]?.first).toEqual({ block: 1, transactionIndex: 0, hash: hashOf(1, 0), timestamp: 10 })
  })

  test('one address in two cases is one address', () => {
    const { spans: found } = spans([block(1, [{ from: wallet('a'), to: wallet('A') }])])
    expect(found).toEqual({ [wallet('a')]: '1.0-1.0' })
  })

  test('a creation counts for the contract that it makes', () => {
    for (const nonce of [0n, 1n, 127n, 128n, 70_000n]) {
      const created = ContractAddress.fromCreate({ from: wallet('1') as `0x${string}`, nonce }).toLowerCase()
      const { spans: found } = spans([block(1, [{ to: null, nonce: `0x${nonce.toString(16)}` }])])
      expect(found, `nonce ${nonce}`).toEqual({ [wallet('1')]: '1.0-1.0', [created]: '1.0-1.0' })
    }
    expect(spans([block(1, [{ to: '0x' }])]).spans).toEqual(spans([block(1, [{ to: null }])]).spans)
  })

  test('what cannot be read is counted and harms nothing else', () => {
    const blocks = [
      block(1, [{}, { hash: '0x1' }, { from: '0x12', to: wallet('4') }, { to: null, nonce: 'x' }]),
      { ...block(2, [{}]), timestamp: null as never },
    ]
    expect(spans(blocks)).toMatchObject({ unreadable: 4, spans: { [wallet('4')]: '1.2-1.2' } })
  })
})

describe('token transfers', () => {
  const parties = [wallet('5'), wallet('6')].map(word)
  const batch = (count: number) =>
    `0x${[64, 64, count, ...Array<number>(count).fill(1)].map(value => word(hex(value)).slice(2)).join('')}`
  const cases: [string, Partial<RpcLog>, string[]][] = [
    ['ERC-20', { topics: [topics.transfer, ...parties], data: word('0x1') }, ['5', '6']],
    ['ERC-721', { topics: [topics.transfer, ...parties, word('0x1')] }, ['5', '6']],
    [
      'CryptoKitties',
      { topics: [topics.transfer], data: `0x${[...parties, word('0x1')].map(text => text.slice(2)).join('')}` },
      ['5', '6'],
    ],
    ['ERC-1155', { topics: [topics.transferSingle, word(wallet('7')), ...parties], data: batch(0) }, ['5', '6']],
    ['ERC-1155 batch', { topics: [topics.transferBatch, word(wallet('7')), ...parties], data: batch(2) }, ['5', '6']],
    ['an empty batch', { topics: [topics.transferBatch, word(wallet('7')), ...parties], data: batch(0) }, []],
    ['a broken batch', { topics: [topics.transferBatch, word(wallet('7')), ...parties], data: '0x' }, []],
    ['ERC-2309', { topics: [topics.consecutiveTransfer, word('0x1'), ...parties], data: word('0x9') }, ['5', '6']],
    [
      'a punk',
      {
        address: '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb',
        topics: [topics.assign, parties[0]!],
        data: word('0x9'),
      },
      ['0', '5'],
    ],
    ['Assign of others', { topics: [topics.assign, parties[0]!], data: word('0x9') }, []],
    ['two topics', { topics: [topics.transfer, parties[0]!], data: '0x' }, []],
    ['a mint', { topics: [topics.transfer, word(zeroAddress), parties[1]!], data: word('0x1') }, ['0', '6']],
    [
      'dirty upper bytes',
      { topics: [topics.transfer, `0x${'f'.repeat(24)}${'5'.repeat(40)}`, parties[1]!], data: word('0x1') },
      ['5', '6'],
    ],
  ]

  test.each(cases)('%s', (_, parts, expected) => {
    const { spans: found, unreadable } = spans([block(1, [{}])], [log(parts)])
    const others = Object.keys(found).filter(address => address !== wallet('1') && address !== wallet('2'))
    expect(others.sort()).toEqual(expected.map(wallet))
    expect(unreadable).toBe(0)
  })

  test('a log after the listed transactions counts with its own hash', () => {
    const place = { transactionIndex: '0x5', transactionHash: hashOf(1, 5) }
    const { rows } = spans([block(1, [{}])], [log({ topics: [topics.transfer, ...parties], ...place })])
    expect(rows.find(row => row.address === wallet('5'))?.first).toMatchObject({
      transactionIndex: 5,
      hash: hashOf(1, 5),
    })
  })

  test('a log whose place no store can hold is counted and harms no other', () => {
    const place = { transactionIndex: '0x400000', transactionHash: hashOf(1, 5) }
    const { rows, unreadable } = spans([block(1, [{}])], [log({ topics: [topics.transfer, ...parties], ...place })])
    expect(rows.map(row => row.address).sort()).toEqual([wallet('1'), wallet('2')])
    expect(unreadable).toBe(1)
  })

  test('logs of blocks that were not given are counted', () => {
    const stray = ['0x0', '0x2', '0x9'].map(blockNumber => log({ topics: [topics.transfer, ...parties], blockNumber }))
    expect(spans([block(1, [{}]), block(3, [{}])], stray)).toMatchObject({ unreadable: 3 })
  })
})

test('a range is the merge of its blocks, and no answer makes it throw', () => {
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(null, undefined, '0x', '0x1'))
  const address = fc.constantFrom('1', '2', '3', '4').map(wallet)
  const transaction = fc.record({
    from: fc.oneof({ weight: 9, arbitrary: address }, { weight: 1, arbitrary: odd }),
    to: fc.oneof(address, fc.constant(null)),
  })
  const logParts = fc.record({ index: fc.nat(3), from: address, to: address, topics: fc.option(odd) })
  const oneBlock = fc.record({
    transactions: fc.array(transaction, { maxLength: 3 }),
    logs: fc.array(logParts, { maxLength: 5 }),
  })
  fc.assert(
    fc.property(fc.array(oneBlock, { maxLength: 5 }), given => {
      const blocks = given.map(({ transactions }, at) => block(at, transactions as Partial<RpcTransaction>[]))
      const logs = given.map((one, at) =>
        one.logs.map((parts, index) =>
          log({
            blockNumber: hex(at),
            transactionIndex: hex(parts.index),
            transactionHash: hashOf(at, parts.index),
            logIndex: hex(index),
            topics: (parts.topics === null
              ? [topics.transfer, word(parts.from), word(parts.to)]
              : parts.topics) as string[],
          }),
        ),
      )
      const whole = spans(blocks, logs.flat()).spans
      const merged: Record<string, string> = {}
      for (const [at, one] of blocks.entries()) {
        for (const [who, span] of Object.entries(spans([one], logs[at]).spans)) {
          const first = (merged[who] ?? span).split('-')[0]
          merged[who] = `${first}-${span.split('-')[1]}`
        }
      }
      expect(whole).toEqual(merged)
    }),
  )
})
