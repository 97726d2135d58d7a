// Looks at a few blocks of a chain to learn which proofs hold there: whether headers hash to their block hash and receipts to the
// header's root, as on Ethereum. Chains differ, and so do test nodes; a check that never holds proves nothing and would stop everything.
import type { Chain } from '../../chains.ts'
import { AlmanacError } from '../../errors.ts'
import { quantityHex } from '../../hex.ts'
import { sequenceLogs } from '../decode/log-sequence.ts'
import { blockHashOf } from '../proof/block-hash.ts'
import { verifyLogs, verifyReceipts } from '../proof/verify.ts'
import { rpcFailureOf } from '../rpc/errors.ts'
import type { RpcBlock, RpcPort, RpcReceipt } from '../rpc/port.ts'

export type Probed = {
  /** With the quirks that the blocks showed. */
  chain: Chain
  hasReceipts: boolean
}

const samples = 6

/** Fails as the endpoints fail; a fault of one answer changes nothing, because a proof must fail on every sample to be given up. */
export async function probeChain(chain: Chain, rpc: RpcPort, signal: AbortSignal): Promise<Probed> {
  const head = await rpc.ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }], { signal })
  const latest = Number((head.values[0] as RpcBlock | null)?.number ?? 0)
  // Spread downwards, because the newest blocks may be empty and a young chain has few.
  const numbers = [...new Set(Array.from({ length: samples }, (_, at) => Math.max(0, latest - at * at * 3)))]
  const blocks = await askBlocks(rpc, numbers, signal)
  const hashed = blocks
    .map(block => ({ said: block.hash, made: blockHashOf(block) }))
    .filter(({ made }) => made !== undefined)
  const { ethereumHeaders, ...quirks } = chain.quirks
  const keepsHash = ethereumHeaders === true && hashed.some(({ said, made }) => said === made)
  const sampled: Chain = { ...chain, quirks: { ...quirks, ...(keepsHash ? { ethereumHeaders } : {}) } }
  const receipts = await askReceipts(rpc, blocks, signal)
  if (receipts === undefined) return { chain: sampled, hasReceipts: false }
  const verdicts = blocks.flatMap((block, at): SampleVerdict[] => {
    const list = receipts[at]
    if (!Array.isArray(list) || list.length === 0) return []
    const logs = sequenceLogs(
      list.flatMap(receipt => receipt.logs),
      { complete: true },
    )
    const plain = verifyLogs({ chain: sampled, block, logs })
    if (!plain.ok) return ['spoiled']
    return verifyReceipts({ chain: sampled, block, receipts: list, logs }).ok ? ['proven'] : ['unproven']
  })
  if (verdicts.includes('spoiled') && !verdicts.includes('proven')) {
    throw new AlmanacError('upstream_invalid', `${chain.name} endpoints gave receipts that fail every check.`, {
      retryable: true,
      hint: `add an endpoint of another provider to chains.${chain.name}.rpc; nothing wrong is stored meanwhile.`,
    })
  }
  const foreign = isForeignRoot(verdicts)
  return {
    chain: foreign ? { ...sampled, quirks: { ...sampled.quirks, foreignReceiptsRoot: true } } : sampled,
    // A root that proves nothing is no reason to pay for receipts.
    hasReceipts: !foreign,
  }
}

/** Of the receipts of one block: they hash to its root, they fit the bloom alone, or not even that. */
export type SampleVerdict = 'proven' | 'unproven' | 'spoiled'

/**
 * The root is another one only where logs that are otherwise whole never hash to it. An endpoint that drops logs may drop one
 * that the bloom does not show, but not from every block.
 */
export function isForeignRoot(verdicts: readonly SampleVerdict[]): boolean {
  return verdicts.length > 0 && verdicts.every(verdict => verdict === 'unproven')
}

async function askBlocks(rpc: RpcPort, numbers: readonly number[], signal: AbortSignal): Promise<RpcBlock[]> {
  const calls = numbers.map(number => ({ method: 'eth_getBlockByNumber', params: [quantityHex(number), true] }))
  const { values } = await rpc.ask(calls, { signal })
  return (values as (RpcBlock | null)[]).filter(
    block => block !== null && Array.isArray(block.transactions),
  ) as RpcBlock[]
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
