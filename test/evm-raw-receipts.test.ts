// Receipts as bytes (`debug_getRawReceipts`): the store ends with the same rows as from JSON, what does not hash to the
// header's root is refused and blamed, and an endpoint that lacks them is asked for JSON without blame.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sequenceLogs } from '../src/evm/decode/log-sequence.ts'
import { transferTopics } from '../src/evm/decode/token-events.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import type { RpcLog } from '../src/evm/rpc/port.ts'
import { FullSource } from '../src/evm/source/full-source.ts'
import { settleLogs, type Told } from '../src/evm/source/settle-logs.ts'
import type { Address, ChainId } from '../src/model.ts'
import { mergePacked, unpackActivity } from '../src/store/packed-activity.ts'
import { patienceMs } from './evm-harness.ts'
import { chainOf, dumpOf, HistoryIndex, signedChain } from './history-world.ts'
import type { Fault } from './sim/faults.ts'
import { forgedResults, refusedWith } from './sim/hostile.ts'
import { rawReceiptsText } from './sim/json.ts'
import { type SimNode, startSimNode } from './sim/node.ts'
import { engineAbove, startEngine } from './store-engines.ts'
import { thorough } from './thorough.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const raw = 'debug_getRawReceipts'
const hasRaw: Fault = { kind: 'raw-receipts' }
const signal = new AbortController().signal
const interval = { from: 10, to: 29 }

/** A twentieth of the calls fails, a third of it in each way. */
const faults: Fault[] = (['call-behind', 'null-block', 'call-rate-limit'] as const).map(kind => ({
  ...{ kind, rate: 0.05 / 3 },
}))

/** Into both before a release: what receipts are read from is known to no store. */

test.each(engineAbove('sqlite'))(
  '%s: raw receipts under faults give the same store as JSON',
  { timeout: 300_000 },
  async name => {
    const engine = await startEngine(name)
    cleanups.push(() => engine.close())
    const chain = signedChain({ height: 60 })
    const id = chain.options.chainId as ChainId
    const node = await startSimNode({ chain, endpoints: [{}, { faults: [hasRaw, ...faults] }] })
    cleanups.push(() => node.close())
    const [json, bytes] = node.endpoints
    const urls = { json: await engine.newStore(), bytes: await engine.newStore() }
    const fromJson = await HistoryIndex.open(chainOf(id), urls.json, { rpc: [json!.url] })
    cleanups.push(() => fromJson.close())
    const fromBytes = await HistoryIndex.open(chainOf(id), urls.bytes, { rpc: [bytes!.url] })
    cleanups.push(() => fromBytes.close())
    await Promise.all([fromJson.complete(chain.head), fromBytes.complete(chain.head)])
    // By now it is known who has them.
    node.mine(30)
    await Promise.all([fromJson.complete(chain.head), fromBytes.complete(chain.head)])
    expect(json!.calls.get(raw)).toBe(1)
    expect(bytes!.calls.get(raw)).toBeGreaterThan(20)
    expect((await fromJson.status()).rpc[0]).toMatchObject({ receipts: 'json', errors: 0 })
    await Promise.all([fromJson.close(), fromBytes.close()])
    cleanups.splice(2)
    cleanups.push(() => node.close())
    expect(await dumpOf(urls.bytes, id)).toEqual(await dumpOf(urls.json, id))
  },
)

/** Signed once for all tests that ask for the same blocks. */
const shared = signedChain({ height: 40 })

type Opened = { node: SimNode; rpc: ChainRpc; source: FullSource }

async function open(...endpoints: Fault[][]): Promise<Opened> {
  const node = await startSimNode({ chain: shared, endpoints: endpoints.map(each => ({ faults: each })) })
  cleanups.push(() => node.close())
  const indexed = chainOf(shared.options.chainId)
  const rpc = new ChainRpc({ chain: indexed, endpoints: node.endpoints.map(({ url }) => ({ url })) })
  cleanups.push(() => rpc.close())
  return { node, rpc, source: new FullSource(indexed, rpc) }
}

/** Asks until the first endpoint gives receipts in this form. */
async function givesReceipts({ rpc, source }: Opened, form: 'raw' | 'json'): Promise<void> {
  await vi.waitFor(
    async () => {
      await source.range(interval, 'range', signal)
      expect(rpc.status()[0]?.receipts).toBe(form)
    },
    { timeout: patienceMs },
  )
}

