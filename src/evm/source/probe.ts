// Samples a few blocks of a chain to learn which proofs hold there: whether headers hash to their block hash, and
// receipts to the header's root, as on Ethereum. A check that never holds proves nothing and would stop everything.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import { rpcFailureOf } from '../../rpc/failures.ts'
import { sequenceLogs } from '../decode/log-sequence.ts'
import { blockHashOf } from '../proof/block-hash.ts'
import { verifyLogs, verifyReceipts } from '../proof/verify.ts'
import type { RpcBlock, RpcPort, RpcReceipt } from '../rpc/port.ts'
import { otherProviderHint } from './chain-source.ts'

export type Probed = {
  /** With the quirks that the blocks showed. */
  chain: Chain
  hasReceipts: boolean
}

const samples = 6

/** Fails as the endpoints fail. One wrong answer changes nothing: a proof is given up if it fails on every sample. */
export async function probeChain(chain: Chain, rpc: RpcPort, signal: AbortSignal): Promise<Probed> {
  const head = await rpc.ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }], { signal })
  const latest = Number((head.values[0] as RpcBlock | null)?.number ?? 0)
  // Spread downwards, because the newest blocks may be empty and a young chain has few.
  const numbers = [...new Set(Array.from({ length: samples }, (_, at) => Math.max(0, latest - at * at * 3)))]
  const calls = numbers.map(number => ({ method: 'eth_getBlockByNumber', params: [quantityHex(number), true] }))
  const answers = (await rpc.ask(calls, { signal })).values as (RpcBlock | null)[]
  const blocks = answers.filter(block => block !== null && Array.isArray(block.transactions)) as RpcBlock[]
  const { ethereumHeaders, ...quirks } = chain.quirks
  const keepsHash =
    ethereumHeaders === true && blocks.some(block => block.hash !== undefined && blockHashOf(block) === block.hash)
  const sampled: Chain = { ...chain, quirks: { ...quirks, ...(keepsHash ? { ethereumHeaders } : {}) } }
  const receipts = await askReceipts(rpc, blocks, signal)
  if (receipts === undefined) return { chain: sampled, hasReceipts: false }
  const verdicts = blocks.flatMap((block, at): SampleVerdict[] => {
    const list = receipts[at]
    if (!Array.isArray(list) || list.length === 0) return []
    const given = list.flatMap(receipt => receipt.logs)
    const logs = sequenceLogs(given, { complete: true })
    if (!verifyLogs({ chain: sampled, block, logs }).ok) return ['spoiled']
    return verifyReceipts({ chain: sampled, block, receipts: list, logs }).ok ? ['proven'] : ['unproven']
  })
  if (verdicts.includes('spoiled') && !verdicts.includes('proven')) {
    throw new AlmanacError('upstream_invalid', `${chain.name} endpoints gave receipts that fail every check.`, {
      retryable: true,
      hint: otherProviderHint(chain),
    })
  }
  // A root that proves nothing is not worth paying for receipts.
  if (!isForeignRoot(verdicts)) return { chain: sampled, hasReceipts: true }
  return { chain: { ...sampled, quirks: { ...sampled.quirks, foreignReceiptsRoot: true } }, hasReceipts: false }
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
  signal: AbortSignal,
): Promise<(RpcReceipt[] | null)[] | undefined> {
  const calls = blocks.map(({ number }) => ({ method: 'eth_getBlockReceipts', params: [number] }))
  try {
    return (await rpc.ask(calls, { signal })).values as (RpcReceipt[] | null)[]
  } catch (error) {
    if (rpcFailureOf(error)?.kind === 'method-missing') return undefined
    throw error
  }
}
