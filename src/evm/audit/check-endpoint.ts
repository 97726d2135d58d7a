// Finds out what one endpoint of a chain can do: how old its head is, how far back it goes, and how much it gives at
// once. It asks a few dozen small questions and stores nothing.
import type { Chain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import type { Address } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { topics } from '../decode/token-events.ts'
import { ChainRpc } from '../rpc/chain-rpc.ts'
import { RangeRefused, type RpcBlock, type RpcCall } from '../rpc/port.ts'
import { HeaderSource } from '../source/chain-source.ts'
import { codelessAmong } from '../source/deployment.ts'
import { probeChain } from '../source/probe.ts'
import { firstBlockWhere } from '../source/wallet-lookup.ts'

export type EndpointFindings = {
  /** The host. */
  endpoint: string
  head: number
  headTimestamp: number
  latencyMs: number
  /** Whether it knows the `finalized` tag. */
  finalizedTag: boolean
  /** `proven`: receipts by block that hash to the header's root. `given`: they do not. */
  receipts: 'proven' | 'given' | 'missing'
  /** The oldest block whose transactions and receipts or logs it gives; undefined if not even the newest. */
  blocksFrom: number | undefined
  /** The oldest block whose balances and nonces it knows. */
  stateFrom: number | undefined
  /** The widest range of logs that it took; `isLimit` if it refused a wider one. */
  logRange: { blocks: number; isLimit: boolean }
  /** Calls that it took in one request; 1: no batches. */
  batchCalls: number
}

const logRanges = [100_000, 50_000, 10_000, 5_000, 2_000, 1_000, 500, 100, 50, 10, 5, 1]
const batchTried = 50
const timeoutMs = 15_000
/** Nothing was ever deployed at it: an answer about it is short. */
const unusedAddress = `0x${'00'.repeat(19)}ff`

/** The id of the chain that answers at a URL. */
export async function chainIdAt(url: string, signal: AbortSignal): Promise<number> {
  const rpc = new ChainRpc({ chain: { name: 'The', id: undefined }, endpoints: [{ url }], timeoutMs, attemptsMax: 2 })
  try {
    const { values } = await rpc.ask([{ method: 'eth_chainId', params: [] }], { signal })
    return Number(values[0])
  } finally {
    await rpc.close()
  }
}

/** Those of the addresses that have no code; none where no endpoint answers. */
export async function codelessAt(
  urls: readonly string[],
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<Address[]> {
  const endpoints = urls.map(url => ({ url }))
  const rpc = new ChainRpc({ chain: { name: 'The', id: undefined }, endpoints, timeoutMs, attemptsMax: 2 })
  try {
    return await codelessAmong(addresses, rpc, signal)
  } finally {
    await rpc.close()
  }
}

/** Fails as the endpoint fails if it cannot be used at all. */
export async function checkEndpoint(chain: Chain, url: string, signal: AbortSignal): Promise<EndpointFindings> {
  const rpc = new ChainRpc({ chain, endpoints: [{ url }], timeoutMs, attemptsMax: 3 })
  try {
    const { latest, finalized } = await new HeaderSource({ ...chain, finalizedTag: true }, rpc).head(signal)
    const head = latest.number
    const gives = async (method: string, ...params: unknown[]): Promise<boolean> =>
      (await answerOf(rpc, { method, params }, signal)) !== null
    const { hasReceipts } = await probeChain(chain, rpc, signal)
    const givesReceipts = hasReceipts || (await gives('eth_getBlockReceipts', quantityHex(head)))
    const blocksFrom = await oldest(head, block => givesBlock(rpc, block, givesReceipts, signal))
    return {
      endpoint: rpc.endpoints[0]!,
      head,
      headTimestamp: latest.timestamp,
      finalizedTag: finalized !== undefined,
      receipts: hasReceipts ? 'proven' : givesReceipts ? 'given' : 'missing',
      blocksFrom,
      stateFrom: await oldest(head, block => gives('eth_getBalance', unusedAddress, quantityHex(block))),
      // Below what the node has kept, it would refuse for another reason.
      logRange: await widestLogRange(rpc, head, head - (blocksFrom ?? head) + 1, signal),
      batchCalls: await batchSize(rpc, signal),
      latencyMs: Number(rpc.status()[0]?.latency_ms ?? 0),
    }
  } finally {
    await rpc.close()
  }
}

/** By bisection: what a node has at a block it has at every later one. */
function oldest(head: number, gives: (block: number) => Promise<boolean>): Promise<number | undefined> {
  // A few blocks below the head, which a balanced provider may not have everywhere yet.
  const to = Math.max(0, head - 4)
  return firstBlockWhere(blocks => Promise.all(blocks.map(gives)), { from: 0, to })
}

async function givesBlock(rpc: ChainRpc, number: number, withReceipts: boolean, signal: AbortSignal): Promise<boolean> {
  const at = quantityHex(number)
  const call = { method: 'eth_getBlockByNumber', params: [at, false] }
  const block = (await answerOf(rpc, call, signal)) as RpcBlock | null
  if (block === null) return false
  if (!withReceipts) return (await answerOf(rpc, logsCall(number, number), signal)) !== null
  const receipts = await answerOf(rpc, { method: 'eth_getBlockReceipts', params: [at] }, signal)
  return Array.isArray(receipts) && receipts.length >= block.transactions.length
}

/** Null if the node no longer has it, or cannot do it at all. Any other failure is the endpoint's. */
async function answerOf(rpc: ChainRpc, call: RpcCall, signal: AbortSignal): Promise<unknown> {
  try {
    return (await rpc.ask([call], { signal })).values[0] ?? null
  } catch (error) {
    const kind = rpcFailureOf(error)?.kind
    if (kind === 'pruned' || kind === 'method-missing' || kind === 'refused' || error instanceof RangeRefused)
      return null
    throw error
  }
}

async function widestLogRange(
  rpc: ChainRpc,
  head: number,
  blocksMax: number,
  signal: AbortSignal,
): Promise<EndpointFindings['logRange']> {
  const refusal = async (blocks: number): Promise<RangeRefused | undefined> => {
    try {
      await rpc.ask([logsCall(head - blocks + 1, head)], { signal })
      return undefined
    } catch (error) {
      if (error instanceof RangeRefused) return error
      throw error
    }
  }
  let isLimit = false
  let allowed = Number.POSITIVE_INFINITY
  for (const tried of logRanges) {
    const blocks = Math.min(tried, blocksMax)
    if (blocks > allowed) continue
    const refused = await refusal(blocks)
    if (refused === undefined) return { blocks, isLimit }
    isLimit = true
    allowed = refused.blocksAllowed ?? Math.min(allowed, blocks - 1)
    // A limit that the refusal names and the list lacks is tried as it is.
    if (refused.blocksAllowed !== undefined && !logRanges.includes(allowed) && (await refusal(allowed)) === undefined)
      return { blocks: allowed, isLimit }
  }
  return { blocks: 0, isLimit: true }
}

async function batchSize(rpc: ChainRpc, signal: AbortSignal): Promise<number> {
  const calls = Array.from({ length: batchTried }, () => ({ method: 'eth_chainId', params: [] }))
  const { bodies } = await rpc.askRaw(calls, { signal })
  return Math.ceil(batchTried / bodies.length)
}

function logsCall(from: number, to: number): RpcCall {
  const range = { fromBlock: quantityHex(from), toBlock: quantityHex(to) }
  return { method: 'eth_getLogs', params: [{ ...range, address: unusedAddress, topics: [topics.transfer] }] }
}
