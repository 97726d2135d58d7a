// Contracts of every behaviour are read together, and none hides another. No node is asked.
import * as AbiParameters from 'ox/AbiParameters'
import { expect, test } from 'vitest'
import { ledgerId } from '../../ledgers.ts'
import type { Address, ChainId } from '../../model.ts'
import { type RpcFailureKind, rpcError } from '../../rpc/failures.ts'
import { RateBudget } from '../rate-budget.ts'
import type { RpcCall, RpcPort } from '../rpc/port.ts'
import { callsPerSecond, readContracts } from './contract-reader.ts'

const contract = (index: number) => `0x${index.toString(16).padStart(40, '0')}` as Address
const text = (value: string) => AbiParameters.encode([{ type: 'string' }], [value])
const yes = `0x${'0'.repeat(63)}1`
const no = `0x${'0'.repeat(64)}`

type Behaviour = (data: string) => unknown | { fails: RpcFailureKind }

/** A transport whose contracts behave as given; an answer `{ fails }` fails the whole batch. */
function port(behaviours: Record<Address, Behaviour>) {
  const asked: number[] = []
  const rpc: Pick<RpcPort, 'ask'> = {
    async ask(calls: readonly RpcCall[]) {
      asked.push(calls.length)
      const values = calls.map(({ params }) => {
        const { to, data } = params[0] as { to: Address; data: string }
        return behaviours[to]?.(data) ?? '0x'
      })
      const failing = values.find(value => typeof value === 'object' && value !== null && 'fails' in value)
      if (failing !== undefined) {
        const { fails } = failing as { fails: RpcFailureKind }
        throw rpcError({ kind: fails, endpoint: 'node', method: 'eth_call' }, { chain: 'test', said: fails })
      }
      return { endpoint: 'node', values, bytes: 0 }
    },
  }
  const { signal } = new AbortController()
  return { asked, port: { rpc, budget: new RateBudget(Number.POSITIVE_INFINITY), signal, chain: 1 as ChainId } }
}

const ordinary: Behaviour = data => {
  if (data.startsWith('0x06fdde03')) return text('Name')
  if (data.startsWith('0x95d89b41')) return text('SYM')
  return data.startsWith('0x01ffc9a780ac58cd') ? yes : no
}

test('many contracts are read in one batch, and each says what it can', async () => {
  const { asked, port: way } = port({
    [contract(1)]: ordinary,
    [contract(2)]: () => null,
    [contract(3)]: () => yes,
  })
  const { said, slow } = await readContracts([1, 2, 3, 4].map(contract), way)
  expect(asked.length).toBe(1)
  expect(slow).toEqual([])
  expect(said.get(contract(1))).toEqual({ name: 'Name', symbol: 'SYM', interfaces: ['erc721'] })
  for (const index of [2, 4])
    expect(said.get(contract(index))).toEqual({ name: undefined, symbol: undefined, interfaces: [] })
  // A contract that says yes to an interface that does not exist declares nothing.
  expect(said.get(contract(3))?.interfaces).toEqual([])
})

test('tokens say their decimals, as far as that can be a number of decimals', async () => {
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  const token =
    (decimals: unknown): Behaviour =>
    data =>
      data === '0x313ce567' ? decimals : ordinary(data)
  const behaviours = [word(18n), word(0n), word(255n), word(256n), word(2n ** 255n), '0x12', null].map(token)
  const { asked, port: way } = port(
    Object.fromEntries(behaviours.map((behaviour, at) => [contract(at), behaviour])) as Record<Address, Behaviour>,
  )
  const tokens = behaviours.map((_, at) => contract(at))
  const { said } = await readContracts(tokens, { ...way, chain: ledgerId(way.chain, 'erc20') })
  expect(asked).toEqual([3 * tokens.length])
  expect(tokens.map(each => said.get(each)?.decimals)).toEqual([18, 0, 255, undefined, undefined, undefined, undefined])
  expect(said.get(contract(0))).toEqual({ name: 'Name', symbol: 'SYM', interfaces: [], decimals: 18 })
})

test('one that answers megabytes or never ends hides no other', async () => {
  const { port: way } = port({
    [contract(1)]: ordinary,
    [contract(2)]: () => ({ fails: 'response-too-large' }),
    [contract(3)]: () => ({ fails: 'timeout' }),
  })
  const { said, slow } = await readContracts([1, 2, 3].map(contract), way)
  expect(said.get(contract(1))?.name).toBe('Name')
  expect(said.get(contract(2))).toEqual({ name: undefined, symbol: undefined, interfaces: [] })
  expect(slow).toEqual([contract(3)])
})

test('one that is refused in unknown words has said nothing, and hides no other', async () => {
  const { port: way } = port({ [contract(1)]: ordinary, [contract(2)]: () => ({ fails: 'refused' }) })
  const { said, slow } = await readContracts([1, 2].map(contract), way)
  expect(said.get(contract(1))?.name).toBe('Name')
  expect(said.get(contract(2))).toEqual({ name: undefined, symbol: undefined, interfaces: [] })
  expect(slow).toEqual([])
  // Also where it is asked alone.
  expect([...(await readContracts([contract(2)], way)).said.keys()]).toEqual([contract(2)])
})

test('an endpoint that refuses everything says nothing of contracts', async () => {
  const refuse: Behaviour = () => ({ fails: 'refused' })
  const { port: way } = port({ [contract(0)]: refuse, [contract(1)]: refuse, [contract(2)]: refuse })
  await expect(readContracts([1, 2].map(contract), way)).rejects.toMatchObject({ code: 'upstream_failed' })
  await expect(readContracts([contract(1)], way)).rejects.toMatchObject({ code: 'upstream_failed' })
})

test('a failure of the endpoints is none of the contracts', async () => {
  const { port: way } = port({ [contract(1)]: ordinary, [contract(2)]: () => ({ fails: 'transport' }) })
  await expect(readContracts([1, 2].map(contract), way)).rejects.toMatchObject({ code: 'upstream_failed' })
  const { port: slowWay } = port({
    [contract(1)]: () => ({ fails: 'timeout' }),
    [contract(2)]: () => ({ fails: 'timeout' }),
  })
  await expect(readContracts([1, 2].map(contract), slowWay)).rejects.toMatchObject({ code: 'timeout' })
})

test('a share of what was allowed, the least of all bounds', () => {
  expect(callsPerSecond({ isPrivate: true })).toBe(Number.POSITIVE_INFINITY)
  expect(callsPerSecond({ isPrivate: false })).toBe(10)
  expect(callsPerSecond({ isPrivate: false, requestsPerSecond: 20 })).toBe(2)
  expect(callsPerSecond({ isPrivate: true, requestsPerSecond: 500, requestsPerDay: 86_400 })).toBe(0.1)
})

test('calls are paid for before the next ones are made', async () => {
  const { signal } = new AbortController()
  const budget = new RateBudget(1_000, () => 0)
  const started = performance.now()
  await budget.take(50, signal)
  await budget.take(1, signal)
  expect(performance.now() - started).toBeGreaterThanOrEqual(45)
  await new RateBudget(Number.POSITIVE_INFINITY).take(1_000_000, signal)
})