const rowsOf = async ({ source }: Opened) => {
  const { bytes: _, endpoint: __, activity, ...range } = await source.range(interval, 'range', signal)
  return { ...range, activity: unpackActivity(mergePacked(activity)) }
}

/** A block with more than one transaction, so that there is an order. */
const forgeries: [string, (list: string[], other: string[]) => unknown[]][] = [
  ['one changed', ([first, ...rest]) => [`${first!.slice(0, -1)}${first!.endsWith('0') ? '1' : '0'}`, ...rest]],
  ['one dropped', ([, ...rest]) => rest],
  ['one added', list => [...list, list[0]]],
  ['two exchanged', ([first, second, ...rest]) => [second, first, ...rest]],
  ["another block's", (_, other) => other],
  [
    'typed wrongly',
    ([first, ...rest]) => [first!.startsWith('0x0') ? `0x04${first!.slice(4)}` : `0x01${first!.slice(2)}`, ...rest],
  ],
  ['trailing bytes', ([first, ...rest]) => [`${first}00`, ...rest]],
  ['half a byte', ([first, ...rest]) => [`${first}0`, ...rest]],
  ['what is not hex', ([first, ...rest]) => [`${first!.slice(0, -2)}zz`, ...rest]],
  ['numbers beside texts', ([first, ...rest]) => [first, ...rest.map(() => 7)]],
  ['wrapped in RLP, as old nodes did', list => list.map(wrapped)],
]

function wrapped(text: string): string {
  const length = (text.length - 2) / 2
  return text.startsWith('0x0') ? `0xb9${length.toString(16).padStart(4, '0')}${text.slice(2)}` : text
}

describe.each(forgeries)('forged raw receipts: %s', (_, forge) => {
  const forgeryOf = ({ node }: Opened) => {
    const { chain } = node
    return forgedResults([raw], (list: string[], { params }) => {
      const number = Number(params[0])
      return number !== 20 ? list : forge(list, rawOf(chain, number + 1))
    })
  }

  test('are refused and blamed; JSON is asked for then', async () => {
    const opened = await open([hasRaw])
    const { node, rpc, source } = opened
    await givesReceipts(opened, 'raw')
    const right = await rowsOf(opened)
    expect(node.chain.block(20).transactions.length).toBeGreaterThan(2)
    node.endpoints[0]!.forgery = forgeryOf(opened)
    await expect(source.range(interval, 'range', signal)).rejects.toThrow(/failed their check.*block 20: .*raw receipt/)
    expect(rpc.status()[0]).toMatchObject({ healthy: false, errors: 1, reason: expect.stringContaining('block 20') })
    expect(await rowsOf(opened)).toEqual(right)
    expect(rpc.status()[0]?.receipts).toBe('json')
  })

  thorough('beside an honest endpoint cost nothing but trust', async () => {
    // The slow one is asked where the other is not believed.
    const opened = await open([hasRaw], [{ kind: 'latency', delayMs: 100 }])
    await givesReceipts(opened, 'raw')
    const right = await rowsOf(opened)
    opened.node.endpoints[0]!.forgery = forgeryOf(opened)
    await vi.waitFor(
      async () => {
        expect(await rowsOf(opened)).toEqual(right)
        expect(opened.rpc.status()[0]).toMatchObject({ errors: 1 })
      },
      { timeout: patienceMs },
    )
  })
})

function rawOf(chain: SimNode['chain'], number: number): string[] {
  const options = {
    chainId: chain.options.chainId,
    stateSyncListed: true,
    stateSyncIndex: undefined,
    logTimestamps: false,
  }
  return JSON.parse(rawReceiptsText(chain.block(number), options)) as string[]
}

test.each([
  ['[]', forgedResults([raw], () => [])],
  ["another block's", forgedResults([raw], (list: string[]) => list.toReversed())],
  ['null', forgedResults([raw], () => 'null')],
  ['objects', forgedResults([raw], () => [{}])],
  ['an error in other words', refusedWith([raw], { code: -32000, message: 'the debug namespace is closed' })],
  ['that nobody may ask', refusedWith([raw], { code: -32000, message: 'unauthorized' })],
])('an endpoint that answers %s when it is tried is one without, and not blamed', async (_, forgery) => {
  const opened = await open([hasRaw])
  opened.node.endpoints[0]!.forgery = forgery
  await givesReceipts(opened, 'json')
  await vi.waitFor(() => expect(opened.node.endpoints[0]!.calls.get(raw)).toBeGreaterThan(0), { timeout: patienceMs })
  await rowsOf(opened)
  expect(opened.rpc.status()[0]).toMatchObject({ healthy: true, errors: 0, receipts: 'json' })
  expect(opened.node.endpoints[0]!.calls.get(raw)).toBe(1)
})

