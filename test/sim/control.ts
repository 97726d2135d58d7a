// The remote control of a simulated node that runs in its own process: `sim_` methods that move the head and change faults.
import type { SimChain } from './chain.ts'
import type { Fault } from './faults.ts'

export type Control = (body: string) => string | undefined

/** The answer to a `sim_` method; undefined for any other request. */
export function controlAnswer(
  body: string,
  chain: SimChain,
  endpoints: () => readonly { faults: readonly Fault[] }[],
): string | undefined {
  if (!body.includes('"sim_')) return undefined
  const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: unknown[] }
  const answer = (part: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...part })
  try {
    if (method === 'sim_mine') chain.mine(Number(params[0] ?? 1))
    else if (method === 'sim_reorg') chain.reorg(params[0] as { depth: number; length: number })
    else if (method === 'sim_finalize') chain.finalize(params[0] === undefined ? undefined : Number(params[0]))
    else if (method === 'sim_faults') endpoints()[Number(params[0])]!.faults = params[1] as Fault[]
    else return undefined
  } catch (error) {
    return answer({ error: { code: -32000, message: error instanceof Error ? error.message : String(error) } })
  }
  return answer({ result: { head: chain.head, finalized: chain.finalized } })
}
