// What on-demand ranges say of themselves, beside endpoints that add logs, drop them, deny code, or are one provider.
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { ethereumHeaders } from '../src/chains.ts'
import { ChainRpc } from '../src/evm/rpc/chain-rpc.ts'
import { onlyAt, type RpcBlock, type RpcLog, type RpcPort, type RpcReceipt } from '../src/evm/rpc/port.ts'
import type { DecodedRange } from '../src/evm/source/chain-source.ts'
import { deploymentOf } from '../src/evm/source/deployment.ts'
import { WatchedSource } from '../src/evm/source/watched-source.ts'
import type { Address, ChainId, CoveredInterval } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import {
  patienceMs,
  simulatedChain,
  startIndexer,
  storedTransfers,
  temporaryStore,
  truthByContract,
} from './evm-harness.ts'
import { someCases } from './release-runs.ts'
import type { Fault } from './sim/faults.ts'
import { type RunningEndpoint, type SimNode, startSimNode } from './sim/node.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const id = 1 as ChainId
const pace = { retryDelayMs: { first: 20, max: 100 }, historyCheckMs: 50 }

async function run(
  faults: readonly (readonly Fault[])[],
  prepare: (node: SimNode) => SimNode | undefined = () => undefined,
) {
  const started = await startSimNode({
    chain: { height: 200, hashes: 'real', finalityDepth: 20 },
    endpoints: faults.map(own => ({ faults: own })),
  })
  cleanups.push(() => started.close())
  const node = prepare(started) ?? started
  const { store, remove } = await temporaryStore()
  cleanups.push(remove)
  const { indexer, stop } = startIndexer(node, store, { index: 'on-demand', pace })
  cleanups.push(stop)
  const truth = truthByContract(node.chain, { from: 0, to: 200 })
  // One that was not there from the beginning.
  const late = [...truth].filter(([, rows]) => rows.length > 5 && rows[0]!.block > 30 && rows[0]!.block < 120)
  const [contract, expected] = late[0]!
  return { node, store, indexer, contract, expected }
}

type Result = (call: { method: string; params: unknown[] }, result: never) => unknown

/** Makes an endpoint answer something else. */
function lie(endpoint: RunningEndpoint, change: Result): void {
  const honest = endpoint.answer.bind(endpoint)
  endpoint.answer = body => {
    const reply = honest(body)
    if (reply.breaks !== undefined || reply.status !== 200) return reply
    const asked = [JSON.parse(body)].flat() as { id: unknown; method: string; params: unknown[] }[]
    const told = JSON.parse(Buffer.concat(reply.parts).toString('latin1'))
    for (const answer of [told].flat() as { id: unknown; result: never }[]) {
      const call = asked.find(({ id }) => id === answer.id)
      if (call !== undefined && 'result' in answer) answer.result = change(call, answer.result) as never
    }
    return { ...reply, parts: [Buffer.from(JSON.stringify(told), 'latin1')] }
  }
}

type Log = { data: string; topics: string[]; logIndex: string }

const addsLogs: Result = ({ method }, result: Log[]) => {
  const [log] = method === 'eth_getLogs' ? result : []
  if (log === undefined) return result
  const [event, ...words] = log.topics
  const forged = { ...log, topics: [event, ...words.map(() => `0x${'f'.repeat(64)}`)], logIndex: '0xfff' }
  return [log, forged, ...result.slice(1)]
}

const dropsLogs: Result = ({ method }, result: Log[]) => (method === 'eth_getLogs' ? result.slice(1) : result)

const evidenceOf = async (store: Store, contract: Address): Promise<Set<CoveredInterval['evidence']>> =>
  new Set(
    (await store.contractCoverage(id, contract)).filter(({ from }) => from <= 180).map(({ evidence }) => evidence),
  )

