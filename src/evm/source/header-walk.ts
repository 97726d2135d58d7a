// Walks headers down from a block whose hash is known, by parent hashes, to learn the hash of a block below it. Headers
// only. A header that hashes to its block hash proves its parent; another one is the word of its endpoint.
import { pause } from '../../abort.ts'
import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import type { Evidence, Hash, Interval } from '../../model.ts'
import { hostOf } from '../../rpc/endpoint-address.ts'
import type { Doubt } from '../proof/failure.ts'
import { checkHeaders } from '../proof/verify.ts'
import type { RpcCall, RpcHeader, RpcPort } from '../rpc/port.ts'
import { askChecked, checkFailed, headerOf, numbersOf, readHeader, strayReason } from './chain-source.ts'
import { type RawHeaders, withRaw } from './raw-headers.ts'

/** About 300 kB. */
const headersPerBatch = 200
/** How long another endpoint that could prove a header may be away, in one walk. */
const patienceMs = 60_000

/** The hash of a block, and how it is known that the chain has it: nothing that hangs on it is known better. */
export type Link = { hash: Hash; evidence: Evidence }

export type HeaderWalk = {
  anchor: Link & { number: number }
  /** Below the anchor. */
  to: number
  onHeaders?: ((headers: number) => void) | undefined
}

/** The hash of block `to`. `doubt` says why it is not proven. */
export async function linkBelow(
  { chain, rpc, raw }: { chain: Chain; rpc: RpcPort; raw?: RawHeaders },
  { anchor, to, onHeaders }: HeaderWalk,
  signal: AbortSignal,
): Promise<Link & { doubt?: string }> {
  let number = anchor.number
  let link: Link & { doubt?: string } = { hash: anchor.hash, evidence: anchor.evidence }
  const deadlineMs = performance.now() + patienceMs
  while (number > to) {
    const interval = { from: Math.max(to + 1, number - headersPerBatch + 1), to: number }
    const parent = await parentOf(interval, { chain, rpc, raw, expected: link.hash, deadlineMs }, signal)
    link = { ...link, ...parent, evidence: belowOf(link.evidence, parent) }
    onHeaders?.(interval.to - interval.from + 1)
    number = interval.from - 1
  }
  return link
}

/** A proof keeps what is known above it. What hangs on a word cannot rise, whatever connects that later. */
function belowOf(above: Evidence, { evidence, doubt }: Link & { doubt?: string }): Evidence {
  if (doubt === undefined) return above
  return above === 'unanchored' ? 'one-endpoint' : weakestOf(above, evidence)
}

type Question = { chain: Chain; rpc: RpcPort; raw: RawHeaders | undefined; expected: Hash; deadlineMs: number }

/** The parent of the lowest block, asked until one endpoint proves it or two hosts name the same. */
async function parentOf(
  interval: Interval,
  question: Question,
  signal: AbortSignal,
): Promise<Link & { doubt?: string }> {
  const { chain, rpc, deadlineMs } = question
  const named = new Set<Hash>()
  const asked = new Set<string>()
  let doubt = ''
  while (asked.size < rpc.endpoints.length) {
    try {
      const word = await askParent(interval, question, asked, signal)
      if (word.doubt === undefined) return { hash: word.hash, evidence: 'receipts-root' }
      doubt = word.doubt.reason
      if (named.has(word.hash)) return { hash: word.hash, evidence: 'two-endpoints', doubt }
      named.add(word.hash)
      for (const name of rpc.endpoints) if (hostOf(name) === hostOf(word.endpoint)) asked.add(name)
    } catch (error) {
      signal.throwIfAborted()
      if (named.size === 0 || !(error instanceof AlmanacError)) throw error
      // Where a proof is to be had, it is worth some patience.
      if (chain.quirks.headers === undefined || performance.now() > deadlineMs) break
      await pause(1_000, signal)
    }
  }
  const [hash, ...others] = named
  if (hash === undefined || others.length > 0)
    throw checkFailed(chain, interval, `the endpoints differ, and none is proven: ${doubt}`)
  return { hash, evidence: 'one-endpoint', doubt }
}

function askParent(
  interval: Interval,
  { chain, rpc, raw, expected }: Question,
  not: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<{ endpoint: string; hash: Hash; doubt: Doubt | undefined }> {
  return askChecked({
    chain,
    rpc,
    interval,
    ask: exclude => {
      const options = { exclude: new Set([...not, ...exclude]), signal, nullIsMissing: true }
      return rpc.ask(numbersOf(interval).map(headerCall), options)
    },
    check: async ({ endpoint, values }) => {
      let doubt: Doubt | undefined
      const checked = (headers: readonly (RpcHeader | null)[]) => {
        doubt = undefined
        const onDoubt = (found: Doubt) => {
          doubt ??= found
        }
        return checkHeaders({ chain, ...interval, headers, onDoubt })
      }
      const headers = values as (RpcHeader | null)[]
      const failed = checked(headers)
      if (failed !== undefined) return failed.message
      const [lowest, highest] = [readHeader(values[0]), readHeader(values.at(-1))]
      if (lowest === undefined || highest === undefined) return 'it has no readable header'
      if (doubt !== undefined && chain.quirks.headers !== undefined) {
        const proving = await raw?.of(interval, (headers as RpcHeader[]).map(headerOf), signal)
        if (proving !== undefined) checked((headers as RpcHeader[]).map((header, at) => withRaw(header, proving[at])))
      }
      return strayReason(interval, highest.hash, expected) ?? { endpoint, hash: lowest.parentHash, doubt }
    },
  })
}

/** Headers as one endpoint answers them, unchecked: for who compares their hashes. */
export async function headersAsAnswered(rpc: RpcPort, interval: Interval, signal: AbortSignal): Promise<unknown[]> {
  const headers: unknown[] = []
  for (let from = interval.from; from <= interval.to; from += headersPerBatch) {
    const batch = { from, to: Math.min(interval.to, from + headersPerBatch - 1) }
    headers.push(...(await rpc.ask(numbersOf(batch).map(headerCall), { signal })).values)
  }
  return headers
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
