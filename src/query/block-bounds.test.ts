import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../test/release-runs.ts'
import { isCovered } from '../coverage.ts'
import type { Block, ChainId, Hash } from '../model.ts'
import { type BoundsQuestion, resolveBounds } from './block-bounds.ts'

const chain = 1 as ChainId
const hash = `0x${'0'.repeat(64)}` as Hash
const none: BoundsQuestion = { fromBlock: undefined, toBlock: undefined, fromTime: undefined, toTime: undefined }
const block = (number: number, timestamp: number): Block => ({ number, timestamp, hash })

function reader(known: readonly Block[]) {
  return {
    blocksAround: async (_: ChainId, timestamp: number) => ({
      before: known.findLast(candidate => candidate.timestamp < timestamp),
      after: known.find(candidate => candidate.timestamp >= timestamp),
    }),
  }
}

const resolve = (known: readonly Block[], head: Block | undefined, asked: Partial<BoundsQuestion>) =>
  resolveBounds(reader(known), chain, head && { head, finalized: -1 }, { ...none, ...asked })

describe('bounds', () => {
  const known = [block(0, 100), block(10, 200), block(20, 300)]
  const head = block(25, 350)

  test('are open when nothing is asked', async () => {
    expect(await resolve(known, head, {})).toEqual({
      fromBlock: undefined,
      toBlock: undefined,
      claim: { from: 0, to: 25 },
      exist: true,
    })
    expect(await resolve([], undefined, {})).toMatchObject({ claim: undefined, exist: false })
  })

  test('of blocks are taken as they are, and exist up to the head', async () => {
    expect(await resolve(known, head, { fromBlock: 5, toBlock: 25 })).toMatchObject({
      fromBlock: 5,
      toBlock: 25,
      claim: { from: 5, to: 25 },
      exist: true,
    })
    expect(await resolve(known, head, { toBlock: 26 })).toMatchObject({ claim: { from: 0, to: 25 }, exist: false })
    expect(await resolve(known, head, { fromBlock: 26 })).toMatchObject({ exist: false })
  })

  test('of blocks win over dates', async () => {
    const asked = { fromBlock: 5, toBlock: 7, fromTime: 300, toTime: 300 }
    expect(await resolve(known, head, asked)).toMatchObject({ fromBlock: 5, toBlock: 7 })
  })

  test.each([
    // The first block at or after 150 is one of 1 to 10.
    [{ fromTime: 150 }, { fromBlock: 10, claim: { from: 1, to: 25 }, exist: true }],
    [{ fromTime: 200 }, { fromBlock: 10, claim: { from: 1, to: 25 }, exist: true }],
    [{ fromTime: 201 }, { fromBlock: 20, claim: { from: 11, to: 25 }, exist: true }],
    [{ fromTime: 350 }, { fromBlock: 25, claim: { from: 21, to: 25 }, exist: true }],
    [{ fromTime: 351 }, { claim: { from: 26, to: 25 }, exist: false }],
    [{ fromTime: 0 }, { fromBlock: 0, claim: { from: 0, to: 25 }, exist: true }],
    [{ toTime: 200 }, { toBlock: 10, claim: { from: 0, to: 19 }, exist: true }],
    [{ toTime: 199 }, { toBlock: 0, claim: { from: 0, to: 9 }, exist: true }],
    [{ toTime: 9_999 }, { toBlock: 25, claim: { from: 0, to: 25 }, exist: true }],
    [{ toTime: 99 }, { toBlock: -1, claim: { from: 0, to: -1 }, exist: false }],
    [
      { fromTime: 300, toTime: 200 },
      { fromBlock: 20, toBlock: 10, exist: true },
    ],
  ])('%j', async (asked, expected) => {
    expect(await resolve(known, head, asked)).toMatchObject(expected)
  })

  test('of a date before everything known may have blocks that are not known', async () => {
    expect(await resolve([block(10, 200)], head, { toTime: 150 })).toMatchObject({ toBlock: -1, exist: true })
  })

  test('of dates hold exactly the rows in time, and claim no less than the blocks in time', async () => {
    const chains = fc
      .array(fc.record({ step: fc.nat(3), hasRow: fc.boolean(), isKnown: fc.boolean() }), {
        minLength: 1,
        maxLength: 20,
      })
      .map(steps => {
        let timestamp = 10
        return steps.map(({ step, hasRow, isKnown }, number) => {
          timestamp += step
          return { ...block(number, timestamp), hasRow, isKnown: hasRow || isKnown }
        })
      })
    await fc.assert(
      fc.asyncProperty(
        chains,
        fc.option(fc.nat(80), { nil: undefined }),
        fc.option(fc.nat(80), { nil: undefined }),
        async (blocks, fromTime, toTime) => {
          const bounds = await resolve(
            blocks.filter(({ isKnown }) => isKnown),
            blocks.at(-1),
            { fromTime, toTime },
          )
          const inTime = blocks.filter(
            ({ timestamp }) => timestamp >= (fromTime ?? 0) && timestamp <= (toTime ?? Number.POSITIVE_INFINITY),
          )
          const inBounds = blocks.filter(
            ({ number, hasRow }) =>
              hasRow && number >= (bounds.fromBlock ?? 0) && number <= (bounds.toBlock ?? Number.POSITIVE_INFINITY),
          )
          expect(inBounds).toEqual(inTime.filter(({ hasRow }) => hasRow))
          if (inTime.length > 0) {
            expect(isCovered([bounds.claim!], { from: inTime[0]!.number, to: inTime.at(-1)!.number })).toBe(true)
          }
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })
})
