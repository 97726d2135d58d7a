// Asks contracts for their names and interfaces, and tokens for their decimals, many in one batch and within a call
// budget. A contract that refuses, loops or answers nonsense counts as silent; only an endpoint's failure is an error.
import { flagOfAnswer, numberOfAnswer, textOfAnswer } from '../../annotate/label-text.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import { type Ledger, ledgerOf } from '../../ledgers.ts'
import { type Address, type ChainId, zeroAddress } from '../../model.ts'
import { type RpcFailureKind, rpcFailureOf } from '../../rpc/failures.ts'
import type { ContractInterface } from '../../store/annotation-store.ts'
import type { RateBudget } from '../rate-budget.ts'
import type { RpcCall, RpcPort } from '../rpc/port.ts'

export type SelfDescription = {
  name: string | undefined
  symbol: string | undefined
  interfaces: readonly ContractInterface[]
  /** Of an ERC-20 token. */
  decimals?: number | undefined
}

/** Contracts are asked at low priority and within a budget. */
export type ContractPort = { rpc: Pick<RpcPort, 'ask'>; budget: RateBudget; signal: AbortSignal }

export const noDescription: SelfDescription = { name: undefined, symbol: undefined, interfaces: [] }

/** Ends a loop within milliseconds; a name through several proxies takes a tenth of it. */
const namingGas = 3_000_000
const timeoutMs = 10_000
const bytesMax = 4 * 2 ** 20

const selectors = {
  ...{ name: '0x06fdde03', symbol: '0x95d89b41' },
  ...{ decimals: '0x313ce567', supportsInterface: '0x01ffc9a7' },
} as const
/** They are a `uint8`. */
const decimalsMax = 255n
const interfaceIds: readonly [ContractInterface, string][] = [
  ['erc721', '80ac58cd'],
  ['erc721-metadata', '5b5e139f'],
  ['erc1155', 'd9b67a26'],
  ['erc2981', '2a55205a'],
]
/** ERC-165 allows no contract to support it: one that does says yes to everything. */
const noInterface = 'ffffffff'

/** What a contract is asked, and what its answers say. */
type Questions = { callData: readonly string[]; saidIn: (answers: readonly unknown[]) => SelfDescription }

const questions: Record<Ledger, Questions> = {
  nft: {
    callData: [
      selectors.name,
      selectors.symbol,
      ...[noInterface, ...interfaceIds.map(([, id]) => id)].map(
        id => `${selectors.supportsInterface}${id.padEnd(64, '0')}`,
      ),
    ],
    saidIn: ([name, symbol, anything, ...declared]) => ({
      name: textOfAnswer(name),
      symbol: textOfAnswer(symbol),
      interfaces:
        flagOfAnswer(anything) === true
          ? []
          : interfaceIds.flatMap(([name], at) => (flagOfAnswer(declared[at]) === true ? [name] : [])),
    }),
  },
  erc20: {
    callData: [selectors.name, selectors.symbol, selectors.decimals],
    saidIn: ([name, symbol, decimals]) => ({
      name: textOfAnswer(name),
      symbol: textOfAnswer(symbol),
      interfaces: [],
      decimals: decimalsOf(numberOfAnswer(decimals)),
    }),
  },
}

function decimalsOf(said: bigint | undefined): number | undefined {
  return said === undefined || said > decimalsMax ? undefined : Number(said)
}

export function contractCall(contract: Address, data: string, block: string, gas = namingGas): RpcCall {
  return { method: 'eth_call', params: [{ to: contract, data, gas: quantityHex(gas) }, block] }
}

/** Answers in the order of the calls; null if a contract refused. */
export async function askContracts(
  calls: readonly RpcCall[],
  { rpc, budget, signal }: ContractPort,
): Promise<readonly unknown[]> {
  await budget.take(calls.length, signal)
  const { values } = await rpc.ask(calls, { signal, idle: true, revertsAsNull: true, timeoutMs, bytesMax })
  return values
}

/** The ledger says what its contracts are asked. */
export type ChainPort = ContractPort & { chain: ChainId }

/** `slow`: contracts that took too long when asked alone. */
export type Readings = { said: Map<Address, SelfDescription>; slow: Address[] }

/**
 * Fails if the endpoints do. If an answer is too large, too slow or refused in unknown words, contracts are asked one
 * by one, so that one contract cannot hide the others.
 */
export async function readContracts(contracts: readonly Address[], port: ChainPort): Promise<Readings> {
  const { callData, saidIn } = questions[ledgerOf(port.chain).ledger]
  const calls = contracts.flatMap(contract => callData.map(data => contractCall(contract, data, 'latest')))
  try {
    const values = await askContracts(calls, port)
    const answersOf = (at: number) => values.slice(at * callData.length, (at + 1) * callData.length)
    return { said: new Map(contracts.map((contract, at) => [contract, saidIn(answersOf(at))])), slow: [] }
  } catch (error) {
    const kind = rpcFailureOf(error)?.kind
    if (kind === undefined || !ofContracts.has(kind)) throw error
    if (contracts.length > 1) return await readOneByOne(contracts, port)
    if (kind === 'refused') await askNoContract(port)
    return kind === 'timeout'
      ? { said: new Map(), slow: [...contracts] }
      : { said: new Map(contracts.map(contract => [contract, noDescription])), slow: [] }
  }
}

/** Fails if a call without a contract fails: then what failed before was the endpoints' fault, not a contract's. */
export async function askNoContract(port: ContractPort): Promise<void> {
  await askContracts([contractCall(zeroAddress, '0x', 'latest')], port)
}

async function readOneByOne(contracts: readonly Address[], port: ChainPort): Promise<Readings> {
  const all: Readings = { said: new Map(), slow: [] }
  for (const contract of contracts) {
    const { said, slow } = await readContracts([contract], port)
    for (const [address, each] of said) all.said.set(address, each)
    all.slow.push(...slow)
  }
  // If no contract answers in time, the endpoints are slow.
  if (all.said.size === 0) throw new AlmanacError('timeout', 'No contract could be read in time.', { retryable: true })
  return all
}

/** Failures that a contract can cause. */
export const ofContracts: ReadonlySet<RpcFailureKind> = new Set<RpcFailureKind>([
  'response-too-large',
  'timeout',
  'refused',
])

const share = 0.1
const publicPerSecond = 10
const daySeconds = 86_400

/** For background calls: a small share of the configured limits, and few calls to public endpoints. */
export function callsPerSecond(limits: {
  /** Whether all endpoints are the operator's own. */
  isPrivate: boolean
  requestsPerSecond?: number | undefined
  requestsPerDay?: number | undefined
}): number {
  const { isPrivate, requestsPerSecond = Infinity, requestsPerDay = Infinity } = limits
  const perSecond = Math.min(requestsPerSecond, requestsPerDay / daySeconds) * share
  return Math.min(isPrivate ? Infinity : publicPerSecond, perSecond)
}
