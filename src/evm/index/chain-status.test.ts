import { expect, test } from 'vitest'
import type { Block } from '../../model.ts'
import { isFarBehind } from './chain-status.ts'

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
