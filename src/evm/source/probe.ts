// Samples a few blocks of a chain at every endpoint, to learn which proofs hold there: whether headers hash to their
// block hash where that is not known, and receipts to the header's root, as on Ethereum. A check that never holds
// proves nothing and would stop everything.
import { setTimeout } from 'node:timers/promises'
import { builtInChains, type Chain, ethereumHeaders } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex, quantityOf } from '../../hex.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { checkBlockHash } from '../proof/block-hash.ts'
import { receiptLogs } from '../proof/receipt-logs.ts'
import { checkReceipts, verifyLogs, verifyReceipts } from '../proof/verify.ts'
import type { RpcBlock, RpcHeader, RpcPort, RpcReceipt } from '../rpc/port.ts'
import { otherProviderHint } from './chain-source.ts'

export type Probed = {
  /** With the quirks that the blocks showed. */
  chain: Chain
  hasReceipts: boolean
  /** Whether every endpoint was heard and no proof was given up: to ask again would change nothing. */
  isSettled: boolean
}

const samples = 6
/** How long the endpoints that are not the first to answer are waited for, where the first keep every proof or not. */
const usualGraceMs = { proven: 2_000, unproven: 10_000 }

/**
 * Fails as the endpoints fail, if they all do. One wrong answer changes nothing: a proof is given up if it fails on
 * every sample of every endpoint, and an endpoint whose samples are spoiled is distrusted.
 */
export async function probeChain(
  chain: Chain,
  rpc: RpcPort,
  signal: AbortSignal,
  graceMs = usualGraceMs,
): Promise<Probed> {
  const probed: EndpointProbe[] = []
  const probes = rpc.endpoints.map(async endpoint => {
    probed.push(await probeEndpoint(chain, rpc, endpoint, signal))
  })
  const all = Promise.allSettled(probes)
  const keeping = probes.map(async probe => {
    await probe
    if (givesUp(chain, probed)) throw new Error('a proof would be given up')
  })
  // An endpoint that is away is not waited for long, unless the word of the others would give up a proof.
  const within = (some: Promise<void>[], ms: number): Promise<unknown> =>
    Promise.any(some).then(
      () => setTimeout(ms, undefined, { ref: false }),
      () => all,
    )
  await Promise.race([all, within(probes, graceMs.unproven), within(keeping, graceMs.proven)])
  if (probed.length === 0) await probes[0]
  const isSettled = probed.length === probes.length && !givesUp(chain, probed)
  return { ...learn(chain, probed), isSettled }
}

function learn(chain: Chain, probed: readonly EndpointProbe[]): Pick<Probed, 'chain' | 'hasReceipts'> {
  const sampled = probed.every(({ hashes }) => hashes) ? withEthereumHeaders(chain) : chain
  const given = probed.filter(({ verdicts }) => verdicts !== undefined)
  if (given.length === 0) return { chain: sampled, hasReceipts: false }
  // An endpoint that spoils every sample does not speak for others, whose samples may be empty.
  const heard = given.filter(({ verdicts }) => !verdicts?.includes('spoiled') || verdicts.includes('proven'))
  if (heard.length === 0) {
    throw new AlmanacError('upstream_invalid', `${chain.name} endpoints gave receipts that fail every check.`, {
      retryable: true,
      hint: otherProviderHint(chain),
    })
  }
  const verdicts = heard.flatMap(each => each.verdicts ?? [])
  // A root that proves nothing is not worth paying for receipts.
  if (!isForeignRoot(verdicts)) return { chain: sampled, hasReceipts: true }
  return { chain: { ...sampled, quirks: { ...sampled.quirks, foreignReceiptsRoot: true } }, hasReceipts: false }
}

/** Whether some proof would not be asked for. */
function givesUp(chain: Chain, probed: readonly EndpointProbe[]): boolean {
  const isProven = probed.some(({ verdicts }) => verdicts?.includes('proven'))
  return !isProven || (withEthereumHeaders(chain) !== chain && !probed.every(({ hashes }) => hashes))
}

