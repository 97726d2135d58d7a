import { expect, test } from 'vitest'
import { AlmanacError } from '../../errors.ts'
import type { Block, ChainId, Hash } from '../../model.ts'
import type { AskBlock } from '../freshen.ts'
import { dateToBlock } from './date-to-block.ts'

const chain = 1 as ChainId
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash
const blockOf = (number: number): Block => ({ number, hash: hashOf(number), timestamp: 1_000 + number * 10 })

/** A store that knows these blocks. */
function readerOf(known: readonly number[], head: number | undefined) {
  const blocks = known.map(blockOf)
  return {
    chainState: async () => (head === undefined ? undefined : { head: blockOf(head), finalized: head }),
    blocksAround: async (_: ChainId, timestamp: number) => ({
      before: blocks.findLast(block => block.timestamp < timestamp),
      after: blocks.find(block => block.timestamp >= timestamp),
    }),
    lowestBlock: async (_: ChainId, { from }: { from: number }) => blocks.find(({ number }) => number === from),
  }
}

const node: AskBlock = async (_, block) => {
  const number = typeof block === 'number' ? block : Number(block)
  return { ...blockOf(number), parentHash: hashOf(number - 1), transactions: 0 }
}

const reader = readerOf([0, 4, 5, 9], 20)

test.each([
  ['between neighbours', 1_049, 4, true],
  ['at a block, which another may follow in the same second', 1_050, 5, false],
  ['in a gap', 1_077, 5, false],
  ['before the first block', 3, 0, true],
  ['at the head', 1_200, 20, true],
  ['after the head', 9_999, 20, true],
  ['between the last known block and the head', 1_150, 9, false],
  ['at a fraction of a second', 1_049.9, 4, true],
])('%s, from what is known', async (_, seconds, number, exact) => {
  expect(await dateToBlock(reader, { chain, seconds })).toMatchObject({ block: { number }, exact })
})

test.each([
  ['in a gap', 1_077, 7],
  ['between the last known block and the head', 1_150, 15],
  ['at a block', 1_050, 5],
])('%s, with a node', async (_, seconds, number) => {
  const found = await dateToBlock(reader, { chain, seconds }, node)
  expect(found).toEqual({
    block: expect.objectContaining(blockOf(number)),
    parentHash: hashOf(number - 1),
    exact: true,
  })
})

test('where not even the first block is known, a node tells it', async () => {
  const gap = readerOf([8, 9], 9)
  expect(await dateToBlock(gap, { chain, seconds: 1_031 }, node)).toMatchObject({ block: { number: 3 }, exact: true })
  expect(await dateToBlock(gap, { chain, seconds: 1_031 })).toMatchObject({ block: { number: 8 }, exact: false })
  expect(await dateToBlock(gap, { chain, seconds: 7 }, node)).toMatchObject({ block: { number: 0 }, exact: true })
})

test('a chain without a head has no block', async () => {
  await expect(dateToBlock(readerOf([], undefined), { chain, seconds: 5 })).rejects.toMatchObject({ code: 'not_found' })
})

test('where no process has a node, from what is known', async () => {
  const away: AskBlock = async () => {
    throw new AlmanacError('not_configured', 'No node.')
  }
  expect(await dateToBlock(reader, { chain, seconds: 1_077 }, away)).toMatchObject({
    block: { number: 5 },
    exact: false,
  })
  const broken: AskBlock = async () => {
    throw new AlmanacError('upstream_failed', 'No answer.')
  }
  await expect(dateToBlock(reader, { chain, seconds: 1_077 }, broken)).rejects.toMatchObject({
    code: 'upstream_failed',
  })
})
