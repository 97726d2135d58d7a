// The simulated node over HTTP: methods agree with the chain, faults strike at their rate, one seed tells one story.
import { afterEach, describe, expect, test } from 'vitest'
import type { Fault } from './faults.ts'
import { type SimNode, type SimNodeOptions, startSimNode } from './node.ts'
import { rangeWordings } from './provider-wordings.ts'

let node: SimNode
afterEach(() => node.close())

const start = async (options: SimNodeOptions = {}): Promise<void> => {
  node = await startSimNode({ chain: { height: 300, seed: 4 }, ...options })
}
const withFaults = (...faults: Fault[]): Promise<void> => start({ endpoints: [{ faults }] })

const post = (body: unknown, at = 0): Promise<Response> =>
  fetch(node.endpoints[at]!.url, { method: 'POST', body: JSON.stringify(body) })

type Answer = { id: number; result?: unknown; error?: { code: number; message: string } }
const ask = async (method: string, ...params: unknown[]): Promise<Answer> =>
  (await (await post({ jsonrpc: '2.0', id: 1, method, params })).json()) as Answer
type Log = { blockNumber: string; logIndex: string; address: string; topics: string[]; transactionHash: string }
type Block = { hash: string; number: string; transactions: { hash: string; value: string }[] }

describe('methods', () => {
  test('blocks, receipts and logs show the same logs', async () => {
    await start()
    const range = { fromBlock: '0x64', toBlock: '0x78' }
    const logs = (await ask('eth_getLogs', range)).result as Log[]
    const receipts = await Promise.all(
      Array.from({ length: 21 }, (_, at) => ask('eth_getBlockReceipts', `0x${(100 + at).toString(16)}`)),
    )
    expect(receipts.flatMap(r => (r.result as { logs: Log[] }[]).flatMap(receipt => receipt.logs))).toEqual(logs)
    const [first] = logs
    const filtered = (await ask('eth_getLogs', { ...range, address: first!.address, topics: [first!.topics[0]] }))
      .result
    expect(filtered).toEqual(logs.filter(l => l.address === first!.address && l.topics[0] === first!.topics[0]))
    const block = (await ask('eth_getBlockByNumber', first!.blockNumber, true)).result as Block
    expect((await ask('eth_getBlockByHash', block.hash, true)).result).toEqual(block)
    expect((await ask('eth_getLogs', { blockHash: block.hash })).result).toEqual(
      logs.filter(log => log.blockNumber === block.number),
    )
    const transaction = block.transactions.find(t => t.hash === first!.transactionHash)
    expect((await ask('eth_getTransactionByHash', first!.transactionHash)).result).toEqual(transaction)
    expect((await ask('eth_getTransactionReceipt', first!.transactionHash)).result).toHaveProperty('logs.0', first)
  })

  test('tags, batches, gzip and unknown methods', async () => {
    await start()
    const tags = await Promise.all(
      ['latest', 'finalized', 'earliest'].map(tag => ask('eth_getBlockByNumber', tag, false)),
    )
    expect(tags.map(tag => Number((tag.result as Block).number))).toEqual([300, 236, 0])
    expect((await ask('eth_getBlockByNumber', '0x12d', false)).result).toBeNull()
    const batch = await post([
      { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] },
      { jsonrpc: '2.0', id: 8, method: 'eth_nothing', params: [] },
    ])
    expect(await batch.json()).toMatchObject([
      { id: 7, result: '0x1' },
      { id: 8, error: { code: -32601 } },
    ])
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ fromBlock: '0xc8', toBlock: '0xd2' }],
    })
    const packed = await fetch(node.url, { method: 'POST', body, headers: { 'accept-encoding': 'gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(((await packed.json()) as { result: Log[] }).result.length).toBeGreaterThan(0)
  })

  test('a reorganisation changes answers that were given before', async () => {
    await start()
    const before = (await ask('eth_getLogs', { fromBlock: '0x12a', toBlock: '0x12c' })).result
    node.reorg({ depth: 2, length: 3 })
    const after = (await ask('eth_getLogs', { fromBlock: '0x12a', toBlock: '0x12c' })).result
    expect(after).not.toEqual(before)
    expect(Number((await ask('eth_blockNumber')).result)).toBe(301)
  })
})

