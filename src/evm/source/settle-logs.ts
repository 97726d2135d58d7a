// Settles which of two endpoints told the truth about the logs of some blocks: by receipts and transactions that hash
// to the roots in headers on which both agree. Neither the longer nor the shorter list is right by itself.
import type { Chain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import type { Address } from '../../model.ts'
import { type LogSequence, sequenceLogs, splitByBlock } from '../decode/log-sequence.ts'
import { topicsOf, transferTopic } from '../decode/token-events.ts'
import { areRawReceipts, readRawReceipts, takesRawReceipts } from '../proof/raw-receipts.ts'
import { receiptLogs } from '../proof/receipt-logs.ts'
import { checkHeaders, checkReceipts, verifyReceipts } from '../proof/verify.ts'
import { checkTransactionList, isStateSync, verifyTransactions } from '../proof/verify-transactions.ts'
import type { RpcBlock, RpcPort, RpcReceipt } from '../rpc/port.ts'

export type Told = { endpoint: string; logs: LogSequence }

/** More would cost more than asking for the range again. */
const blocksMax = 8
/** Of one answer, which is parsed in the thread that asks. */
const bytesMax = 2 ** 25

/** The endpoints that were proven wrong, and whether every difference is settled by a proof. */
export async function settleLogs(
  given: { chain: Chain; rpc: RpcPort; contracts: readonly Address[]; told: [Told, Told]; blocks: readonly number[] },
  signal: AbortSignal,
): Promise<{ wrong: ReadonlySet<string>; settled: boolean }> {
  const { contracts, told, blocks } = given
  const asked = new Set<string>(contracts)
  const firstTopics = topicsOf(given.chain.id)
  const wrong = new Set<string>()
  let proven = 0
  for (const number of blocks.slice(0, blocksMax)) {
    const proof = await proofOf(given, number, signal).catch(() => undefined)
    const parts = told.map(({ logs }) => splitByBlock(logs, [number]).parts[0]!)
    // No root holds the logs of a state-sync transaction.
    if (proof === undefined || parts.some(part => isPartlyOutside(given.chain, proof.block, part))) continue
    proven++
    const ours = proof.logs.logs.filter(
      ({ address, topics }) => asked.has(address.toLowerCase()) && firstTopics.includes(transferTopic(topics[0]) ?? ''),
    )
    const truth = sequenceLogs(ours, { complete: false })
    for (const [at, { endpoint }] of told.entries())
      if (differingBlocks(parts[at]!, truth).length > 0) wrong.add(endpoint)
  }
  return { wrong, settled: proven === blocks.length }
}

/** The blocks in which two sequences have other logs, or the same ones at other places. */
export function differingBlocks(a: LogSequence, b: LogSequence): number[] {
  const blockAt = ({ length, blocks }: LogSequence, at: number): number => (at < length ? blocks[at]! : Infinity)
  const different: number[] = []
  for (let inA = 0, inB = 0; inA < a.length || inB < b.length; ) {
    const block = Math.min(blockAt(a, inA), blockAt(b, inB))
    let same = true
    while (blockAt(a, inA) === block || blockAt(b, inB) === block) {
      const inBoth = blockAt(a, inA) === blockAt(b, inB)
      same &&= inBoth && textOf(a, inA) === textOf(b, inB)
      if (blockAt(a, inA) === block) inA++
      if (blockAt(b, inB) === block) inB++
    }
    if (!same) different.push(block)
  }
  return different
}

/**
 * All of a log and its place but the time, which only some nodes tell. JSON, so that no field can pose as two; in small
 * letters, because a root holds bytes.
 */
function textOf({ logs, blocks, transactionIndexes, logIndexes }: LogSequence, at: number): string {
  const { address, topics, data, blockHash, transactionHash } = logs[at]!
  const place = [blocks[at], blockHash, transactionIndexes[at], transactionHash, logIndexes[at]]
  return JSON.stringify([place, address, data, topics]).toLowerCase()
}

type Proof = { block: RpcBlock; logs: LogSequence }

/** Of one block, whose roots both endpoints must name. Two proofs that differ are none. */
async function proofOf(
  { chain, rpc, told }: { chain: Chain; rpc: RpcPort; told: readonly Told[] },
  number: number,
  signal: AbortSignal,
): Promise<Proof | undefined> {
  const ask = async (endpoint: string, method: string, ...more: unknown[]): Promise<unknown> => {
    const calls = [{ method, params: [quantityHex(number), ...more] }]
    const rawReceipts = takesRawReceipts(chain)
    return (await rpc.ask(calls, { signal, endpoint, bytesMax, rawReceipts })).values[0]
  }
  const blocks = await Promise.all(
    told.map(async ({ endpoint }) => (await ask(endpoint, 'eth_getBlockByNumber', true)) as RpcBlock),
  )
  const isBlock = (block: RpcBlock): boolean =>
    checkHeaders({ chain, from: number, to: number, headers: [block] }) === undefined
  const [roots, ...others] = blocks.map(block => [block?.hash, block?.receiptsRoot, block?.transactionsRoot].join())
  if (!blocks.every(isBlock) || others.some(other => other !== roots)) return undefined
  const prove = async ({ endpoint }: Told, at: number): Promise<Proof[]> => {
    const receipts = await ask(endpoint, 'eth_getBlockReceipts')
    const isRaw = areRawReceipts(chain, receipts)
    const read = isRaw
      ? rawLogs(chain, blocks[at]!, receipts)
      : provenLogs(chain, blocks[at]!, receipts as RpcReceipt[])
    // Another block may have replaced it between the two answers: then its receipts are another root's.
    const isSame = async () =>
      ((await ask(endpoint, 'eth_getBlockByNumber', false)) as RpcBlock)?.hash === blocks[at]!.hash
    if (typeof read === 'string' && (await isSame())) rpc.distrust(endpoint, read)
    const logs = typeof read === 'string' ? undefined : read
    return logs === undefined ? [] : [{ block: blocks[at]!, logs }]
  }
  // What an answer makes our code throw proves nothing.
  const proofs = await Promise.all(told.map((each, at) => prove(each, at).catch(() => [])))
  const [first, second] = proofs.flat()
  if (first === undefined || second === undefined) return first
  return differingBlocks(first.logs, second.logs).length === 0 ? first : undefined
}

/** The same of receipts in bytes, or what is wrong with them. */
function rawLogs(chain: Chain, block: RpcBlock, receipts: readonly string[]): LogSequence | string | undefined {
  if (checkTransactionList(chain, block, Number(block.number)) !== undefined) return undefined
  const transactions = verifyTransactions({ chain, block, oneIn: 0 })
  if ('failure' in transactions || transactions.doubt !== undefined) return undefined
  const read = readRawReceipts(block, receipts)
  return 'failure' in read ? read.failure.message : read.logs
}

/** The logs of a block under its root, where each stands at the place that it names. */
function provenLogs(chain: Chain, block: RpcBlock, receipts: readonly RpcReceipt[]): LogSequence | undefined {
  if (checkReceipts(chain, block, receipts) !== undefined) return undefined
  const placed = receiptLogs(chain, block, receipts)
  // Numbers with gaps, or of another way of counting, follow from no root.
  const isCounted = 'logs' in placed && placed.logs.renumbered.size === 0 && chain.quirks.receiptsMayBeMissing !== true
  if (!isCounted) return undefined
  const checked = verifyReceipts({ chain, block, receipts, logs: placed.logs })
  const transactions = verifyTransactions({ chain, block, oneIn: 0 })
  if (!checked.ok || checked.evidence !== 'receipts-root' || 'failure' in transactions) return undefined
  if (transactions.doubt !== undefined) return undefined
  const inside = placed.logs.logs.filter((_, at) => !isStateSync(chain, block, placed.logs.transactionIndexes[at]!))
  return sequenceLogs(inside, { complete: false })
}

function isPartlyOutside(chain: Chain, block: RpcBlock, { length, transactionIndexes }: LogSequence): boolean {
  return transactionIndexes.subarray(0, length).some(index => isStateSync(chain, block, index))
}
