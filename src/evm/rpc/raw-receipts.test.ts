import { expect, test, vi } from 'vitest'
import { ManualClock } from '../../../test/sim/manual-clock.ts'
import { hexOf } from '../../hex.ts'
import { encodeRlp } from '../proof/rlp.ts'
import { listRoot } from '../proof/trie.ts'
import { inBytes, RawReceipts } from './raw-receipts.ts'

const endpoint = 'node.example'
const receipt = encodeRlp([Buffer.of(1), Buffer.of(7), Buffer.alloc(256), []])
const block = { number: '0x9', transactions: ['0x1'], receiptsRoot: hexOf(listRoot([receipt])) }

test('an endpoint is tried once, and again after a while where raw receipts are missing: later each time', async () => {
  const clock = new ManualClock()
  let answer: unknown = []
  let looks = 0
  const raw = new RawReceipts({
    clock,
    askOne: () => async calls => {
      if (calls.length === 1) return [block]
      looks++
      return [block, answer]
    },
  })
  const learns = async (expected: boolean, lookCount: number): Promise<void> => {
    await vi.waitFor(() => expect([raw.has(endpoint), looks]).toEqual([expected, lookCount]))
  }
  await learns(false, 1)
  await clock.advance(59_000)
  await learns(false, 1)
  answer = [hexOf(receipt)]
  await clock.advance(2_000)
  await learns(true, 2)
  for (const [at, holdMs] of [120_000, 240_000, 480_000, 960_000, 1_920_000, 3_600_000, 3_600_000].entries()) {
    raw.lost(endpoint)
    await clock.advance(holdMs - 1)
    await learns(false, 2 + at)
    await clock.advance(1)
    await learns(true, 3 + at)
  }
  raw.forget()
  await learns(true, 10)
})

test('only calls for receipts are asked in another way', () => {
  const block = { method: 'eth_getBlockByNumber', params: ['0x1', true] }
  expect(inBytes([block])).toBeUndefined()
  const receipts = { method: 'eth_getBlockReceipts', params: ['0x1'] }
  expect(inBytes([block, receipts])).toEqual([block, { method: 'debug_getRawReceipts', params: ['0x1'] }])
})