describe('faults', () => {
  const rate = 0.3
  const asks = 200
  test.each([
    { kind: 'rate-limit', rate, retryAfterSeconds: 2 },
    { kind: 'server-error', rate, status: 502 },
    { kind: 'truncated', rate },
    { kind: 'html', rate },
    { kind: 'reset', rate },
    { kind: 'not-json-rpc', rate },
  ] satisfies Fault[])('$kind strikes at its rate', async fault => {
    await withFaults(fault)
    let struck = 0
    for (let at = 0; at < asks; at++) {
      const right = await ask('eth_getBalance', `0x${at.toString(16).padStart(40, '0')}`, '0x1').catch(() => undefined)
      if (right?.result === undefined) struck++
    }
    expect(struck).toBe(node.endpoints[0]!.fired.get(fault.kind))
    expect(struck / asks).toBeGreaterThan(rate - 0.1)
    expect(struck / asks).toBeLessThan(rate + 0.1)
  })

  test.each([
    { kind: 'call-behind', rate },
    { kind: 'call-rate-limit', rate },
    { kind: 'null-block', rate },
    { kind: 'timeout-error', rate, provider: 'geth' },
  ] satisfies Fault[])('$kind strikes each call of a batch on its own', async fault => {
    await withFaults(fault)
    const batch = Array.from({ length: asks }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_getBlockByNumber',
      params: [`0x${id.toString(16)}`, false],
    }))
    const answers = (await (await post(batch)).json()) as Answer[]
    const struck = answers.filter(({ result }) => (result ?? null) === null).length
    expect(struck).toBe(node.endpoints[0]!.fired.get(fault.kind))
    expect(struck / asks).toBeGreaterThan(rate - 0.1)
    expect(struck / asks).toBeLessThan(rate + 0.1)
  })

  test('log faults lose, repeat and shuffle logs, and a second asking may be right', async () => {
    await withFaults({ kind: 'drop-logs', rate: 0.5 })
    const truth = async (): Promise<string[]> => {
      const faults = node.endpoints[0]!.faults
      node.endpoints[0]!.faults = []
      const logs = (await ask('eth_getLogs', { fromBlock: '0x64', toBlock: '0x65' })).result as Log[]
      node.endpoints[0]!.faults = faults
      return logs.map(log => JSON.stringify(log))
    }
    const whole = await truth()
    const seen = async (): Promise<string[]> =>
      ((await ask('eth_getLogs', { fromBlock: '0x64', toBlock: '0x65' })).result as Log[]).map(l => JSON.stringify(l))
    const lengths = new Set<number>()
    for (let at = 0; at < 10; at++) lengths.add((await seen()).length)
    expect([...lengths].sort()).toEqual([whole.length - 1, whole.length])
    node.endpoints[0]!.faults = [{ kind: 'duplicate-logs', rate: 1 }]
    expect((await seen()).length).toBe(whole.length + 1)
    node.endpoints[0]!.faults = [{ kind: 'unordered-logs', rate: 1 }]
    const shuffled = await seen()
    expect(shuffled).not.toEqual(whole)
    expect(shuffled.toSorted()).toEqual(whole.toSorted())
    node.endpoints[0]!.faults = [{ kind: 'drop-logs', rate: 1, share: 1 }]
    const receipts = (await ask('eth_getBlockReceipts', '0x64')).result as { logs: Log[] }[]
    expect(receipts.every(receipt => receipt.logs.length === 0)).toBe(true)
  })

  test.each(Object.keys(rangeWordings) as (keyof typeof rangeWordings)[])(
    'range limit as %s words it',
    async provider => {
      await withFaults({ kind: 'range-limit', blocks: 10, provider })
      const refused = await ask('eth_getLogs', { fromBlock: '0x1', toBlock: '0x20' })
      expect(refused.error?.code).toBe(rangeWordings[provider].code)
      expect((await ask('eth_getLogs', { fromBlock: '0x1', toBlock: '0xa' })).error).toBeUndefined()
    },
  )

  test('result, size and batch limits', async () => {
    await withFaults(
      { kind: 'result-limit', results: 20, provider: 'infura' },
      { kind: 'batch-limit', calls: 1, provider: 'geth' },
    )
    expect((await ask('eth_getLogs', { fromBlock: '0x64', toBlock: '0x80' })).error?.message).toMatch(/more than 20/)
    const batch = await post([1, 2].map(id => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] })))
    expect(await batch.json()).toMatchObject({ error: { message: 'batch too large' } })
    node.endpoints[0]!.faults = [{ kind: 'size-limit', bytes: 1_000, provider: 'geth' }]
    expect((await ask('eth_getLogs', { fromBlock: '0x64', toBlock: '0x80' })).error?.code).toBe(-32003)
  })

  test('lagging, load-balanced, syncing, pruned, wrong chain, no finalized tag', async () => {
    const head = async (at: number): Promise<number> => {
      const answer = await post({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }, at)
      return Number(((await answer.json()) as Answer).result)
    }
    const traits: Fault[][] = [
      [{ kind: 'lagging', blocks: 7 }],
      [{ kind: 'load-balanced', lags: [0, 4] }],
      [{ kind: 'syncing', at: 50 }],
      [
        { kind: 'pruned', below: 100, answer: 'geth' },
        { kind: 'wrong-chain-id', chainId: 5 },
        { kind: 'no-finalized', provider: 'geth' },
      ],
    ]
    await start({ endpoints: traits.map(faults => ({ faults })) })
    expect([await head(0), await head(1), await head(1), await head(1), await head(2)]).toEqual([
      293, 300, 296, 300, 50,
    ])
    const call = async (method: string, ...params: unknown[]): Promise<Answer> =>
      (await (await post({ jsonrpc: '2.0', id: 1, method, params }, 3)).json()) as Answer
    expect((await call('eth_getLogs', { fromBlock: '0x1', toBlock: '0x2' })).error?.code).toBe(4444)
    expect((await call('eth_getBlockByNumber', '0x1', false)).error?.code).toBe(4444)
    node.endpoints[3]!.faults = traits[3]!.with(0, { kind: 'pruned', below: 100, answer: 'null' })
    expect((await call('eth_getBlockByNumber', '0x1', false)).result).toBeNull()
    expect((await call('eth_chainId')).result).toBe('0x5')
    expect((await call('eth_getBlockByNumber', 'finalized', false)).error?.code).toBe(-39001)
  })

  test('the same seed fails the same requests, whatever their order', async () => {
    const story = async (order: number[]): Promise<string> => {
      await withFaults({ kind: 'server-error', rate: 0.4 })
      const outcome = new Map<number, boolean>()
      for (const at of order)
        outcome.set(at, (await ask('eth_getCode', `0x${at}`, '0x1').catch(() => undefined)) !== undefined)
      await node.close()
      return JSON.stringify([...outcome].sort(([a], [b]) => a - b))
    }
    const order = Array.from({ length: 40 }, (_, at) => at)
    const told = await story(order)
    expect(await story(order.toReversed())).toBe(told)
    await start()
  })
})
