// Decoding in another thread gives what decoding here gives, for good answers and for bad ones.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { simulatedChain, truthByContract } from '../../../test/evm-harness.ts'
import { type SimNode, startSimNode } from '../../../test/sim/node.ts'
import { defineChain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import { activityCount, noActivity } from '../../store/packed-activity.ts'
import { transferTopics } from '../decode/token-events.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import type { RawAnswers, RpcCall, RpcPort } from '../rpc/port.ts'
import { DecodePool, type Decoder, inlineDecoder } from './decode-pool.ts'
import { callsOf, type RangeRequest } from './decode-range.ts'
import { columnsOf, rangeOf } from './range-columns.ts'
import { callOf, type FactQuestion } from './read-facts.ts'
import { WatchedSource } from './watched-source.ts'

let node: SimNode
let rpc: ChainRpc
/** Reads nothing here, even while its thread starts. */
const threads = new DecodePool({ threads: 1, bytesMin: 0, bytesHereMax: 0 })
const { signal } = new AbortController()

beforeAll(async () => {
  node = await startSimNode({ chain: { height: 120, hashes: 'real', transactionsPerBlock: 12, seed: 5 } })
  rpc = new ChainRpc({ chain: { name: 'eth', id: undefined }, endpoints: [{ url: node.url }] })
})

afterAll(async () => {
  await threads.close()
  await rpc.close()
  await node.close()
})

const requests: RangeRequest[] = [
  { interval: { from: 20, to: 110 }, grain: 'range', withReceipts: true },
  { interval: { from: 20, to: 110 }, grain: 'block', withReceipts: false },
]

const ask = (request: RangeRequest): Promise<RawAnswers> => rpc.askRaw(callsOf(request), { signal })

describe.each(requests)('$grain, with receipts: $withReceipts', request => {
  test('equals what this thread makes of it', async () => {
    const chain = simulatedChain(node)
    const [first, second] = [await ask(request), await ask(request)]
    expect(first.bytes).toBeGreaterThan(500_000)
    const here = await inlineDecoder.range({ chain, request, bodies: first.bodies })
    if (!here.ok) throw new Error(here.failure.message)
    expect(here.range.transfers.length).toBeGreaterThan(500)
    expect(activityCount(here.range.activity)).toBeGreaterThan(100)
    expect(await threads.range({ chain, request, bodies: second.bodies })).toEqual(here)
    expect(rangeOf(columnsOf(here.range))).toEqual(here.range)
  })

  test('without wallets it has the same transfers and no activity, each time', async () => {
    const [chain, scope] = [simulatedChain(node), 'transfers'] as const
    const few = { ...request, interval: { from: 20, to: 25 } }
    const whole = await inlineDecoder.range({ chain, request: few, bodies: (await ask(few)).bodies })
    if (!whole.ok) throw new Error(whole.failure.message)
    const expected = { ok: true, range: { ...whole.range, activity: noActivity } }
    for (const decoder of [inlineDecoder, threads, threads])
      expect(await decoder.range({ chain, scope, request: few, bodies: (await ask(few)).bodies })).toEqual(expected)
  })

  test('a body that is cut off is refused as unreadable', async () => {
    const chain = simulatedChain(node)
    const { bodies } = await ask(request)
    const cut = bodies.map(body => body.subarray(0, body.length - 100))
    const expected = { ok: false, failure: { check: 'unreadable', block: 20 } }
    expect(await inlineDecoder.range({ chain, request, bodies: cut })).toMatchObject(expected)
    expect(await threads.range({ chain, request, bodies: cut })).toMatchObject(expected)
  })
})

test('a body that ends its thread is refused, and the next answer is decoded', async () => {
  const pool = new DecodePool({ threads: 1, silentMsMax: 1_000 })
  const chain = simulatedChain(node)
  const request = requests[0]!
  // No more values than an answer may have; their names make them slow to read.
  const named = Array.from({ length: 1_000_000 }, (_, at) => `{"name${at}":1}`)
  const slow = Buffer.from(`{"jsonrpc":"2.0","id":0,"result":[${named.join()}]}`)
  const hostile = pool.range({ chain, request, bodies: [slow] })
  expect(await hostile).toMatchObject({
    ok: false,
    failure: { check: 'unreadable', block: 20, message: 'its answer could not be read (no answer within 1 s)' },
  })
  // On a busy machine an honest answer may take more than the second, too.
  const again = async () => (await pool.range({ chain, request, bodies: (await ask(request)).bodies })).ok
  await expect.poll(again).toBe(true)
  await pool.close()
})

test('after it was closed, this thread does the work', async () => {
  const closed = new DecodePool({ threads: 1 })
  await closed.close()
  const request = requests[0]!
  const { bodies } = await ask(request)
  expect(await closed.range({ chain: simulatedChain(node), request, bodies })).toMatchObject({ ok: true })
})

test('what blocks and transactions say is the same in another thread', async () => {
  const chain = simulatedChain(node)
  const blocks = await wholeBlocks(20, 110)
  const questions = blocks.flatMap(({ number, hash, transactions }, at): FactQuestion[] => {
    const wanted = transactions.slice(0, 3)
    const whole: FactQuestion = { kind: 'block', number, hash, whole: true, transactions: wanted }
    const single = wanted.map(
      (transaction): FactQuestion => ({ kind: 'transaction', hash: transaction, number, blockHash: hash }),
    )
    return at % 2 === 0 ? [whole] : [...single, { ...whole, whole: false, transactions: [] }]
  })
  const answers = async () => (await rpc.askRaw(questions.map(callOf), { signal })).bodies
  const here = await inlineDecoder.facts({ chain, questions, bodies: await answers() })
  if (typeof here === 'string') throw new Error(here)
  expect(here.headers.map(({ number }) => number)).toEqual(blocks.map(({ number }) => number))
  expect(here.blockSizes).toEqual(blocks.map(({ transactions }) => transactions.length))
  expect([...here.transactions.keys()]).toEqual(blocks.flatMap(({ transactions }) => transactions.slice(0, 3)))
  expect(await threads.facts({ chain, questions, bodies: await answers() })).toEqual(here)
  const foreign = questions.map(question =>
    question.kind === 'block' ? { ...question, hash: `0x${'1'.repeat(64)}` } : question,
  )
  const reason = await inlineDecoder.facts({ chain, questions: foreign, bodies: await answers() })
  expect(reason).toMatch(/^block 20 is 0x[0-9a-f]{64}, its logs say 0x1{64}$/)
  expect(await threads.facts({ chain, questions: foreign, bodies: await answers() })).toBe(reason)
})

test('filtered logs are the same in another thread, and a log that was not asked for is refused in both', async () => {
  const interval = { from: 20, to: 110 }
  const contracts = [...truthByContract(node.chain, interval).keys()]
  const calls: RpcCall[] = [
    { method: 'eth_getBlockByNumber', params: [quantityHex(interval.to), false] },
    {
      method: 'eth_getLogs',
      params: [{ fromBlock: '0x14', toBlock: '0x6e', address: contracts, topics: [transferTopics] }],
    },
  ]
  const asked = { chain: simulatedChain(node), contracts, interval, headersOf: [interval.to], calls: 2 }
  const task = async () => ({ ...asked, bodies: (await rpc.askRaw(calls, { signal })).bodies })
  const here = await inlineDecoder.logs(await task())
  if (typeof here === 'string') throw new Error(here)
  expect(here.logs.length).toBeGreaterThan(500)
  expect(await threads.logs(await task())).toEqual({ ...here, logs: { ...here.logs } })
  for (const decoder of [inlineDecoder, threads])
    expect(await decoder.logs({ ...(await task()), contracts: contracts.slice(1) })).toMatch(/which was not asked for$/)
})

test('a range on demand is parsed in threads alone', async () => {
  const chain = simulatedChain(node)
  const interval = { from: 60, to: 110 }
  const [contract] = truthByContract(node.chain, interval).keys()
  const port: RpcPort = {
    endpoints: rpc.endpoints,
    ask: () => Promise.reject(new Error('parsed here')),
    askRaw: (calls, options) => rpc.askRaw(calls, options),
    distrust: (_, reason) => expect.unreachable(reason),
    hasDropped: async () => false,
    historyFrom: 0,
    status: () => [],
  }
  const read = (decoder: Decoder) => new WatchedSource(chain, port, decoder).contractRange(contract!, interval, signal)
  const here = await read(inlineDecoder)
  expect(here.transfers.length).toBeGreaterThan(10)
  expect(await read(threads)).toEqual(here)
})

async function wholeBlocks(
  from: number,
  to: number,
): Promise<{ number: number; hash: string; transactions: string[] }[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const calls = numbers.map(number => ({ method: 'eth_getBlockByNumber', params: [quantityHex(number), false] }))
  const { values } = await rpc.ask(calls, { signal })
  return (values as { hash: string; transactions: string[] }[]).map(({ hash, transactions }, at) => ({
    number: numbers[at]!,
    hash,
    transactions,
  }))
}

test('what a portal gave is never read in the thread that asks, however little it is', async () => {
  const pool = new DecodePool({ threads: 1 })
  await pool.close()
  const chain = defineChain({ name: 'sim', id: 1337 })
  const task = {
    chain,
    scope: 'full',
    interval: { from: 0, to: 0 },
    bodies: [Buffer.from('{}\n')],
    lacking: [],
  } as const
  await expect(pool.portal(task)).rejects.toThrow('The reading threads are closed.')
})