/** Of an operator's own chain whose endpoints all show it. The table knows the others. */
function withEthereumHeaders(chain: Chain): Chain {
  if (chain.quirks.headers !== undefined || builtInChains.some(({ name }) => name === chain.name)) return chain
  return { ...chain, quirks: { ...chain.quirks, headers: ethereumHeaders } }
}

type EndpointProbe = {
  /** Every sampled header hashes to its block hash as on Ethereum. */
  hashes: boolean
  /** Undefined if it does not give receipts. */
  verdicts: readonly SampleVerdict[] | undefined
}

async function probeEndpoint(
  chain: Chain,
  rpc: RpcPort,
  endpoint: string,
  signal: AbortSignal,
): Promise<EndpointProbe> {
  const options = { signal, exclude: new Set(rpc.endpoints.filter(other => other !== endpoint)) }
  const head = await rpc.ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }], options)
  const latest = Math.max(0, quantityOf((head.values[0] as RpcBlock | null)?.number, Number.MAX_SAFE_INTEGER))
  // Spread downwards, because the newest blocks may be empty and a young chain has few.
  const numbers = [...new Set(Array.from({ length: samples }, (_, at) => Math.max(0, latest - at * at * 3)))]
  const calls = numbers.map(number => ({ method: 'eth_getBlockByNumber', params: [quantityHex(number), true] }))
  const answers = (await rpc.ask(calls, options)).values as (RpcBlock | null)[]
  const blocks = answers.filter(block => Array.isArray(block?.transactions)) as RpcBlock[]
  const isEqual = (block: RpcHeader): boolean => checkBlockHash(block, ethereumHeaders).is === 'equal'
  const hashes = blocks.length > 0 && blocks.every(isEqual)
  const receipts = await askReceipts(rpc, blocks, options)
  if (receipts === undefined) return { hashes, verdicts: undefined }
  const verdicts = blocks.flatMap((block, at) => verdictOf(chain, block, receipts[at]))
  if (verdicts.includes('spoiled')) rpc.distrust(endpoint, 'it gave receipts that fail their check')
  return { hashes, verdicts }
}

function verdictOf(chain: Chain, block: RpcBlock, receipts: unknown): SampleVerdict[] {
  if (!Array.isArray(receipts) || receipts.length === 0) return []
  try {
    const list = receipts as RpcReceipt[]
    const placed = checkReceipts(chain, block, list) === undefined ? receiptLogs(chain, block, list) : undefined
    if (placed === undefined || 'failure' in placed) return ['spoiled']
    const given = { chain, block, logs: placed.logs }
    if (!verifyLogs(given).ok) return ['spoiled']
    return verifyReceipts({ ...given, receipts: list }).ok ? ['proven'] : ['unproven']
  } catch {
    // Odd types where the checks expect others.
    return ['spoiled']
  }
}

/** Receipts of one block that hash to its root, that fit only its bloom, or not even that. */
export type SampleVerdict = 'proven' | 'unproven' | 'spoiled'

/**
 * The chain hashes receipts in its own way only if logs that are otherwise complete never hash to the root. An endpoint
 * that drops logs may drop one that the bloom does not show, but not from every block.
 */
export function isForeignRoot(verdicts: readonly SampleVerdict[]): boolean {
  return verdicts.length > 0 && verdicts.every(verdict => verdict === 'unproven')
}

async function askReceipts(
  rpc: RpcPort,
  blocks: readonly RpcBlock[],
  options: { signal: AbortSignal; exclude: ReadonlySet<string> },
): Promise<unknown[] | undefined> {
  const calls = blocks.map(({ number }) => ({ method: 'eth_getBlockReceipts', params: [number] }))
  try {
    return (await rpc.ask(calls, options)).values as unknown[]
  } catch (error) {
    if (rpcFailureOf(error)?.kind === 'method-missing') return undefined
    throw error
  }
}
