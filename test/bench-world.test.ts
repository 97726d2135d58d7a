// The chain that benchmarks index must be one that an indexer can prove, in the shape that it claims, the same each time.
import { expect, test } from 'vitest'
import { makeAnswers } from '../bench/evm-chain.ts'
import { benchmarkChain } from '../bench/evm-node.ts'
import { shapes } from '../bench/shape.ts'
import { ratesOfTenths } from '../bench/statistics.ts'
import { builtInChains } from '../src/chains.ts'
import { decodeRangeBodies } from '../src/evm/source/decode-range.ts'
import { activityCount } from '../src/store/packed-activity.ts'

const chain = builtInChains.find(({ name }) => name === 'eth')!
const head = 16
/** Keys of half a million wallets take fifteen seconds. */
const shape = { ...shapes.ethereum, contracts: 2_000, walletsAtOnce: 1_000 }
const made = [...makeAnswers(shape, chain.id, head)]

test('blocks in the shape of Ethereum are proven to the last row, with senders that signed', () => {
  const results = [...made.map(({ texts }) => texts.full), ...made.map(({ texts }) => texts.receipts)]
  const answers = results.map((result, id) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`)
  const request = { interval: { from: 0, to: head }, grain: 'range' as const, withReceipts: true }
  const bodies = [Buffer.from(`[${answers.join()}]`)]
  const result = decodeRangeBodies({ chain, senderSample: 40, request, bodies })
  if (!result.ok) throw new Error(result.failure.message)
  const { evidence, transfers, activity } = result.range
  const { transfers: transfersExpected, wallets } = made.at(-1)!
  expect(evidence).toBe('receipts-root')
  expect(transfers).toHaveLength(transfersExpected)
  expect(activityCount(activity)).toBe(wallets)
})

test('blocks have the transactions, logs and transfers of their shape', () => {
  const mean = (of: (block: (typeof made)[number]) => number) => made.reduce((sum, block) => sum + of(block), 0) / head
  const entriesOf = (text: string) => JSON.parse(text) as unknown[]
  const near = (value: number) => ({ least: value * 0.75, most: value * 1.25 })
  const figures = [
    [mean(({ texts }) => entriesOf(texts.receipts).length), near(shape.transactionsPerBlock)],
    [mean(({ texts }) => entriesOf(`[${texts.logs}]`).length), near(shape.logsPerBlock)],
    [made.at(-1)!.transfers / head, near(shape.transfersPerBlock)],
  ] as const
  for (const [figure, { least, most }] of figures) {
    expect(figure).toBeGreaterThan(least)
    expect(figure).toBeLessThan(most)
  }
})

test('the same shape gives the same blocks', () => {
  const again = [...makeAnswers(shape, chain.id, 2)]
  expect(again.map(({ texts }) => texts)).toEqual(made.slice(0, 3).map(({ texts }) => texts))
})

test('the small shape is the chain that earlier figures were taken on', () => {
  expect(benchmarkChain({ height: 9, chainId: 1, hashes: 'real' })).toEqual({
    ...{ height: 9, chainId: 1, hashes: 'real', transactionsPerBlock: 20, logsPerCall: 3, contracts: 500 },
    ...{ callsPerStretch: 64, deploymentSpan: 100, finalityDepth: 10 },
  })
})

test('the rate of each tenth is read between the marks of a run', () => {
  const marks = [
    { seconds: 1, done: 50 },
    { seconds: 6, done: 100 },
  ]
  expect(ratesOfTenths(marks)).toEqual([50, 50, 50, 50, 50, 10, 10, 10, 10, 10])
  expect(ratesOfTenths([])).toEqual([])
})
