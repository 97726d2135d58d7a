// Where a contract's code first stands. A node without old state cannot say.

import type { Address } from '../../model.ts'
import { quantityHex } from '../hex.ts'
import type { RpcPort } from '../rpc/port.ts'
import { firstBlockWhere } from './first-block.ts'

/** Undefined where there is no code at `upTo`, or no endpoint knows. */
export async function deploymentBlock(
  contract: Address,
  { rpc, upTo }: { rpc: RpcPort; upTo: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  return await firstBlockWhere(
    async numbers => {
      const calls = numbers.map(number => ({ method: 'eth_getCode', params: [contract, quantityHex(number)] }))
      const { values } = await rpc.ask(calls, { signal })
      // A contract that was destroyed and made again has no one beginning; an answer that is none says nothing.
      if (!values.every(code => typeof code === 'string')) throw new Error('eth_getCode answered no code')
      return values.map(code => String(code).length > 2)
    },
    { from: 0, to: upTo },
  ).catch(() => undefined)
}