describe.each([0, 1])('with a liar at place %i', at => {
  test('an added log is not stored, and the honest endpoint stays trusted', async () => {
    const { node, store, indexer, contract, expected } = await run([[], []], node => {
      lie(node.endpoints[at]!, addsLogs)
      return undefined
    })
    await indexer.ensureContract(contract, patienceMs)
    expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
    expect(await evidenceOf(store, contract)).toEqual(new Set(['two-endpoints']))
    const { rpc } = await indexer.status()
    expect(rpc[1 - at]?.errors).toBe(0)
    expect(rpc[at]?.errors).toBeGreaterThan(0)
  })

  test('receipts that spell topics in capitals settle what they prove, and cost the honest endpoint nothing', async () => {
    const shouts: Result = (call, result: RpcReceipt[]) =>
      call.method === 'eth_getBlockReceipts'
        ? result.map(receipt => ({
            ...receipt,
            logs: receipt.logs.map(log => ({
              ...log,
              topics: log.topics.map(topic => `0x${topic.slice(2).toUpperCase()}`),
            })),
          }))
        : addsLogs(call, result as never)
    const { node, store, indexer, contract, expected } = await run([[], []], node => {
      lie(node.endpoints[at]!, shouts)
      return undefined
    })
    await indexer.ensureContract(contract, 10_000)
    expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
    const { rpc } = await indexer.status()
    expect(rpc[1 - at]?.errors).toBe(0)
  })

  test('code that one endpoint denies is found by the other', async () => {
    const { node, store, indexer, contract, expected } = await run([[], []], node => {
      lie(node.endpoints[at]!, ({ method, params }, result) =>
        method === 'eth_getCode' && Number(params[1]) < 150 ? '0x' : result,
      )
      return undefined
    })
    await indexer.ensureContract(contract, patienceMs)
    expect(await storedTransfers(store, node.chain, contract)).toEqual(expected)
    expect(await evidenceOf(store, contract)).toEqual(new Set(['two-endpoints']))
  })
})

test('where receipts cannot settle a difference, the evidence is one endpoint, and none is distrusted', async () => {
  const noReceipts = [{ kind: 'method-missing', methods: ['eth_getBlockReceipts'] }] as const
  const { store, indexer, contract } = await run([noReceipts, noReceipts], node => {
    lie(node.endpoints[1]!, addsLogs)
    return undefined
  })
  await indexer.ensureContract(contract, patienceMs)
  expect(await evidenceOf(store, contract)).toContain('one-endpoint')
  const { rpc } = await indexer.status()
  expect(rpc.map(({ healthy }) => healthy)).toEqual([true, true])
})

test('what one endpoint alone vouched for is checked again when the second is back, and put right', async () => {
  const away = [{ kind: 'reset', rate: 1 }] as const
  const { node, store, indexer, contract, expected } = await run([[], away], node => {
    lie(node.endpoints[0]!, dropsLogs)
    return undefined
  })
  await indexer.ensureContract(contract, patienceMs)
  expect((await storedTransfers(store, node.chain, contract)).length).toBeLessThan(expected.length)
  expect(await evidenceOf(store, contract)).toEqual(new Set(['one-endpoint']))
  node.endpoints[1]!.faults = []
  // The next block shows that it is back.
  node.mine()
  for (const deadline = Date.now() + patienceMs; ; await delay(50)) {
    const evidence = await evidenceOf(store, contract)
    if (evidence.size === 1 && evidence.has('two-endpoints')) break
    if (Date.now() > deadline) throw new Error(`still ${[...evidence].join()}`)
  }
  const stored = await storedTransfers(store, node.chain, contract)
  expect(stored.filter(({ block }) => block <= 180)).toEqual(expected.filter(({ block }) => block <= 180))
})

test('two URLs of one host are one endpoint', async () => {
  const { store, indexer, contract } = await run([[]], node => ({
    ...node,
    endpoints: [node.endpoints[0]!, { ...node.endpoints[0]!, url: `${node.url}/second` } as RunningEndpoint],
  }))
  await indexer.ensureContract(contract, patienceMs)
  expect((await indexer.status()).rpc).toHaveLength(2)
  expect(await evidenceOf(store, contract)).toEqual(new Set(['one-endpoint']))
})

