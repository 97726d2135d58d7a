import { expect, test } from 'vitest'
import { ChainTable, defineChain } from './chains.ts'
import { asOfText, headAge, older, usualBlockTime } from './head-age.ts'
import type { Block, Hash } from './model.ts'

const table = new ChainTable()
const [eth, bsc, goerli] = ['eth', 'bsc', 'goerli'].map(name => table.parse(name)!) as [never, never, never]
const block = (number: number, timestamp: number): Block => ({ number, timestamp, hash: '0x' as Hash })
const aged = (seconds: number): Block => block(1, Math.round(Date.now() / 1_000) - seconds)

/** Of a chain that has been followed for long. */
const ageOf = (chain: Parameters<typeof headAge>[0], head: Block | undefined, followingSeconds = 3_600) =>
  headAge(chain, { head, blockTimeSeconds: usualBlockTime(chain as never, []), followingSeconds })

test('a head is old after thirty usual block times, and never before two minutes', () => {
  expect(ageOf(eth, aged(350))).toMatchObject({ head_old: false })
  const { head_age_seconds, head_old } = ageOf(eth, aged(370))
  expect([head_old, Math.abs(head_age_seconds! - 370) <= 1]).toEqual([true, true])
  expect(ageOf(bsc, aged(110))).toMatchObject({ head_old: false })
  expect(ageOf(bsc, aged(130))).toMatchObject({ head_old: true })
})

test('a head from the future has no age, an unknown one neither, and a retired chain is never late', () => {
  expect(ageOf(eth, aged(-60))).toEqual({ head_age_seconds: 0, head_old: false })
  expect(ageOf(eth, undefined)).toEqual({ head_age_seconds: null, head_old: false })
  expect(ageOf(goerli, aged(1e8))).toMatchObject({ head_old: false })
})

test('at a start a head is old once the next block was due', () => {
  expect([0, 9, 11, 13].map(seconds => ageOf(eth, aged(700), seconds).head_old)).toEqual([false, false, false, true])
  expect([0, 9, 11, 13].map(seconds => ageOf(bsc, aged(700), seconds).head_old)).toEqual([false, false, true, true])
})

test('a chain that makes blocks on demand has no old head, and a setting decides before the block time', () => {
  const [dev, other] = [31_337, 31_338].map(id => defineChain({ name: 'dev', id })) as [never, never]
  expect([dev, other].map(chain => ageOf(chain, aged(1e6)).head_old)).toEqual([false, true])
  const set = (headAgeMaxSeconds: number) => ({ ...(eth as object), headAgeMaxSeconds }) as never
  expect([0, 30, 1_000].map(seconds => ageOf(set(seconds), aged(700)).head_old)).toEqual([false, true, false])
})

test('blocks that took longer than the table says are the yardstick', () => {
  expect(usualBlockTime(bsc, [block(10, 1_000), block(20, 1_600)])).toBe(60)
  expect(usualBlockTime(eth, [block(10, 1_000), block(20, 1_010)])).toBe(12)
})

test('a chain that is stalled or old says of which block its answers are, also one that has gone silent since', () => {
  const told = { state: 'stalled', head: 22_945_851, head_age_seconds: 430, head_old: false }
  expect(asOfText(told)).toBe('as of block 22945851, 7 minutes old')
  expect(asOfText({ ...told, state: 'live', head_old: true, head_age_seconds: 119 })).toBe(
    'as of block 22945851, 1 minute old',
  )
  expect(asOfText({ ...told, head_age_seconds: older(430, 170) })).toBe('as of block 22945851, 10 minutes old')
  expect([older(null, 5), older(undefined, 5)]).toEqual([null, null])
  for (const fine of [{ state: 'live' }, { head: -1 }, { head_age_seconds: null }])
    expect(asOfText({ ...told, ...fine })).toBeUndefined()
})
