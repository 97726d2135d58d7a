// Finds out which blocks an endpoint has: whether it still gives what a header says there is, and by bisection the
// lowest block for which it does. It asks one endpoint through the function that it is given, and remembers nothing.
import { quantityHex } from '../../hex.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import type { RpcCall, RpcHeader } from './port.ts'

/** All calls answered by the endpoint in question. */
export type AskOne = (calls: readonly RpcCall[]) => Promise<readonly unknown[]>

/** `empty`: the block has nothing that could be missing. */
export type Presence = 'had' | 'lacked' | 'empty'

/** How many blocks to check: empty ones prove nothing. */
const neighboursMax = 4
const emptyTrieRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Whether it has a block in the way that `method` asks for blocks. Fails as the endpoint fails. */
export async function presenceOf(ask: AskOne, block: number, method: string): Promise<Presence> {
  const number = quantityHex(block)
  const calls: RpcCall[] = [{ method: 'eth_getBlockByNumber', params: [number, false] }]
  if (method === 'eth_getBlockReceipts') calls.push({ method, params: [number] })
  if (method === 'eth_getLogs') calls.push({ method, params: [{ fromBlock: number, toBlock: number }] })
  let values: readonly unknown[]
  try {
    values = await ask(calls)
  } catch (error) {
    if (rpcFailureOf(error)?.kind === 'pruned') return 'lacked'
    throw error
  }
  const [header, list] = values as [RpcHeader | null, unknown]
  if (typeof header !== 'object' || header === null) return 'lacked'
  if (calls.length === 1) return 'had'
  if (!Array.isArray(list)) return 'lacked'
  if (list.length > 0) return 'had'
  const holdsSome = method === 'eth_getLogs' ? hasBits(header.logsBloom) : hasLeaves(header.receiptsRoot)
  return holdsSome ? 'lacked' : 'empty'
}

/** The lowest block that it has, between one that it lacks and a higher one that it has. */
export async function lowestHad(
  ask: AskOne,
  { lacked, had, method }: { lacked: number; had: number; method: string },
): Promise<number> {
  let [below, from] = [lacked, had]
  while (from - below > 1) {
    const middle = below + Math.floor((from - below) / 2)
    if (await lacks(ask, { from: middle, below: from, method })) below = middle
    else from = middle
  }
  return from
}

/** By the first block that says something. */
async function lacks(
  ask: AskOne,
  { from, below, method }: { from: number; below: number; method: string },
): Promise<boolean> {
  for (let block = from; block < Math.min(below, from + neighboursMax); block++) {
    const presence = await presenceOf(ask, block, method)
    if (presence !== 'empty') return presence === 'lacked'
  }
  return false
}

/** The highest of a few blocks up to `block` that it has with something in it; undefined where it has none. */
export async function highestHad(ask: AskOne, block: number, method: string): Promise<number | undefined> {
  for (let number = block; number > Math.max(0, block - neighboursMax); number--)
    if ((await presenceOf(ask, number, method)) === 'had') return number
  return undefined
}

function hasBits(bloom: unknown): boolean {
  return typeof bloom === 'string' && /[1-9a-f]/i.test(bloom.slice(2))
}

function hasLeaves(root: unknown): boolean {
  return typeof root === 'string' && root.toLowerCase() !== emptyTrieRoot
}
