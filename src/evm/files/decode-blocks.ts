// Decodes checked blocks of a file into what the index stores of blocks that nodes answered: the same rows, by the same
// code. Senders are recovered: those of transactions with NFT transfers, which rows name, and for the activity of
// wallets all of them.
import type { Chain } from '../../chains.ts'
import { quantityHex } from '../../hex.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Interval } from '../../model.ts'
import { joinActivity, type PackedActivity } from '../../store/packed-activity.ts'
import type { WholeScope } from '../../views.ts'
import { collectActivity } from '../decode/activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { earlyCollectionsOf } from '../decode/token-events.ts'
import { joinLogs } from '../proof/receipt-logs.ts'
import type { DecodedRange } from '../source/chain-source.ts'
import { UnreadableFile } from './e2store.ts'
import type { FileBlock } from './file-block.ts'
import { ofBlock } from './file-headers.ts'

export type DecodeOptions = {
  /** `transfers`: no activity of wallets. */
  scope: WholeScope
  /** What the blocks take in their file. */
  bytes: number
}

/** `blocks`: consecutive, lowest first, and linked. */
export function decodeBlocks(
  chain: Chain,
  blocks: readonly FileBlock[],
  { scope, bytes }: DecodeOptions,
): DecodedRange {
  const interval: Interval = { from: blocks[0]!.header.number, to: blocks.at(-1)!.header.number }
  const logs = joinLogs(blocks.map(block => block.logs))
  const earlyCollections = earlyCollectionsOf(chain.id)
  const { rows, malformed } = decodeTransfers({
    ...{ logs, earlyCollections, ledger: ledgerOf(chain.id).ledger },
    transactionOf: (_, block, index) => {
      const transaction = blocks[block - interval.from]?.transactions[index]
      // Here, where the block is known that an error is of.
      ofBlock(block, () => transaction?.from)
      return transaction
    },
  })
  const activityOfAll = (): PackedActivity => {
    for (const { header, transactions } of blocks)
      for (const transaction of transactions) ofBlock(header.number, () => transaction.from)
    const given = blocks.map(({ header: { number, timestamp }, transactions, parties }) => {
      return { number: quantityHex(number), timestamp: quantityHex(timestamp), transactions, parties }
    })
    const { packed, unreadable } = collectActivity({ blocks: given, logs, earlyCollections })
    if (unreadable > 0) throw new UnreadableFile(`has ${unreadable} transactions or logs that cannot be read`)
    return packed
  }
  const activity = scope === 'full' ? activityOfAll() : joinActivity([])
  const headers = blocks.map(({ header: { number, hash, parentHash, timestamp } }) => {
    return { number, hash, parentHash, timestamp }
  })
  const counts = {
    logs: blocks.reduce((sum, block) => sum + block.logCount, 0),
    transactions: blocks.reduce((sum, block) => sum + block.transactions.length, 0),
  }
  const found = { headers, transfers: rows, activity, bytes, ...counts, malformed }
  return { interval, evidence: 'receipts-root', ...found }
}
