// Checks what nodes answer before anything is stored. Pure: a failure names the block, what was expected and what came,
// in words fit for the reason of a stalled chain. It fetches nothing and decides nothing about endpoints.
//
// What each check proves, given headers that are linked by parent hash to a trusted head:
//
// - `links`: the blocks are one chain without a gap. Finality, not this check, says that it is the canonical one.
// - `block hash`: bloom, roots, time and parent are those that were hashed. Only where the form of the chain's headers
//   is known, also with fields of a later fork after it (`block-hash.ts`); elsewhere the header, and all that is
//   checked against it, is the node's word.
// - `receipts-root`: the logs are exactly the block's: none dropped, added, altered or moved. Their places follow from
//   the order of the receipts (`receipt-logs.ts`).
// - `transactions-root`: hash, place, value and recipient of each transaction are the block's. Senders follow only from
//   signatures, of which a sample is recovered (`verify-transactions.ts`); the others are the node's word.
// - `bloom`: no log was added whose address or topics the block lacks, and none was dropped that alone set a bit. It
//   says nothing about data, order and number: a log can be *added* that names only what the block's logs name anyway,
//   a transfer with its parties swapped among them. And logs of a block look alike: of the 1,961 logs of the Polygon
//   recording, 1,092 can be dropped one at a time without changing their block's bloom. So it is always combined with:
// - `log indexes` that run from 0 without a gap, with every log in a listed transaction of the same block hash: none
//   was dropped at the start or in the middle. What remains is the *end*: logs after the last one that came, all of
//   whose bits others set too (33 of those 1,961, and one state-sync log), and logs added there. An `eth_getLogs`
//   answer cannot show those, so evidence `bloom` means "as the block's but for its end". If that is not enough, ask
//   for receipts: the root leaves no gap.
// - A client that numbers logs per transaction hides the end of each transaction in the same way, and a chain that
//   leaves gaps (`receiptsMayBeMissing`) has only its bloom.
// - Logs of Polygon's state-sync transactions are outside of bloom and receipts root before the fork that put them in
//   (2025), and no root that is known holds their transaction. So they are the node's word: a doubt where they came,
//   and unnoticed where they were left out.
import type { Chain } from '../../chains.ts'
import { isHexOf, quantityOf } from '../../hex.ts'
import type { Evidence } from '../../model.ts'
import type { LogSequence } from '../decode/log-sequence.ts'
import type { RpcBlock, RpcHeader, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { checkBlockHash } from './block-hash.ts'
import { addToBloom, emptyBloom, equalBlooms, parseBloom } from './bloom.ts'
import { type Doubt, type Failure, failure, shown } from './failure.ts'
import { receiptsRoot } from './receipts-root.ts'
import { hexBytes } from './rlp-digits.ts'
import { checkTransactionList, isStateSync } from './verify-transactions.ts'

export type CheckResult = { ok: true; evidence: Evidence; doubt?: Doubt } | { ok: false; failure: Failure }

/** Checks that the headers of `from` to `to`, lowest first, are each the parent of the next. Undefined if they are. */
export function checkHeaders(range: {
  chain: Chain
  from: number
  to: number
  headers: readonly (RpcHeader | null | undefined)[]
  /** The hash of block `from - 1`, if known. */
  parentHash?: string
  /** Told of each header that is the node's word, because it is not of a form that is known. */
  onDoubt?: (doubt: Doubt) => void
  /** Called for each header that only the bytes sent with it prove. */
  onRaw?: () => void
}): Failure | undefined {
  let parentHash = range.parentHash
  for (let number = range.from; number <= range.to; number++) {
    const header = range.headers[number - range.from]
    if (typeof header !== 'object' || header === null) {
      return failure(
        'header-missing',
        number,
        `the node has no block ${number}, though it answered for the blocks up to ${range.to}`,
      )
    }
    const failed = checkHeader(header, number, range) ?? checkLink(header, number, parentHash)
    if (failed !== undefined) return failed
    parentHash = header.hash ?? undefined
  }
  return undefined
}

function checkHeader(
  header: RpcHeader,
  number: number,
  { chain, onDoubt, onRaw }: Pick<Parameters<typeof checkHeaders>[0], 'chain' | 'onDoubt' | 'onRaw'>,
): Failure | undefined {
  if (quantityOf(header.number, Number.MAX_SAFE_INTEGER) !== number) {
    return failure(
      'header-unreadable',
      number,
      `asked for block ${number}, the node answered block ${shown(header.number)}`,
    )
  }
  if (!isHexOf(header.hash, 32) || !isHexOf(header.parentHash, 32) || quantityOf(header.timestamp, 2 ** 40) < 0) {
    return failure(
      'header-unreadable',
      number,
      `block ${number} came without a readable hash, parent hash or timestamp`,
    )
  }
  const verdict = checkBlockHash(header, chain.quirks.headers)
  if (verdict.is === 'unknown') onDoubt?.({ reason: `block ${number}: ${verdict.why}`, elsewhere: true })
  if (verdict.is === 'equal' && verdict.raw === true) onRaw?.()
  if (verdict.is !== 'different') return undefined
  const message = `block ${number} says that its hash is ${header.hash}, its header hashes to ${verdict.hash}`
  return failure('block-hash', number, message)
}

function checkLink(header: RpcHeader, number: number, parentHash: string | undefined): Failure | undefined {
  if (parentHash === undefined || header.parentHash === parentHash) return undefined
  const message = `block ${number} names ${header.parentHash} as its parent, block ${number - 1} came as ${parentHash}`
  return failure('links', number, message)
}

/** Checks a block with all its logs, as `eth_getLogs` gives them. `logs` are its part of a complete sequence. */
export function verifyLogs({ chain, block, logs }: { chain: Chain; block: RpcBlock; logs: LogSequence }): CheckResult {
  const number = quantityOf(block.number, Number.MAX_SAFE_INTEGER)
  const failed =
    checkTransactionList(chain, block, number) ??
    checkPlaces(chain, block, number, logs) ??
    checkIndexes(chain, block, number, logs)
  if (failed !== undefined) return { ok: false, failure: failed }
  return checkBloom(chain, block, number, logs)
}

/** Whether receipts, as `eth_getBlockReceipts` gives them, belong to the transactions of a block. Undefined if so. */
export function checkReceipts(chain: Chain, block: RpcBlock, receipts: readonly RpcReceipt[]): Failure | undefined {
  const number = quantityOf(block.number, Number.MAX_SAFE_INTEGER)
  return checkTransactionList(chain, block, number) ?? checkReceiptList(chain, block, number, receipts)
}

/**
 * Checks a block with all its receipts, which passed `checkReceipts`. `logs` are theirs, as `receiptLogs` placed them.
 * If the chain hashes receipts in its own way, the bloom has to do.
 */
export function verifyReceipts(given: {
  chain: Chain
  block: RpcBlock
  receipts: readonly RpcReceipt[]
  logs: LogSequence
}): CheckResult {
  const { chain, block, receipts, logs } = given
  if (chain.quirks.foreignReceiptsRoot === true) return verifyLogs({ chain, block, logs })
  const number = quantityOf(block.number, Number.MAX_SAFE_INTEGER)
  return checkReceiptsRoot(chain, block, number, receipts)
}

/** Every log belongs to this block and to a transaction that it lists. */
function checkPlaces(chain: Chain, block: RpcBlock, number: number, logs: LogSequence): Failure | undefined {
  for (let at = 0; at < logs.length; at++) {
    const log = logs.logs[at]!
    if (log.blockHash !== block.hash) {
      const message = `a log of block ${number} belongs to block hash ${shown(log.blockHash)}, the header's is ${shown(block.hash)}`
      return failure('log-place', number, message)
    }
    const index = logs.transactionIndexes[at]!
    const transaction = block.transactions[index] as RpcTransaction | undefined
    if (transaction === undefined && chain.quirks.stateSyncTransactions === true) continue
    if (transaction?.hash !== log.transactionHash) {
      const listed =
        transaction === undefined
          ? `lists ${block.transactions.length} transactions`
          : `lists ${transaction.hash} there`
      const message = `log ${logs.logIndexes[at]} of block ${number} belongs to transaction ${index}, ${shown(log.transactionHash)}; the block ${listed}`
      return failure('log-place', number, message)
    }
  }
  return undefined
}

/** The log indexes have no gap; if they restart with every transaction, none within each. */
function checkIndexes(chain: Chain, block: RpcBlock, number: number, logs: LogSequence): Failure | undefined {
  if (chain.quirks.receiptsMayBeMissing === true) return undefined
  const renumbered = logs.renumbered.has(number)
  let next = 0
  let transaction = -1
  for (let at = 0; at < logs.length; at++) {
    const index = logs.transactionIndexes[at]!
    if (isStateSync(chain, block, index)) continue
    const came = renumbered ? quantityOf(logs.logs[at]!.logIndex, 2 ** 31) : logs.logIndexes[at]!
    const otherwiseRight = renumbered && (index === transaction ? came === next - 1 : came === 0)
    if (came !== next && !otherwiseRight) {
      const message = `block ${number}: log ${next} is missing; of the ${logs.length} logs that came the next is log ${came}`
      return failure('log-gap', number, message)
    }
    transaction = index
    next = came + 1
  }
  return undefined
}

function checkBloom(chain: Chain, block: RpcBlock, number: number, logs: LogSequence): CheckResult {
  const wanted = parseBloom(block.logsBloom)
  if (wanted === undefined) return failed('bloom', number, `block ${number} came without a bloom of 256 bytes`)
  const bloom = emptyBloom()
  const stateSync: number[] = []
  for (let at = 0; at < logs.length; at++) {
    if (isStateSync(chain, block, logs.transactionIndexes[at]!)) stateSync.push(at)
    else if (!addReadable(bloom, logs.logs[at]!)) return unreadableLog(number, logs, at)
  }
  const areOutside = equalBlooms(bloom, wanted)
  if (areOutside && stateSync.length === 0) return { ok: true, evidence: 'bloom' }
  if (areOutside) return { ok: true, evidence: 'bloom', doubt: stateSyncDoubt(number, 'outside') }
  for (const at of stateSync) if (!addReadable(bloom, logs.logs[at]!)) return unreadableLog(number, logs, at)
  if (equalBlooms(bloom, wanted)) return { ok: true, evidence: 'bloom', doubt: stateSyncDoubt(number, 'inside') }
  const missing = countBits(wanted, bloom)
  const surplus = countBits(bloom, wanted)
  const message = `block ${number}: the bloom of the ${logs.length} logs that came lacks ${missing} of the header's ${countBits(wanted, emptyBloom())} bits and sets ${surplus} others`
  return failed('bloom', number, message, logs.length === 0)
}

/** Data is not in the bloom, but no node holds a log whose data is not bytes. */
function addReadable(bloom: Uint8Array, log: RpcLog): boolean {
  return hexBytes(log.data) >= 0 && addToBloom(bloom, log)
}

function unreadableLog(number: number, logs: LogSequence, at: number): CheckResult {
  const message = `log ${logs.logIndexes[at]} of block ${number} has an address, a topic or data that is not hex`
  return failed('bloom', number, message)
}

/** Logs inside the root may be those of another transaction, which an honest endpoint names. */
function stateSyncDoubt(number: number, where: 'inside' | 'outside'): Doubt {
  const reason = `block ${number}: no root proves the logs of its state-sync transaction`
  return { reason, elsewhere: where === 'inside' }
}

function failed(check: Failure['check'], number: number, message: string, isAbsent = false): CheckResult {
  return { ok: false, failure: failure(check, number, message, isAbsent) }
}

function checkReceiptList(
  chain: Chain,
  block: RpcBlock,
  number: number,
  receipts: readonly RpcReceipt[],
): Failure | undefined {
  const missingAllowed = chain.quirks.receiptsMayBeMissing === true || chain.quirks.stateSyncTransactions === true
  if (receipts.length !== block.transactions.length && !missingAllowed) {
    const message = `block ${number} lists ${block.transactions.length} transactions, ${receipts.length} receipts came`
    return failure('receipts', number, message, receipts.length === 0)
  }
  let before = -1
  for (const receipt of receipts) {
    const index = quantityOf(receipt?.transactionIndex, 2 ** 31)
    const transaction = block.transactions[index] as RpcTransaction | undefined
    const foreign =
      transaction === undefined
        ? chain.quirks.stateSyncTransactions !== true
        : transaction.hash !== receipt.transactionHash
    if (index <= before || receipt.blockHash !== block.hash || foreign) {
      const message = `block ${number}: a receipt came for transaction ${shown(receipt?.transactionHash)} at index ${index} of block hash ${shown(receipt?.blockHash)}, which is not next in the block`
      return failure('receipts', number, message)
    }
    before = index
  }
  return undefined
}

function checkReceiptsRoot(
  chain: Chain,
  block: RpcBlock,
  number: number,
  receipts: readonly RpcReceipt[],
): CheckResult {
  const root = receiptsRoot(receipts)
  if (root === undefined) return failed('receipts', number, `a receipt of block ${number} cannot be read`)
  const indexOf = (receipt: RpcReceipt): number => quantityOf(receipt.transactionIndex, 2 ** 31)
  const isInside = root === block.receiptsRoot
  if (!isInside) {
    const inside = receipts.filter(receipt => !isStateSync(chain, block, indexOf(receipt)))
    if (inside.length === receipts.length || receiptsRoot(inside) !== block.receiptsRoot) {
      const message = `block ${number}: the ${receipts.length} receipts that came hash to ${root}, the header says ${shown(block.receiptsRoot)}`
      return failed('receipts-root', number, message, receipts.length === 0)
    }
  }
  // A root holds receipts by position: it proves those alone whose transaction is listed there.
  const arePlaced = receipts.every(
    (receipt, at) => receipt.logs.length === 0 || (indexOf(receipt) === at && !isStateSync(chain, block, at)),
  )
  if (arePlaced) return { ok: true, evidence: 'receipts-root' }
  return { ok: true, evidence: 'receipts-root', doubt: stateSyncDoubt(number, isInside ? 'inside' : 'outside') }
}

/** How many bits of `a` are not in `b`. */
function countBits(a: Uint8Array, b: Uint8Array): number {
  let count = 0
  for (let at = 0; at < a.length; at++) {
    for (let bits = a[at]! & ~b[at]!; bits !== 0; bits &= bits - 1) count++
  }
  return count
}
