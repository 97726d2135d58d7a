// Finds the lowest block of which the nodes of a chain still have everything, before samples are drawn from what they
// have dropped.

import { lowestHad, presenceOf } from '../../evm/rpc/block-presence.ts'
import type { RpcCall, RpcPort } from '../../evm/rpc/port.ts'
import type { Interval } from '../../model.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'

const method = 'eth_getBlockReceipts'
/** What nodes do not say that they have dropped is that many blocks at least; fewer are an oddity of the chain. */
const silentMin = 1_000

/** `from` where nothing is known to be gone: other failures show when blocks are asked for. */
export async function lowestHeld(rpc: RpcPort, { from, to }: Interval, signal: AbortSignal): Promise<number> {
  let isSaid = false
  const ask = async (calls: readonly RpcCall[]) => {
    try {
      return (await rpc.ask(calls, { signal })).values
    } catch (error) {
      isSaid ||= rpcFailureOf(error)?.kind === 'pruned'
      throw error
    }
  }
  try {
    // Blocks with nothing in them say nothing, and the oldest ones are often such.
    for (let block = from, step = 1; block < to; block = from + step, step *= 2) {
      const presence = await presenceOf(ask, block, method)
      if (presence === 'had') return from
      if (presence === 'empty') continue
      const lowest = await lowestHad(ask, { lacked: block, had: to, method })
      return isSaid || lowest - from >= silentMin ? lowest : from
    }
  } catch {
    signal.throwIfAborted()
  }
  return from
}
