// Reads native balances of wallets at one block from a node. Its answer is the endpoint's word; nothing is stored.
import { AlmanacError } from '../../errors.ts'
import { quantityHex, quantityOf } from '../../hex.ts'
import { type AskedBalances, type NodeBalances, parseHash } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import type { RpcHeader, RpcPort } from '../rpc/port.ts'

/** Without a block: at the head of the endpoint that is asked for it. */
export async function readBalances(
  { chain, rpc }: { chain: { name: string }; rpc: Pick<RpcPort, 'ask'> },
  { block, wallets }: Pick<AskedBalances, 'block' | 'wallets'>,
  waitMs: number,
): Promise<NodeBalances> {
  const signal = AbortSignal.timeout(Math.ceil(waitMs))
  try {
    const number = block ?? (await readHead(rpc, signal))
    const at = quantityHex(number)
    const header = { method: 'eth_getBlockByNumber', params: [at, false] }
    const calls = [header, ...wallets.map(wallet => ({ method: 'eth_getBalance', params: [wallet, at] }))]
    const objection = (values: readonly unknown[]) => objectionTo(values, number)
    const { values } = await rpc.ask(calls, { signal, nullIsMissing: true, objection })
    const [{ hash, timestamp }, ...balances] = values as [RpcHeader, ...string[]]
    const facts = { block: number, hash: parseHash(hash!)!, timestamp: secondsOf(timestamp) }
    return { ...facts, balances: balances.map(each => `${BigInt(each)}`) }
  } catch (error) {
    throw explainedReading(error, { chain: chain.name, of: 'the balances', block, signal, waitMs })
  }
}

export async function readHead(rpc: Pick<RpcPort, 'ask'>, signal: AbortSignal): Promise<number> {
  const numberOf = (value: unknown) => quantityOf(value, Number.MAX_SAFE_INTEGER)
  const objection = ([value]: readonly unknown[]) => (numberOf(value) < 0 ? 'a head that is not a number' : undefined)
  const { values } = await rpc.ask([{ method: 'eth_blockNumber', params: [] }], { signal, objection })
  return numberOf(values[0])
}

function objectionTo([header, ...balances]: readonly unknown[], block: number): string | undefined {
  const { number, hash, timestamp } = (header ?? {}) as Partial<RpcHeader>
  if (quantityOf(number, Number.MAX_SAFE_INTEGER) !== block) return `another block than ${block}`
  if (parseHash(`${hash}`) === undefined) return `block ${block} without a hash`
  if (secondsOf(timestamp) < 0) return `block ${block} without a time`
  return balances.every(isBalance) ? undefined : 'a balance that is not a number'
}

function secondsOf(timestamp: unknown): number {
  return quantityOf(timestamp, Number.MAX_SAFE_INTEGER)
}

function isBalance(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)
}

type Failed = { chain: string; of: string; block: number | undefined; signal: AbortSignal; waitMs: number }

/** In words for clients: those of the transport name endpoints, and its codes are not about the request. */
export function explainedReading(error: unknown, { chain, of, block, signal, waitMs }: Failed): unknown {
  const failure = rpcFailureOf(error)
  if (failure?.kind === 'pruned')
    return new AlmanacError(
      'not_configured',
      `No node of ${chain} has the state of block ${block ?? 'the head'}: that takes an archive node.`,
      { cause: error, hint: `add an archive endpoint to chains.${chain}.rpc.` },
    )
  if (signal.aborted || failure?.kind === 'timeout')
    return new AlmanacError('timeout', `No node of ${chain} answered within ${Math.ceil(waitMs / 1_000)} s.`, {
      cause: error,
      retryable: true,
    })
  if (failure === undefined || !(error instanceof AlmanacError) || error.code !== 'not_found') return error
  return new AlmanacError('upstream_failed', `No node of ${chain} returned ${of}.`, { cause: error })
}
