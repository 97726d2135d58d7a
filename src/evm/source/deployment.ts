// Finds the block of a contract's deployment by bisection over its code, and asks endpoints of two hosts where there
// are two. Needs nodes with old state.
import { quantityHex, quantityOf } from '../../hex.ts'
import type { Address, Evidence } from '../../model.ts'
import { transferTopics } from '../decode/token-events.ts'
import { ofSameHost, onlyAt, type RpcLog, type RpcPort } from '../rpc/port.ts'
import { firstBlockWhere } from './wallet-lookup.ts'

export type Deployment = {
  block: number
  /** How many endpoints said that there was no code below. */
  evidence: Extract<Evidence, 'two-endpoints' | 'one-endpoint'>
}

export type DeploymentOptions = {
  rpc: RpcPort
  upTo: number
  /** Asks once for logs of all blocks below: a contract that was destroyed and made again had an earlier life. */
  looksBelow?: boolean
}

/** It is read in the thread that asks. A node that has more to tell is one that does not answer. */
const logsBounds = { timeoutMs: 10_000, bytesMax: 2 ** 24 }

/** Undefined if there is no code at `upTo`, if no endpoint keeps old state, or if the code came and went. */
export async function deploymentOf(
  contract: Address,
  { rpc, upTo, looksBelow = false }: DeploymentOptions,
  signal: AbortSignal,
): Promise<Deployment | undefined> {
  const exclude = new Set<string>()
  let found: { endpoint: string; block: number } | undefined
  while (found === undefined) {
    const endpoint = await endpointWithCode(contract, { rpc, upTo, exclude }, signal)
    if (endpoint === undefined) return undefined
    const block = await firstCode(contract, { rpc: onlyAt(rpc, endpoint), upTo }, signal)
    exclude.add(endpoint)
    if (block !== undefined) found = { endpoint, block }
  }
  const other = await confirmed(contract, { rpc, ...found }, signal)
  const block = Math.min(found.block, other ?? found.block)
  const earlier = looksBelow && block > 0 ? await firstLog(contract, { rpc, below: block }, signal) : undefined
  if (earlier !== undefined) return { block: earlier, evidence: 'one-endpoint' }
  return { block, evidence: other === undefined ? 'one-endpoint' : 'two-endpoints' }
}

/** Whether there is no code at the block, by the word of endpoints of two hosts where there are two. */
export async function lacksCode(
  contract: Address,
  { rpc, at }: { rpc: RpcPort; at: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { endpoint, values } = await rpc.ask([codeCall(contract, at)], { signal })
  if (!isNoCode(values[0])) return false
  const exclude = ofSameHost(rpc, endpoint)
  if (exclude === undefined) return true
  // One that does not answer cannot speak for the contract.
  const other = await rpc.ask([codeCall(contract, at)], { signal, exclude }).catch(() => undefined)
  return other === undefined || isNoCode(other.values[0])
}

const codesAtOnce = 100

/** Those of the addresses that have no code now, by the word of one endpoint; where none answers, none of them. */
export async function codelessAmong(
  addresses: readonly Address[],
  rpc: RpcPort,
  signal: AbortSignal,
): Promise<Address[]> {
  const codeless: Address[] = []
  for (let first = 0; first < addresses.length; first += codesAtOnce) {
    const some = addresses.slice(first, first + codesAtOnce)
    const calls = some.map(address => ({ method: 'eth_getCode', params: [address, 'latest'] }))
    const { values } = await rpc.ask(calls, { signal }).catch(() => ({ values: [] }))
    codeless.push(...some.filter((_, at) => /^0x0*$/.test(String(values[at]))))
  }
  return codeless
}

type At = { rpc: RpcPort; upTo: number }

/** Some endpoint that sees the contract at `upTo`. */
async function endpointWithCode(
  contract: Address,
  { rpc, upTo, exclude }: At & { exclude: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (exclude.size >= rpc.endpoints.length) return undefined
  const asked = rpc.ask([codeCall(contract, upTo)], { signal, exclude })
  const { endpoint, values } = await asked.catch(() => ({ endpoint: undefined, values: [] }))
  return isCode(values[0]) ? endpoint : undefined
}

async function firstCode(contract: Address, { rpc, upTo }: At, signal: AbortSignal): Promise<number | undefined> {
  const hasCode = async (numbers: readonly number[]): Promise<boolean[]> => {
    const { values } = await rpc.ask(
      numbers.map(number => codeCall(contract, number)),
      { signal },
    )
    // A contract that was destroyed and deployed again has no single beginning, which `firstBlockWhere` notices.
    if (!values.every(code => typeof code === 'string')) throw new Error('eth_getCode did not answer code')
    return values.map(isCode)
  }
  return await firstBlockWhere(hasCode, { from: 0, to: upTo }).catch(() => undefined)
}

/** The first block with code by the word of an endpoint of another host; undefined if there is none that tells. */
async function confirmed(
  contract: Address,
  { rpc, endpoint, block }: { rpc: RpcPort; endpoint: string; block: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  const exclude = ofSameHost(rpc, endpoint)
  if (exclude === undefined) return undefined
  if (block === 0) return 0
  const asked = rpc.ask([codeCall(contract, block - 1)], { signal, exclude })
  const { endpoint: other, values } = await asked.catch(() => ({ endpoint: undefined, values: [] }))
  if (other === undefined || typeof values[0] !== 'string') return undefined
  // It has seen code where the first endpoint saw none: less is skipped.
  return isCode(values[0]) ? await firstCode(contract, { rpc: onlyAt(rpc, other), upTo: block - 1 }, signal) : block
}

/** The block of the first log below; undefined if there is none, or no endpoint answers for that many blocks. */
async function firstLog(
  contract: Address,
  { rpc, below }: { rpc: RpcPort; below: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  const range = { fromBlock: quantityHex(0), toBlock: quantityHex(below - 1) }
  const filter = { ...range, address: contract, topics: [transferTopics] }
  const asked = rpc.ask([{ method: 'eth_getLogs', params: [filter] }], { signal, ...logsBounds })
  const { values } = await asked.catch(() => ({ values: [] }))
  const logs = Array.isArray(values[0]) ? (values[0] as RpcLog[]) : []
  const first = logs.reduce((lowest, log) => {
    const block = quantityOf(log?.blockNumber, below - 1)
    return block < 0 ? lowest : Math.min(lowest, block)
  }, below)
  return first === below ? undefined : first
}

function codeCall(contract: Address, block: number) {
  return { method: 'eth_getCode', params: [contract, quantityHex(block)] }
}

function isNoCode(value: unknown): boolean {
  return typeof value === 'string' && !isCode(value)
}

function isCode(value: unknown): boolean {
  return typeof value === 'string' && value.length > 2
}
