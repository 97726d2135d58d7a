// Asks contracts what they are called and what they declare, many in one batch. A contract that refuses, loops or answers nonsense has said
// nothing; only an endpoint's failure is one.

import { pause } from '../../abort.ts'
import { flagOfAnswer, textOfAnswer } from '../../annotate/label-text.ts'
import { AlmanacError } from '../../errors.ts'
import { type Address, zeroAddress } from '../../model.ts'
import type { ContractInterface } from '../../store/annotation-store.ts'
import { type RpcFailureKind, rpcFailureOf } from '../rpc/errors.ts'
import type { RpcCall, RpcPort } from '../rpc/port.ts'

export type SelfDescription = {
  name: string | undefined
  symbol: string | undefined
  interfaces: readonly ContractInterface[]
}

/** How contracts are asked: behind the index, within a budget. */
export type ContractPort = { rpc: Pick<RpcPort, 'ask'>; budget: CallBudget; signal: AbortSignal }

export const noDescription: SelfDescription = { name: undefined, symbol: undefined, interfaces: [] }

/** Ends a loop within milliseconds; a name behind several proxies takes a tenth of it. */
const gas = '0x2dc6c0'
const timeoutMs = 10_000
const bytesMax = 4 * 2 ** 20

const selectors = { name: '0x06fdde03', symbol: '0x95d89b41', supportsInterface: '0x01ffc9a7' } as const
const interfaceIds: readonly [ContractInterface, string][] = [
  ['erc721', '80ac58cd'],
  ['erc721-metadata', '5b5e139f'],
  ['erc1155', 'd9b67a26'],
  ['erc2981', '2a55205a'],
]
/** ERC-165 says that no contract supports it: who does says yes to everything. */
const noInterface = 'ffffffff'

const callData: readonly string[] = [
  selectors.name,
  selectors.symbol,
  ...[noInterface, ...interfaceIds.map(([, id]) => id)].map(
    id => `${selectors.supportsInterface}${id.padEnd(64, '0')}`,
  ),
]

const callsPerContract = callData.length

export function contractCall(contract: Address, data: string, block: string): RpcCall {
  return { method: 'eth_call', params: [{ to: contract, data, gas }, block] }
}

/** What was asked of contracts, in the order of the calls; null where a contract refused. */
export async function askContracts(
  calls: readonly RpcCall[],
  { rpc, budget, signal }: ContractPort,
): Promise<readonly unknown[]> {
  await budget.take(calls.length, signal)
  const { values } = await rpc.ask(calls, { signal, idle: true, revertsAsNull: true, timeoutMs, bytesMax })
  return values
}

/** `slow`: those that took too long when they were asked alone. */
export type Readings = { said: Map<Address, SelfDescription>; slow: Address[] }

/**
 * Fails where the endpoints do. Who makes an answer too large, takes too long or is refused in words that nobody knows is looked for
 * contract by contract, so that one contract cannot hide the others.
 */
export async function readContracts(contracts: readonly Address[], port: ContractPort): Promise<Readings> {
  const calls = contracts.flatMap(contract => callData.map(data => contractCall(contract, data, 'latest')))
  try {
    const values = await askContracts(calls, port)
    const answersOf = (at: number) => values.slice(at * callsPerContract, (at + 1) * callsPerContract)
    return { said: new Map(contracts.map((contract, at) => [contract, saidIn(answersOf(at))])), slow: [] }
  } catch (error) {
    const kind = rpcFailureOf(error)?.kind
    if (kind === undefined || !ofContracts.has(kind)) throw error
    if (contracts.length > 1) return await readOneByOne(contracts, port)
    if (kind === 'refused') await requireAnswers(port)
    return kind === 'timeout'
      ? { said: new Map(), slow: [...contracts] }
      : { said: new Map(contracts.map(contract => [contract, noDescription])), slow: [] }
  }
}

async function readOneByOne(contracts: readonly Address[], port: ContractPort): Promise<Readings> {
  const all: Readings = { said: new Map(), slow: [] }
  for (const contract of contracts) {
    const { said, slow } = await readContracts([contract], port)
    for (const [address, each] of said) all.said.set(address, each)
    all.slow.push(...slow)
  }
  // Where nobody answers in time, it is not the contracts.
  if (all.said.size === 0) throw new AlmanacError('timeout', 'No contract could be read in time.', { retryable: true })
  return all
}

/** Fails where a call that no contract has a part in fails too: then it was the endpoints that refused. */
async function requireAnswers(port: ContractPort): Promise<void> {
  await askContracts([contractCall(zeroAddress, '0x', 'latest')], port)
}

const ofContracts: ReadonlySet<RpcFailureKind> = new Set<RpcFailureKind>(['response-too-large', 'timeout', 'refused'])

function saidIn([name, symbol, anything, ...declared]: readonly unknown[]): SelfDescription {
  const interfaces =
    flagOfAnswer(anything) === true
      ? []
      : interfaceIds.flatMap(([name], at) => (flagOfAnswer(declared[at]) === true ? [name] : []))
  return { name: textOfAnswer(name), symbol: textOfAnswer(symbol), interfaces }
}

// How many calls a second what nobody waits for may make: a small share of what the operator allows, and a polite few where nothing was said.

export type CallBudgetOptions = {
  /** Every endpoint is one's own. */
  isPrivate: boolean
  requestsPerSecond?: number | undefined
  requestsPerDay?: number | undefined
}

const share = 0.1
const politePerSecond = 10
const daySeconds = 86_400

export function callsPerSecond({ isPrivate, requestsPerSecond, requestsPerDay }: CallBudgetOptions): number {
  return Math.min(
    isPrivate ? Number.POSITIVE_INFINITY : politePerSecond,
    requestsPerSecond === undefined ? Number.POSITIVE_INFINITY : requestsPerSecond * share,
    requestsPerDay === undefined ? Number.POSITIVE_INFINITY : (requestsPerDay * share) / daySeconds,
  )
}

export class CallBudget {
  readonly #perSecond: number
  readonly #now: () => number
  #freeAtMs = 0

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  /** Waits until the calls before have been paid for. */
  async take(calls: number, signal: AbortSignal): Promise<void> {
    const now = this.#now()
    const waitMs = Math.max(0, this.#freeAtMs - now)
    this.#freeAtMs = Math.max(now, this.#freeAtMs) + (calls / this.#perSecond) * 1_000
    if (waitMs > 0) await pause(waitMs, signal)
  }
}
