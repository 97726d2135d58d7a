import { expect, test } from 'vitest'
import { ManualClock } from '../../../test/sim/manual-clock.ts'
import { hexOf } from '../../hex.ts'
import { rpcError } from '../../rpc/failures.ts'
import { encodeRlp } from '../proof/rlp.ts'
import { listRoot } from '../proof/trie.ts'
import { inBytes, RawReceipts } from './raw-receipts.ts'

const endpoint = 'node.example'
const receipt = encodeRlp([Buffer.of(1), Buffer.of(7), Buffer.alloc(256), []])
const block = { number: '0x9', transactions: ['0x1'], receiptsRoot: hexOf(listRoot([receipt])) }

test('an endpoint is tried again after a while where raw receipts are missing or wrong, later each time', async () => {
  const clock = new ManualClock()
  let answer: unknown = []
  let looks = 0
  let isScarce = true
  const raw = new RawReceipts({
    clock,
    isScarce: () => isScarce,
    askOne: () => async calls => {
      if (calls.length === 1) return [block]
      looks++
      if (answer instanceof Error) throw answer
      return [block, answer]
    },
  })
  const learns = async (expected: boolean, lookCount: number): Promise<void> => {
    raw.has(endpoint)
    // By then what it has begun is over.
    await new Promise(setImmediate)
    expect([raw.has(endpoint), looks]).toEqual([expected, lookCount])
  }
  const looksAfter = async (holdMs: number, expected: boolean): Promise<void> => {
    const before = looks
    await clock.advance(holdMs - 1)
    await learns(false, before)
    await clock.advance(1)
    await learns(expected, before + 1)
  }
  // Not with the last calls of the day.
  await learns(false, 0)
  isScarce = false
  await learns(false, 1)
  for (const holdMs of [60_000, 120_000]) await looksAfter(holdMs, false)
  answer = [hexOf(receipt)]
  await looksAfter(240_000, true)
  for (const holdMs of [480_000, 960_000]) {
    raw.lost(endpoint)
    await looksAfter(holdMs, true)
  }
  raw.forget()
  await learns(true, 7)
  // Where the method is missing it will be so for long.
  raw.forget()
  answer = rpcError({ kind: 'method-missing', endpoint, method: 'debug_getRawReceipts' }, { chain: 'sim', said: 'no' })
  await learns(false, 8)
  const hourMs = 3_600_000
  for (const hours of [1, 2, 4, 8, 16, 24, 24]) await looksAfter(hours * hourMs, false)
})

test('only calls for receipts are asked in another way', () => {
  const block = { method: 'eth_getBlockByNumber', params: ['0x1', true] }
  expect(inBytes([block])).toBeUndefined()
  const receipts = { method: 'eth_getBlockReceipts', params: ['0x1'] }
  expect(inBytes([block, receipts])).toEqual([block, { method: 'debug_getRawReceipts', params: ['0x1'] }])
})
