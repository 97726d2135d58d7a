// Calls of contracts by a made-up node: with Multicall3 and without it, contracts of every behaviour, nodes that lack
// state or follow another branch.
import * as AbiParameters from 'ox/AbiParameters'
import { expect, test } from 'vitest'
import { quantityHex } from '../../hex.ts'
import type { Address, ContractCall, Hash } from '../../model.ts'
import { type RpcFailureKind, rpcError } from '../../rpc/failures.ts'
import { multicall3 } from '../rpc/multicall.ts'
import type { AskOptions, RpcCall } from '../rpc/port.ts'
import { readCalls } from './contract-calls.ts'

const entries = [
  {
    type: 'tuple[]',
    components: [
      { name: 'target', type: 'address' },
      { name: 'allowFailure', type: 'bool' },
      { name: 'callData', type: 'bytes' },
    ],
  },
] as const
const answers = [
  {
    type: 'tuple[]',
    components: [
      { name: 'success', type: 'bool' },
      { name: 'returnData', type: 'bytes' },
    ],
  },
] as const

const contract = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const hash = `0x${'ab'.repeat(32)}` as Hash
/** What a contract does with a call: returns, refuses, or takes all the gas that there is. */
type Behaviour = string | 'reverts' | 'burns' | { fails: RpcFailureKind }

class Node {
  readonly behaviours = new Map<string, Behaviour>()
  hasMulticall = true
  hashes = [hash]
  /** How many calls each request had, beside the header. */
  readonly asked: { method: string; to: string; gas: number }[][] = []
  headers = 0

  readonly ask = async (calls: readonly RpcCall[], { objection, revertsAsNull }: AskOptions) => {
    const beside = calls.flatMap(({ method, params }) => {
      const { to, gas } = (params[0] ?? {}) as { to?: string; gas?: string }
      return to === undefined ? [] : [{ method, to, gas: Number(gas) }]
    })
    if (beside.length > 0) this.asked.push(beside)
    const values = calls.map(call => this.#answer(call))
    const failed = values.find(value => typeof value === 'object' && value !== null && 'fails' in value)
    if (failed !== undefined) throw failure((failed as { fails: RpcFailureKind }).fails)
    if (values.includes('reverts') && revertsAsNull !== true) throw failure('reverted')
    const given = values.map(value => (value === 'reverts' || value === 'burns' ? null : value))
    const said = objection?.(given)
    if (said !== undefined) throw failure('invalid-answer', said)
    return { endpoint: 'node', values: given, bytes: 0 }
  }

  #answer({ method, params }: RpcCall): unknown {
    if (method === 'eth_blockNumber') return quantityHex(77)
    if (method === 'eth_getBlockByNumber')
      return { number: params[0], hash: this.hashes[Math.min(this.headers++, this.hashes.length - 1)] }
    const { to, data } = params[0] as { to: string; data: `0x${string}` }
    if (to !== multicall3) return this.behaviours.get(`${to}${data}`) ?? this.behaviours.get(to) ?? '0x'
    if (!this.hasMulticall) return '0x'
    const [list] = AbiParameters.decode(entries, `0x${data.slice(10)}`)
    let isSpent = false
    const results = list.map(({ target, callData }) => {
      const said =
        this.behaviours.get(`${target.toLowerCase()}${callData}`) ?? this.behaviours.get(target.toLowerCase())
      if (typeof said === 'object') return said
      isSpent ||= said === 'burns'
      const success = !isSpent && said !== 'reverts'
      return { success, returnData: (success ? (said ?? '0x') : '0x') as `0x${string}` }
    })
    const failing = results.find(result => 'fails' in result)
    return failing ?? AbiParameters.encode(answers, [results as never])
  }
}

function failure(kind: RpcFailureKind, said: string = kind) {
  return rpcError({ kind, endpoint: 'node', method: 'eth_call' }, { chain: 'test', said })
}

const read = (node: Node, calls: readonly ContractCall[], { block }: { block?: number | undefined } = { block: 5 }) =>
  readCalls({ chain: { name: 'test' }, rpc: node }, { block, calls }, 5_000)
const callsTo = (count: number): ContractCall[] =>
  Array.from({ length: count }, (_, at) => ({ to: contract(at + 1), data: `0x70a08231${word(at).slice(2)}` }))

