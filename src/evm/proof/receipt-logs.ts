// Places the logs of receipts by structure: the transaction by its receipt, the log index by counting over the block.
// What a node writes into the logs about their place is under no root, so it is compared and never believed.
import type { Chain } from '../../chains.ts'
import { quantityOf } from '../../hex.ts'
import type { LogSequence } from '../decode/log-sequence.ts'
import type { RpcBlock, RpcLog, RpcReceipt } from '../rpc/port.ts'
import { type Failure, failure, shown } from './failure.ts'
import { isStateSync } from './verify-transactions.ts'

const indexMax = 2 ** 31 - 1

/** The logs of one block in order. `receipts` passed `checkReceiptList`. */
export function receiptLogs(
  chain: Chain,
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
): { logs: LogSequence } | { failure: Failure } {
  const number = quantityOf(block.number, Number.MAX_SAFE_INTEGER)
  let capacity = 0
  for (const { logs } of receipts) capacity += Array.isArray(logs) ? logs.length : 0
  const logs: RpcLog[] = []
  const transactionIndexes = new Uint32Array(capacity)
  const logIndexes = new Uint32Array(capacity)
  // Besu until 2022 numbers logs per transaction, and Ethermint leaves gaps.
  const numbering = { counted: true, perTransaction: true, rising: true }
  let before = -1
  for (const receipt of receipts) {
    const position = quantityOf(receipt.transactionIndex, indexMax)
    const stateSync = isStateSync(chain, block, position)
    if (!Array.isArray(receipt.logs)) return wrong(number, `the receipt of transaction ${position} came without logs`)
    for (const [at, log] of (receipt.logs as readonly RpcLog[]).entries()) {
      const problem = placeProblem(block, receipt, log, stateSync)
      const named = quantityOf(log?.logIndex, indexMax)
      if (problem !== undefined || named < 0)
        return wrong(
          number,
          `log ${at} of transaction ${position} ${problem ?? `has the index ${shown(log.logIndex)}`}`,
        )
      const next = logs.push(log) - 1
      transactionIndexes[next] = stateSync ? quantityOf(log.transactionIndex, indexMax) : position
      // Not proven anyway, so the node's number stands where it can: other questions to it show the same.
      logIndexes[next] = stateSync && named > (logIndexes[next - 1] ?? -1) ? named : next
      if (stateSync) continue
      if (named !== next) numbering.counted = false
      if (named !== at) numbering.perTransaction = false
      if (named <= before) numbering.rising = false
      before = named
    }
  }
  const gaps = chain.quirks.receiptsMayBeMissing === true
  if (gaps && numbering.rising) {
    for (const [at, log] of logs.entries()) logIndexes[at] = quantityOf(log.logIndex, indexMax)
  } else if (!gaps && !numbering.counted && !numbering.perTransaction) {
    return wrong(number, 'the numbers of its logs are neither those of the block nor those of each transaction')
  }
  return {
    logs: {
      ...{ length: logs.length, logs, blocks: new Float64Array(logs.length).fill(number) },
      ...{ transactionIndexes, logIndexes },
      renumbered: numbering.counted || gaps ? noBlocks : new Set([number]),
      ...{ unplaced: 0, removed: 0, repeated: 0 },
    },
  }
}

const noBlocks: ReadonlySet<number> = new Set()

function placeProblem(block: RpcBlock, receipt: RpcReceipt, log: RpcLog, stateSync: boolean): string | undefined {
  if (typeof log !== 'object' || log === null) return `came as ${shown(log)}`
  if (log.removed !== false && log.removed !== undefined && log.removed !== null) return 'is marked as removed'
  if (log.blockHash !== block.hash) return `belongs to block hash ${shown(log.blockHash)}, not to ${shown(block.hash)}`
  if (log.transactionHash !== receipt.transactionHash) return `belongs to transaction ${shown(log.transactionHash)}`
  if (!isSame(log.blockNumber, block.number)) return `belongs to block ${shown(log.blockNumber)}`
  if (stateSync) return quantityOf(log.transactionIndex, indexMax) < 0 ? 'has no transaction index' : undefined
  if (isSame(log.transactionIndex, receipt.transactionIndex)) return undefined
  return `has the transaction index ${shown(log.transactionIndex)}`
}

/** Whether two texts are the same number; mostly they are the same text. */
function isSame(text: unknown, other: unknown): boolean {
  if (typeof text === 'string' && text === other) return true
  const number = quantityOf(text, Number.MAX_SAFE_INTEGER)
  return number >= 0 && number === quantityOf(other, Number.MAX_SAFE_INTEGER)
}

function wrong(number: number, message: string): { failure: Failure } {
  return { failure: failure('log-place', number, `block ${number}: ${message}`) }
}

/** One sequence of the logs of consecutive blocks. */
export function joinLogs(parts: readonly LogSequence[]): LogSequence {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const blocks = new Float64Array(length)
  const transactionIndexes = new Uint32Array(length)
  const logIndexes = new Uint32Array(length)
  const renumbered = new Set<number>()
  let at = 0
  for (const part of parts) {
    blocks.set(part.blocks, at)
    transactionIndexes.set(part.transactionIndexes, at)
    logIndexes.set(part.logIndexes, at)
    for (const number of part.renumbered) renumbered.add(number)
    at += part.length
  }
  const logs = parts.flatMap(part => part.logs as RpcLog[])
  const counts = { unplaced: 0, removed: 0, repeated: 0 }
  return { length, logs, blocks, transactionIndexes, logIndexes, renumbered, ...counts }
}
