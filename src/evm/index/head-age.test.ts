import { expect, test } from 'vitest'
import { ChainTable } from '../../chains.ts'
import type { Block, Hash } from '../../model.ts'
import { headAge, usualBlockTime } from './head-age.ts'

const table = new ChainTable()
const [eth, bsc, goerli] = ['eth', 'bsc', 'goerli'].map(name => table.parse(name)!) as [never, never, never]
const block = (number: number, timestamp: number): Block => ({ number, timestamp, hash: '0x' as Hash })
const aged = (seconds: number): Block => block(1, Math.round(Date.now() / 1_000) - seconds)

test('a head is old after thirty usual block times, and never before two minutes', () => {
  expect(headAge(eth, aged(350), usualBlockTime(eth, []))).toMatchObject({ head_old: false })
  const { head_age_seconds, head_old } = headAge(eth, aged(370), usualBlockTime(eth, []))
  expect([head_old, Math.abs(head_age_seconds! - 370) <= 1]).toEqual([true, true])
  expect(headAge(bsc, aged(110), usualBlockTime(bsc, []))).toMatchObject({ head_old: false })
  expect(headAge(bsc, aged(130), usualBlockTime(bsc, []))).toMatchObject({ head_old: true })
})

test('a head from the future has no age, an unknown one neither, and a retired chain is never late', () => {
  expect(headAge(eth, aged(-60), 12)).toEqual({ head_age_seconds: 0, head_old: false })
  expect(headAge(eth, undefined, 12)).toEqual({ head_age_seconds: null, head_old: false })
  expect(headAge(goerli, aged(1e8), 12)).toMatchObject({ head_old: false })
})

test('blocks that took longer than the table says are the yardstick', () => {
  expect(usualBlockTime(bsc, [block(10, 1_000), block(20, 1_600)])).toBe(60)
  expect(usualBlockTime(eth, [block(10, 1_000), block(20, 1_010)])).toBe(12)
})