function nodeOf(count: number): Node {
  const node = new Node()
  for (let at = 0; at < count; at++) node.behaviours.set(contract(at + 1), word(1_000 + at))
  return node
}

test('many calls are one for each hundred, at one block that the answer names', async () => {
  const node = nodeOf(250)
  const { block, hash: said, results } = await read(node, callsTo(250))
  expect([block, said]).toEqual([5, hash])
  expect(results).toEqual(Array.from({ length: 250 }, (_, at) => word(1_000 + at)))
  expect(node.asked.map(calls => calls.map(({ to }) => to))).toEqual([[multicall3], [multicall3], [multicall3]])
  expect((await read(node, callsTo(250), {})).block).toBe(77)
  expect(await read(node, [])).toEqual({ block: 5, hash, results: [] })
})

test.each([4, 40])('%i calls without Multicall3 are batches of calls, each with little gas', async count => {
  const node = nodeOf(count)
  node.hasMulticall = false
  expect((await read(node, callsTo(count))).results).toEqual(callsTo(count).map((_, at) => word(1_000 + at)))
  const alone = node.asked.flat().filter(({ to }) => to !== multicall3)
  expect(alone.length).toBe(count)
  expect(Math.max(...alone.map(({ gas }) => gas))).toBe(500_000)
  expect(Math.max(...node.asked.map(({ length }) => length))).toBeLessThanOrEqual(16)
})

test.each([true, false])('none that misbehaves costs another its answer (with Multicall3: %s)', async hasMulticall => {
  const node = nodeOf(60)
  node.hasMulticall = hasMulticall
  const odd: [number, Behaviour][] = [
    [3, 'reverts'],
    [10, 'burns'],
    [20, '0x'],
    [30, `0x${'ff'.repeat(2_000)}`],
    [40, `0x${'00'.repeat(1_024)}`],
  ]
  for (const [at, behaviour] of odd) node.behaviours.set(contract(at + 1), behaviour)
  const { results } = await read(node, callsTo(60))
  const expected: (string | null)[] = callsTo(60).map((_, at) => word(1_000 + at))
  for (const at of [3, 10, 20, 30]) expected[at] = null
  expected[40] = `0x${'00'.repeat(1_024)}`
  expect(results).toEqual(expected)
})

test.each(['refused', 'timeout', 'response-too-large'] as const)(
  'one that makes a node fail (%s) is found by halves',
  async fails => {
    const node = nodeOf(100)
    node.behaviours.set(contract(34), { fails })
    const { results } = await read(node, callsTo(100))
    expect(results.filter(result => result === null).length).toBe(1)
    expect(results[33]).toBeNull()
    expect(node.asked.length).toBeLessThan(30)
  },
)

test('contracts that take all the gas that there is cost a node little more than they may take alone', async () => {
  const node = nodeOf(100)
  for (let at = 0; at < 100; at++) node.behaviours.set(contract(at + 1), { fails: 'refused' })
  const { results } = await read(node, callsTo(100))
  expect(results).toEqual(callsTo(100).map(() => null))
  const gas = node.asked.flat().reduce((sum, call) => sum + call.gas, 0)
  expect(gas).toBeLessThan(100 * 500_000 * 10)
})

test('a node that lacks the state, or fails itself, is no answer', async () => {
  const node = nodeOf(2)
  node.behaviours.set(contract(1), { fails: 'pruned' })
  await expect(read(node, callsTo(2))).rejects.toMatchObject({
    code: 'not_configured',
    message: expect.stringContaining('state of block 5'),
  })
  node.behaviours.set(contract(1), { fails: 'transport' })
  await expect(read(node, callsTo(2))).rejects.toMatchObject({ code: 'upstream_failed' })
  node.behaviours.set(contract(1), 'not hex')
  await expect(read(node, callsTo(2))).rejects.toMatchObject({ code: 'upstream_invalid' })
})

test('a block that is replaced meanwhile is read again; one that never stands is none', async () => {
  const node = nodeOf(10)
  const other = `0x${'cd'.repeat(32)}` as Hash
  node.hashes = [hash, other]
  expect(await read(node, callsTo(10))).toMatchObject({ hash: other, results: { length: 10 } })
  const restless = nodeOf(10)
  restless.hashes = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? hash : other))
  await expect(read(restless, callsTo(10))).rejects.toMatchObject({ code: 'upstream_failed', retryable: true })
})