test.each([
  ['answers [] for a block', forgedResults([raw], () => [])],
  ['no longer has the method', refusedWith([raw], { code: -32601, message: 'the method does not exist' })],
  ['has pruned them', refusedWith([raw], { code: 4444, message: 'pruned history unavailable' })],
])('an endpoint that %s is asked for JSON at once, and not blamed', async (_, forgery) => {
  const opened = await open([hasRaw])
  await givesReceipts(opened, 'raw')
  const right = await rowsOf(opened)
  opened.node.endpoints[0]!.forgery = forgery
  expect(await rowsOf(opened)).toEqual(right)
  expect(opened.rpc.status()[0]).toMatchObject({ healthy: true, receipts: 'json' })
})

test.each([
  ['a size', { code: -32000, message: 'response size exceeded' }],
  ['a quota', { code: -32005, message: 'daily request count exceeded, request rate limited' }],
  ['a time', { code: -32002, message: 'request timed out' }],
  ['a reason of its own', { code: -32603, message: 'internal error' }],
])('an endpoint that refuses the raw receipts of one block for %s is asked for JSON', async (_, refusal) => {
  const opened = await open([hasRaw])
  await givesReceipts(opened, 'raw')
  opened.node.endpoints[0]!.forgery = refusedWith([raw], refusal)
  const calls = [{ method: 'eth_getBlockReceipts', params: ['0x14'] }]
  const { values } = await opened.rpc.ask(calls, { signal, rawReceipts: true })
  expect(values[0]).toContainEqual(expect.objectContaining({ transactionHash: expect.any(String) }))
})

/** Two endpoints with raw receipts, the first of which leaves out a log of block 20, and a look at who is right. */
async function openTold() {
  const opened = await open([hasRaw], [hasRaw])
  const { rpc } = opened
  const ask = (endpoint: string, method: string) =>
    rpc.ask([{ method, params: ['0x14'] }], { signal, endpoint, rawReceipts: true })
  for (const endpoint of rpc.endpoints)
    await vi.waitFor(
      async () => expect((await ask(endpoint, 'eth_getBlockReceipts')).values[0]).toContainEqual(expect.any(String)),
      { timeout: patienceMs },
    )
  const filter = { fromBlock: '0x14', toBlock: '0x14', topics: [transferTopics] }
  const answer = await rpc.ask([{ method: 'eth_getLogs', params: [filter] }], { signal })
  const logs = answer.values[0] as RpcLog[]
  const told = [logs.slice(1), logs].map((list, at) => ({
    ...{ endpoint: rpc.endpoints[at]!, logs: sequenceLogs(list, { complete: false }) },
  })) as [Told, Told]
  const contracts = [...new Set(logs.map(({ address }) => address as Address))]
  const chain = chainOf(shared.options.chainId)
  return { ...opened, settle: () => settleLogs({ chain, rpc, contracts, told, blocks: [20] }, signal) }
}

test('logs on demand that two endpoints tell differently are settled by raw receipts', async () => {
  const { node, rpc, settle } = await openTold()
  const json = node.endpoints.map(({ calls }) => calls.get('eth_getBlockReceipts'))
  const outcome = await settle()
  expect(outcome).toEqual({ wrong: new Set([rpc.endpoints[0]]), settled: true })
  expect(node.endpoints.map(({ calls }) => calls.get('eth_getBlockReceipts'))).toEqual(json)
})

test.each([
  ['of another block is not believed', true],
  ['that replaced the block meanwhile is not blamed', false],
])('an endpoint with raw receipts %s when logs are settled', async (_, isForger) => {
  const { node, rpc, settle } = await openTold()
  let isReplaced = false
  node.endpoints[1]!.forgery = forgedResults([raw, 'eth_getBlockByNumber'], (result, { method, params }) => {
    if (params[0] !== '0x14') return result
    if (method === raw) {
      isReplaced = true
      return rawOf(node.chain, 21)
    }
    return isReplaced && !isForger ? { ...result, hash: node.chain.block(21).hash } : result
  })
  expect(await settle()).toEqual({ wrong: new Set([rpc.endpoints[0]]), settled: true })
  expect(isReplaced).toBe(true)
  expect(rpc.status()[1]).toMatchObject({ errors: isForger ? 1 : 0 })
})
