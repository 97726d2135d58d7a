// Reads how many transactions a wallet has sent up to a block from a node: its nonce. It is one endpoint's word, and
// nothing is stored.
import { quantityHex, quantityOf } from '../../hex.ts'
import type { AskedNonce } from '../../model.ts'
import type { RpcPort } from '../rpc/port.ts'

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
