import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RpcLog } from '../rpc/port.ts'
import { sequenceLogs, splitByBlock } from './log-sequence.ts'

const hex = (number: number): string => `0x${number.toString(16)}`
const log = (block: number, transaction: number, index: number, data = '0x'): RpcLog => ({
  address: `0x${'cc'.repeat(20)}`,
  topics: [],
  data,
  blockNumber: hex(block),
  blockHash: hex(block),
  transactionHash: hex(transaction),
  transactionIndex: hex(transaction),
  logIndex: hex(index),
})
const places = ({ length, blocks, transactionIndexes, logIndexes }: ReturnType<typeof sequenceLogs>): number[][] =>
  Array.from({ length }, (_, at) => [blocks[at]!, transactionIndexes[at]!, logIndexes[at]!])

describe('numbers', () => {
  test('indexes that restart with every transaction are renumbered where all logs are there', () => {
    const logs = [log(1, 0, 0), log(1, 0, 1), log(1, 2, 0), log(2, 0, 0)]
    const complete = sequenceLogs(logs, { complete: true })
    expect(places(complete)).toEqual([
      [1, 0, 0],
      [1, 0, 1],
      [1, 2, 2],
      [2, 0, 0],
    ])
    expect([...complete.renumbered]).toEqual([1])
    const filtered = sequenceLogs(logs, { complete: false })
    expect(places(filtered)[2]).toEqual([1, 2, 0])
    expect(filtered.renumbered.size).toBe(0)
  })

  test('indexes with holes stay as they came', () => {
    const logs = [log(1, 0, 3), log(1, 1, 9)]
    expect(places(sequenceLogs(logs, { complete: true }))).toEqual([
      [1, 0, 3],
      [1, 1, 9],
    ])
  })

  test('what two clients number in two ways becomes the same', () => {
    const counts = fc.array(fc.nat(4), { maxLength: 6 })
    fc.assert(
      fc.property(counts, perTransaction => {
        const inBlock: RpcLog[] = []
        const inTransaction: RpcLog[] = []
        for (const [transaction, count] of perTransaction.entries()) {
          for (let at = 0; at < count; at++) {
            inTransaction.push(log(1, transaction, at, hex(at)))
            inBlock.push(log(1, transaction, inBlock.length, hex(at)))
          }
        }
        expect(places(sequenceLogs(inTransaction, { complete: true }))).toEqual(
          places(sequenceLogs(inBlock, { complete: true })),
        )
      }),
    )
  })
})

test('order and repetition of the answer do not matter, and no log is lost', () => {
  const place = fc.record({
    block: fc.nat(3),
    transaction: fc.nat(2),
    index: fc.nat(3),
    data: fc.constantFrom('0x', '0x01', '0x02'),
  })
  fc.assert(
    fc.property(fc.array(place), fc.array(fc.nat()), fc.boolean(), (given, shuffle, complete) => {
      const logs = given.map(({ block, transaction, index, data }) => log(block, transaction, index, data))
      const mixed = [...logs, ...logs.slice(0, 3)]
        .map((one, at) => ({ one, key: shuffle[at] ?? 0 }))
        .sort((a, b) => a.key - b.key)
      const first = sequenceLogs(logs, { complete })
      const second = sequenceLogs(
        mixed.map(({ one }) => one),
        { complete },
      )
      expect(places(second)).toEqual(places(first))
      expect(second.logs).toEqual(first.logs)
      const different = new Set(logs.map(one => JSON.stringify(one)))
      expect(first.length).toBe(different.size)
      expect(first.repeated).toBe(logs.length - different.size)
    }),
  )
})

test('a sequence splits into its blocks, and the rest are strays', () => {
  const whole = sequenceLogs([log(1, 0, 0), log(2, 0, 0), log(2, 0, 1), log(4, 0, 0), log(9, 0, 0)], { complete: true })
  const { parts, strays } = splitByBlock(whole, [2, 3, 4])
  expect(parts.map(places)).toEqual([
    [
      [2, 0, 0],
      [2, 0, 1],
    ],
    [],
    [[4, 0, 0]],
  ])
  expect(strays).toBe(2)
})