describe('lies about the place, time or value of true logs', () => {
  const wrongHash = `0x${'66'.repeat(32)}`
  /** In `eth_getLogs` and, so that they fit, in receipts. */
  const onLogs =
    (change: (log: RpcLog) => object): Result =>
    ({ method }, result: (RpcLog & RpcReceipt)[]) => {
      const isTransfer = (log: RpcLog): boolean => log.topics.length > 1
      const changed = (log: RpcLog): RpcLog => (isTransfer(log) ? { ...log, ...change(log) } : log)
      if (method === 'eth_getLogs') return result.map(changed)
      if (method !== 'eth_getBlockReceipts') return result
      return result.map(receipt => {
        const logs = receipt.logs.map(changed)
        return { ...receipt, transactionHash: logs[0]?.transactionHash ?? receipt.transactionHash, logs }
      })
    }
  const onValues: Result = ({ method }, result: { value: string } & RpcBlock) => {
    if (method === 'eth_getTransactionByHash') return { ...result, value: '0xde0b6b3a7640000' }
    if (method !== 'eth_getBlockByNumber') return result
    const lied = (each: object | string): unknown => (typeof each === 'string' ? each : { ...each, value: '0x1' })
    return { ...result, transactions: result.transactions.map(lied) }
  }
  const unsigned: Result = (call, result: { r?: string } & RpcBlock) => {
    const lied = onValues(call, result as never) as typeof result
    if (call.method === 'eth_getTransactionByHash') return { ...lied, r: '0x0', s: '0x0' }
    const stripped = (each: object | string): unknown => (typeof each === 'string' ? each : { ...each, r: '0x0' })
    return call.method === 'eth_getBlockByNumber' ? { ...lied, transactions: lied.transactions.map(stripped) } : lied
  }
  const onListed: Result = (call, result: RpcBlock) => {
    if (call.method !== 'eth_getBlockByNumber')
      return onLogs(() => ({ transactionHash: wrongHash }))(call, result as never)
    const lied = (each: object | string): unknown => (typeof each === 'string' ? each : { ...each, hash: wrongHash })
    return { ...result, transactions: result.transactions.map(lied) }
  }
  /** Its receipts prove the truth, in other letters. */
  const inCapitals: Result = (call, result: RpcReceipt[]) => {
    if (call.method !== 'eth_getBlockReceipts') return addsLogs(call, result as never)
    const capital = (text: string): string => `0x${text.slice(2).toUpperCase()}`
    const spelled = (log: RpcLog): RpcLog => ({ ...log, data: capital(log.data), address: capital(log.address) })
    return result.map(receipt => ({ ...receipt, logs: receipt.logs.map(spelled) }))
  }
  const more = (quantity: string | null): string => `0x${(Number(quantity) + 1).toString(16)}`

  type How = 'own chain' | 'one contract' | 'polygon'
  /** No root holds the logs of block 64's last transaction. */
  const withoutStateSync: Result = ({ method }, result: (RpcLog & RpcReceipt)[]) => {
    if (method !== 'eth_getLogs' && method !== 'eth_getBlockReceipts') return result
    const last = result.findLast(each => each.blockNumber === '0x40')?.transactionIndex
    return result.filter(each => each.blockNumber !== '0x40' || each.transactionIndex !== last)
  }

  /** What comes of it where the liar is asked first: `refused` costs the liar, and the range is asked for again. */
  const lies: [string, Result, 'refused' | DecodedRange['evidence'], how?: How][] = [
    ['another transaction hash', onLogs(() => ({ transactionHash: wrongHash })), 'refused'],
    ['another transaction hash, listed so', onListed, 'refused'],
    ['another log index', onLogs(({ logIndex }) => ({ logIndex: more(logIndex) })), 'refused'],
    ['another transaction index', onLogs(log => ({ transactionIndex: more(log.transactionIndex) })), 'refused'],
    ['another contract', onLogs(({ address }) => ({ address: other(address) })), 'refused'],
    [
      'two topics in one',
      onLogs(({ topics: [a, b, ...c] }) => ({ topics: [[a], [b, ...c].join()].flat() })),
      'refused',
    ],
    ['a log more, and receipts in capitals', inCapitals, 'refused'],
    ['times of 1970', onLogs(() => ({ blockTimestamp: '0x1' })), 'two-endpoints', 'one contract'],
    ['another value', onValues, 'two-endpoints'],
    ['another value', onValues, 'two-endpoints', 'own chain'],
    ['another value that nobody signed', unsigned, 'two-endpoints'],
    ['no logs of a state-sync transaction', withoutStateSync, 'one-endpoint', 'polygon'],
    ['headers of 1970', (_, result: object) => timed(result), 'one-endpoint', 'own chain'],
  ]
  const timed = (result: object): object =>
    result !== null && 'timestamp' in result ? { ...result, timestamp: '0x1' } : result
  let contracts: Address[]
  const other = (address: string): string => contracts.find(each => each !== address.toLowerCase())!

  /** Asks the first of two endpoints first. */
  const inOrder = (rpc: ChainRpc, distrusted: Set<string>): RpcPort => {
    const [first, second] = rpc.endpoints as [string, string]
    const where = <Options extends { exclude?: ReadonlySet<string>; endpoint?: string | undefined }>(
      options: Options,
    ) => ({
      ...options,
      endpoint: options.endpoint ?? (options.exclude?.has(first) ? second : first),
    })
    return {
      endpoints: rpc.endpoints,
      ask: (calls, options) => rpc.ask(calls, where(options)),
      askRaw: (calls, options) => rpc.askRaw(calls, where(options)),
      hasDropped: (endpoint, suspicion) => rpc.hasDropped(endpoint, suspicion),
      historyFrom: 0,
      distrust: (endpoint, reason) => {
        distrusted.add(endpoint)
        return reason
      },
      status: () => rpc.status(),
    }
  }

  describe.each(someCases([0, 1], 2))('at place %i', at => {
    test.each(lies)('%s', async (_, change, expected, how) => {
      const polygon = how === 'polygon'
      const stateSync = polygon ? 'listed' : 'none'
      const shape = { height: 66, hashes: 'real', deploymentSpan: 10, logTimestamps: false, stateSync } as const
      const node = await startSimNode({ chain: shape, endpoints: [{}, {}] })
      cleanups.push(() => node.close())
      const rpc = new ChainRpc({
        chain: { name: 'sim', id: undefined },
        endpoints: node.endpoints.map(({ url }) => ({ url })),
      })
      cleanups.push(() => rpc.close())
      const plain = simulatedChain(node)
      const known = { headers: ethereumHeaders, ...(polygon ? { stateSyncTransactions: true as const } : {}) }
      const chain = how === 'own chain' ? plain : { ...plain, quirks: { ...plain.quirks, ...known } }
      const interval = polygon ? { from: 60, to: 66 } : { from: 31, to: 37 }
      contracts = [...truthByContract(node.chain, interval)].filter(([, rows]) => rows.length > 3).map(([each]) => each)
      const read = (port: RpcPort): Promise<DecodedRange> => {
        const source = new WatchedSource(chain, port)
        for (const contract of contracts) source.watched.add(contract)
        const { signal } = new AbortController()
        if (how === 'one contract') return source.contractRange(contracts[0]!, interval, signal)
        return source.range(interval, 'block', signal)
      }
      const truth = await read(onlyAt(rpc, rpc.endpoints[1 - at]!))
      expect(truth.transfers.length).toBeGreaterThan(3)
      lie(node.endpoints[at]!, change)
      const distrusted = new Set<string>()
      const range = await read(inOrder(rpc, distrusted)).catch(() => undefined)
      expect(distrusted).not.toContain(rpc.endpoints[1 - at])
      if (expected === 'refused') expect(distrusted).toContain(rpc.endpoints[at])
      if (expected !== 'refused' || at === 1) {
        expect(range?.evidence).toBe(expected === 'refused' ? 'two-endpoints' : expected)
      } else expect(range).toBeUndefined()
      if (range?.evidence !== 'two-endpoints') return
      expect(range.transfers).toEqual(truth.transfers)
      expect(range.headers).toEqual(truth.headers)
    })
  })
})

