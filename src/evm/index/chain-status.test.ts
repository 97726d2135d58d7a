import { expect, test } from 'vitest'
import type { Block } from '../../model.ts'
import { isFarBehind, lagSeconds } from './chain-status.ts'

const at = (number: number, timestamp: number) => ({ number, timestamp }) as Block

/** A chain whose node is at `latest` and whose store is at `tip`. */
const behind = (latest: Block, tip: Block, silentMs = 0): boolean =>
  isFarBehind({ follower: { latest, tip }, setup: { pollMs: 1_000 } } as unknown as Parameters<typeof isFarBehind>[0], {
    lastContactMs: Date.now() - silentMs,
  })

test('a chain that is minutes behind is not live, and one with slow blocks is', () => {
  expect(behind(at(602, 21_600), at(602, 21_600))).toBe(false)
  expect(behind(at(602, 21_600), at(601, 21_564))).toBe(false)
  expect(behind(at(602, 21_600), at(586, 21_021))).toBe(true)
  // Ten minutes between blocks.
  expect(behind(at(602, 21_600), at(601, 21_000))).toBe(false)
  // Nothing was heard of the node since.
  expect(behind(at(602, 21_600), at(602, 21_600), 120_000)).toBe(true)
})

test('a pause of the chain is not the lag of the service', () => {
  const lag = (latest: Block, tip: Block): number =>
    lagSeconds({ follower: { latest, tip }, setup: { pollMs: 1_000 } } as unknown as Parameters<typeof lagSeconds>[0], {
      lastContactMs: Date.now(),
    })
  // The first block in ten minutes is there, and is being read.
  expect(lag(at(602, 21_600), at(601, 21_000))).toBe(0)
  expect(lag(at(602, 21_600), at(602, 21_600))).toBe(0)
  // A node that lags, or went back to another branch.
  expect(lag(at(600, 21_576), at(602, 21_600))).toBe(0)
  // An hour of blocks came while the service did not run.
  expect(lag(at(900, 21_600), at(600, 18_000))).toBe(3_588)
})
