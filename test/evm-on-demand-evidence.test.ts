// What on-demand ranges say of themselves, beside endpoints that add logs, drop them, deny code, or are one provider.
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { RpcPort } from '../src/evm/rpc/port.ts'
import { deploymentOf } from '../src/evm/source/deployment.ts'
import type { Address, ChainId, CoveredInterval } from '../src/model.ts'
import type { Store } from '../src/store/store.ts'
import { patienceMs, startIndexer, storedTransfers, temporaryStore, truthByContract } from './evm-harness.ts'
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
  const forged = { ...log, topics: [...log.topics.slice(0, -1), `0x${'f'.repeat(64)}`], logIndex: '0xfff' }
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

describe('a contract that was destroyed and made again', () => {
  const contract = `0x${'c'.repeat(40)}` as Address
  const rpcOf = (logs: (params: { toBlock: string }) => unknown): RpcPort => ({
    endpoints: ['a', 'b'],
    async ask(calls, { exclude, endpoint }) {
      const values = calls.map(({ method, params }) => {
        if (method === 'eth_getLogs') return logs(params[0] as { toBlock: string })
        const block = Number(params[1])
        return (block >= 10 && block <= 20) || block >= 500 ? '0x60' : '0x'
      })
      return { endpoint: endpoint ?? (exclude?.has('a') ? 'b' : 'a'), values, bytes: 0 }
    },
    askRaw: () => Promise.reject(new Error('not asked')),
    distrust: () => {},
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

  test('is read from its second life where no node answers for so many blocks', async () => {
    const refuses = () => {
      throw new Error('query exceeds max block range')
    }
    expect(await find(refuses)).toEqual({ block: 500, evidence: 'two-endpoints' })
  })
})
