// Decodes checked blocks of a file into what the index stores of blocks that nodes answered: the same rows, by the same
// code. Wallets' activity is not among them, because senders are still to be recovered.
import type { Chain } from '../../chains.ts'
import type { Evidence, Interval } from '../../model.ts'
import { joinActivity } from '../../store/packed-activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { earlyCollectionsOf } from '../decode/token-events.ts'
import { joinLogs } from '../proof/receipt-logs.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import type { FileBlock } from './file-block.ts'

/** `blocks`: consecutive, lowest first, and linked. `bytes`: what they take in the file. */
export function decodeBlocks(chain: Chain, blocks: readonly FileBlock[], bytes: number): DecodedRange {
  const interval: Interval = { from: blocks[0]!.header.number, to: blocks.at(-1)!.header.number }
  const { rows, malformed } = decodeTransfers({
    logs: joinLogs(blocks.map(({ logs }) => logs)),
    earlyCollections: earlyCollectionsOf(chain.id),
    transactionOf: (_, block, index) => blocks[block - interval.from]?.transactions[index],
  })
  const evidence: Evidence = 'receipts-root'
  const headers = blocks.map(({ header: { number, hash, parentHash, timestamp } }) => {
    return { number, hash, parentHash, timestamp }
  })
  const logs = blocks.reduce((sum, { logCount }) => sum + logCount, 0)
  const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0)
  const counts = { bytes, logs, transactions, malformed }
  return { interval, evidence, headers, transfers: rows, activity: joinActivity([]), ...counts }
}
