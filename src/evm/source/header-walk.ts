// Walks headers down from a block whose hash is proven, by parent hashes, to learn the hash of a block below it.
// Headers only.
import type { Chain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import type { Block, Hash } from '../../model.ts'
import { checkHeaders } from '../proof/verify.ts'
import type { RpcCall, RpcHeader, RpcPort } from '../rpc/port.ts'
import { askChecked, numbersOf, readHeader, strayReason } from './chain-source.ts'

/** About 300 kB. */
const headersPerBatch = 200

/** The hash of block `to`, which is below the anchor. */
export async function hashBelow(
  walk: {
    chain: Chain
    rpc: RpcPort
    anchor: Pick<Block, 'number' | 'hash'>
    to: number
    onHeaders?: ((headers: number) => void) | undefined
  },
  signal: AbortSignal,
): Promise<Hash> {
  const { chain, rpc, to } = walk
  let { number, hash } = walk.anchor
  while (number > to) {
    const interval = { from: Math.max(to + 1, number - headersPerBatch + 1), to: number }
    const expected = hash
    const { lowest } = await askChecked({
      chain,
      rpc,
      interval,
      ask: exclude => rpc.ask(numbersOf(interval).map(headerCall), { exclude, signal }),
      check: ({ values }) => {
        const failed = checkHeaders({ chain, ...interval, headers: values as (RpcHeader | null)[] })
        if (failed !== undefined) return failed.message
        const [lowest, highest] = [readHeader(values[0]), readHeader(values.at(-1))]
        if (lowest === undefined || highest === undefined) return 'it has no readable header'
        return strayReason(interval, highest.hash, expected) ?? { lowest }
      },
    })
    walk.onHeaders?.(interval.to - interval.from + 1)
    number = interval.from - 1
    hash = lowest.parentHash
  }
  return hash
}

/** The hashes of blocks; undefined where the endpoint does not have one. */
export async function hashesOf(
  { rpc, numbers }: { rpc: RpcPort; numbers: readonly number[] },
  signal: AbortSignal,
): Promise<(Hash | undefined)[]> {
  const hashes: (Hash | undefined)[] = []
  for (let at = 0; at < numbers.length; at += headersPerBatch) {
    const calls = numbers.slice(at, at + headersPerBatch).map(headerCall)
    const { values } = await rpc.ask(calls, { signal })
    hashes.push(...values.map(value => readHeader(value)?.hash))
  }
  return hashes
}

function headerCall(block: number): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [quantityHex(block), false] }
}
