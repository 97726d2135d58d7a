// One block as a node has it, by its number or its hash, with how many transactions it has; and how many a wallet has
// sent up to a block: its nonce. Both are one endpoint's word, and nothing is stored.
import { quantityHex, quantityOf } from '../../hex.ts'
import { type AskedNonce, type Hash, type NodeBlock, parseHash } from '../../model.ts'
import type { RpcBlock, RpcPort } from '../rpc/port.ts'

/** Undefined where the node has no such block in its chain: a hash may be that of a block that was replaced. */
export async function readBlock(
  rpc: Pick<RpcPort, 'ask'>,
  block: number | Hash,
  signal: AbortSignal,
): Promise<NodeBlock | undefined> {
  const read = async (method: string, name: string): Promise<NodeBlock | undefined> => {
    const { values } = await rpc.ask([{ method, params: [name, false] }], { signal })
    return blockOf(values[0] as RpcBlock | null)
  }
  if (typeof block === 'number') {
    const found = await read('eth_getBlockByNumber', quantityHex(block))
    return found?.number === block ? found : undefined
  }
  const named = await read('eth_getBlockByHash', block)
  if (named?.hash !== block) return undefined
  const inChain = await read('eth_getBlockByNumber', quantityHex(named.number))
  return inChain?.hash === block ? named : undefined
}

function blockOf(answer: RpcBlock | null): NodeBlock | undefined {
  const number = quantityOf(answer?.number, Number.MAX_SAFE_INTEGER)
  const timestamp = quantityOf(answer?.timestamp, Number.MAX_SAFE_INTEGER)
  const [hash, parentHash] = [parseHash(`${answer?.hash}`), parseHash(`${answer?.parentHash}`)]
  if (number < 0 || timestamp < 0 || hash === undefined || parentHash === undefined) return undefined
  return { number, hash, timestamp, parentHash, transactions: answer?.transactions?.length ?? 0 }
}

export async function readNonce(
  rpc: Pick<RpcPort, 'ask'>,
  { wallet, block }: AskedNonce,
  waitMs: number,
): Promise<number> {
  const call = { method: 'eth_getTransactionCount', params: [wallet, quantityHex(block)] }
  const numberOf = (value: unknown) => quantityOf(value, Number.MAX_SAFE_INTEGER)
  const objection = ([value]: readonly unknown[]) => (numberOf(value) < 0 ? 'a nonce that is not a number' : undefined)
  const signal = AbortSignal.timeout(Math.ceil(waitMs))
  const { values } = await rpc.ask([call], { signal, nullIsMissing: true, objection })
  return numberOf(values[0])
}