describe('a contract that was destroyed and made again', () => {
  const contract = `0x${'c'.repeat(40)}` as Address
  const rpcOf = (logs: (params: { toBlock: string }) => unknown): RpcPort => ({
    endpoints: ['a', 'b'],
    async ask(calls, { exclude, endpoint, bytesMax }) {
      const values = calls.map(({ method, params }) => {
        // They are parsed here.
        if (method === 'eth_getLogs') expect(bytesMax).toBeLessThan(2e7)
        if (method === 'eth_getLogs') return logs(params[0] as { toBlock: string })
        const block = Number(params[1])
        return (block >= 10 && block <= 20) || block >= 500 ? '0x60' : '0x'
      })
      return { endpoint: endpoint ?? (exclude?.has('a') ? 'b' : 'a'), values, bytes: 0 }
    },
    askRaw: () => Promise.reject(new Error('not asked')),
    distrust: (_, reason) => reason,
    hasDropped: async () => false,
    historyFrom: 0,
    status: () => [],
  })
  const find = (logs: Parameters<typeof rpcOf>[0]) =>
    deploymentOf(contract, { rpc: rpcOf(logs), upTo: 1_000, looksBelow: true }, new AbortController().signal)

  test('is read from the first log of its first life', async () => {
    expect(await find(({ toBlock }) => (Number(toBlock) === 499 ? [{ blockNumber: '0xc' }] : []))).toEqual({
      block: 12,
      evidence: 'one-endpoint',
    })
  })

  test('is read from the first log however many there are', async () => {
    const logs = Array.from({ length: 500_000 }, (_, at) => ({ blockNumber: at === 0 ? 'x' : '0xd' }))
    expect(await find(() => logs)).toEqual({ block: 13, evidence: 'one-endpoint' })
  })

  test('is read from its second life where no node answers for so many blocks', async () => {
    const refuses = () => {
      throw new Error('query exceeds max block range')
    }
    expect(await find(refuses)).toEqual({ block: 500, evidence: 'two-endpoints' })
  })
})
