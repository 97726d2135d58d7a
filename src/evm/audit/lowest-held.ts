// Finds the lowest block of which the nodes of a chain still have everything, before samples are drawn from what they
// have dropped.
import type { Interval } from '../../model.ts'
import { lowestHad, presenceOf } from '../rpc/block-presence.ts'
import type { RpcCall, RpcPort } from '../rpc/port.ts'

const method = 'eth_getBlockReceipts'

/** `from` where nothing is known to be gone: other failures show when blocks are asked for. */
export async function lowestHeld(rpc: RpcPort, { from, to }: Interval, signal: AbortSignal): Promise<number> {
  const ask = async (calls: readonly RpcCall[]) => (await rpc.ask(calls, { signal })).values
  try {
    // Blocks with nothing in them say nothing, and the oldest ones are often such.
    for (let block = from, step = 1; block < to; block = from + step, step *= 2) {
      const presence = await presenceOf(ask, block, method)
      if (presence === 'had') return from
      if (presence === 'lacked') return await lowestHad(ask, { lacked: block, had: to, method })
    }
  } catch {
    signal.throwIfAborted()
  }
  return from
}
