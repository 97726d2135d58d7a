// Parses, checks and decodes the answers for a run of whole blocks: everything slow between the network and the store.
// Pure, so that any thread can do it: bytes in, rows or the reason of a refusal out.
import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { quantityHex } from '../../hex.ts'
import { ledgerOf } from '../../ledgers.ts'
import type { Evidence, Interval } from '../../model.ts'
import { readAnswers, UnreadableAnswer } from '../../rpc/answers.ts'
import { joinActivity } from '../../store/packed-activity.ts'
import type { WholeScope } from '../../views.ts'
import { type ActivityBlock, collectActivity } from '../decode/activity.ts'
import { decodeTransfers, type LogTransaction } from '../decode/decode.ts'
import { type LogSequence, sequenceLogs, splitByBlock } from '../decode/log-sequence.ts'
import { earlyCollectionsOf, threeTopicsOf } from '../decode/token-events.ts'
import { type Doubt, type Failure, failure } from '../proof/failure.ts'
import { areRawReceipts, readRawReceipts } from '../proof/raw-receipts.ts'
import type { BlockReceipts } from '../proof/receipt-bytes.ts'
import { joinLogs, receiptLogs } from '../proof/receipt-logs.ts'
import { checkSender } from '../proof/senders.ts'
import { checkHeaders, checkReceipts, verifyLogs, verifyReceipts } from '../proof/verify.ts'
import { checkTransactionList, verifyTransactions } from '../proof/verify-transactions.ts'
import type { RpcBlock, RpcCall, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { type ActivityGrain, type DecodedRange, headerOf, numbersOf } from './chain-source.ts'
import { withRaw } from './raw-headers.ts'
import { unlisted } from './read-facts.ts'

export type RangeRequest = { interval: Interval; grain: ActivityGrain; withReceipts: boolean }

export type RangeTask = {
  /** With the quirks that the probe found. */
  chain: Chain
  /** Recovers the sender of one transaction in N; absent or 0: of none. */
  senderSample?: number | undefined
  /** `transfers`: no activity of wallets. */
  scope?: WholeScope | undefined
  request: RangeRequest
  /** As they came, without a JSON-RPC error in them. */
  bodies: readonly Uint8Array[]
  /** What `debug_getRawHeader` answered for each block, if that was asked for. */
  rawHeaders?: readonly unknown[] | undefined
}

export type RangeResult = { ok: true; range: DecodedRange } | { ok: false; failure: Failure }

export function decodeRangeBodies({ chain, senderSample, scope, request, bodies, rawHeaders }: RangeTask): RangeResult {
  const { interval, grain } = request
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  try {
    const read = readAnswers(bodies, callCount(request))
    if ('refusal' in read) return refusal('unreadable', interval.from, `it answered: ${read.refusal.text}`)
    const answers = answersOf(read.values, request)
    if (rawHeaders !== undefined)
      answers.blocks = answers.blocks.map((block, at) => block && withRaw(block, rawHeaders[at]))
    return decodeRange({ chain, senderSample, scope, interval, answers, grain, bytes })
  } catch (error) {
    // If an answer makes this code throw, the endpoint that gave it is at fault.
    const odd = error instanceof UnreadableAnswer ? '' : 'what cannot be read: '
    return refusal('unreadable', interval.from, `it answered ${odd}${(error as Error).message}`)
  }
}

export function callsOf({ interval, withReceipts }: RangeRequest): RpcCall[] {
  const { from, to } = interval
  const blocks = numbersOf(interval).map(quantityHex)
  const calls: RpcCall[] = blocks.map(block => ({ method: 'eth_getBlockByNumber', params: [block, true] }))
  if (withReceipts) for (const block of blocks) calls.push({ method: 'eth_getBlockReceipts', params: [block] })
  else calls.push({ method: 'eth_getLogs', params: [{ fromBlock: quantityHex(from), toBlock: quantityHex(to) }] })
  return calls
}

function callCount({ interval: { from, to }, withReceipts }: RangeRequest): number {
  const blocks = to - from + 1
  return blocks + (withReceipts ? blocks : 1)
}

/** The answers of one endpoint for a run of blocks: either all their logs, or the receipts of each block. */
type RangeAnswers = {
  blocks: readonly (RpcBlock | null)[]
  logs?: readonly RpcLog[] | null
  /** Those of each block as objects or as bytes. */
  receipts?: readonly (readonly RpcReceipt[] | readonly string[] | null)[]
  /** Why the receipts of a block may not be whole: then its bloom has to do, and the rest is the source's word. */
  lacks?: readonly (string | undefined)[]
}

/** `values` in the order of the calls. */
function answersOf(values: readonly unknown[], { interval, withReceipts }: RangeRequest): RangeAnswers {
  const count = interval.to - interval.from + 1
  const blocks = values.slice(0, count) as (RpcBlock | null)[]
  if (!withReceipts) return { blocks, logs: values[count] as RpcLog[] | null }
  return { blocks, receipts: values.slice(count) as (RpcReceipt[] | string[] | null)[] }
}

export function decodeRange(given: {
  chain: Chain
  senderSample?: number | undefined
  scope?: WholeScope | undefined
  interval: Interval
  answers: RangeAnswers
  grain: ActivityGrain
  bytes: number
  /** Recovers every sender that rows or activity show; else a sample. */
  recoverSenders?: boolean | undefined
}): RangeResult {
  const { chain, interval, answers, grain, bytes, scope } = given
  const { from, to } = interval
  const doubts: Doubt[] = []
  const headers = answers.blocks
  let byRawHeaders = false
  const onRaw = () => {
    byRawHeaders = true
  }
  const failed = checkHeaders({ chain, from, to, headers, onDoubt: doubt => doubts.push(doubt), onRaw })
  if (failed !== undefined) return { ok: false, failure: failed }
  const headersProven = doubts.length === 0
  const blocks = headers as readonly RpcBlock[]
  const earlyCollections = earlyCollectionsOf(chain.id)
  const { ledger } = ledgerOf(chain.id)
  const placed = placedLogs(chain, interval, blocks, answers, threeTopicsOf(ledger, earlyCollections))
  if ('failure' in placed) return { ok: false, failure: placed.failure }
  const { logs, parts } = placed
  let evidence: Evidence = 'receipts-root'
  for (const [index, block] of blocks.entries()) {
    const verdict = verify(chain, block, parts[index]!, answers, index)
    if (!verdict.ok) return verdict
    evidence = weakestOf(evidence, verdict.evidence)
    if (verdict.doubt !== undefined) doubts.push(verdict.doubt)
    // A root in a header that is the node's word proves nothing.
    if (!headersProven) continue
    const transactions = verifyTransactions({ chain, block, oneIn: given.senderSample ?? 0 })
    if ('failure' in transactions) return { ok: false, failure: transactions.failure }
    if (transactions.doubt !== undefined) doubts.push(transactions.doubt)
  }
  const shownSenders = new Set<RpcTransaction>()
  const transactionOf = (_: RpcLog, block: number, index: number): LogTransaction => {
    const transaction = blocks[block - from]?.transactions[index] as RpcTransaction | undefined
    if (transaction !== undefined) shownSenders.add(transaction)
    // A log after the listed transactions belongs to a state-sync transaction, which moves no value.
    return transaction ?? unlisted
  }
  const { rows, malformed } = decodeTransfers({ logs, ledger, earlyCollections, transactionOf })
  if (given.recoverSenders === true) {
    const unsigned = checkSenders(blocks, scope === 'transfers' ? shownSenders : undefined)
    if (unsigned !== undefined) return { ok: false, failure: unsigned }
  }
  let unreadable = malformed.hex + malformed.transaction
  const activityOf = (some: readonly ActivityBlock[], their: LogSequence) => {
    const collected = collectActivity({ blocks: some, logs: their, earlyCollections })
    unreadable += collected.unreadable
    return collected.packed
  }
  const activityByGrain = () => {
    const active = blocks.map(({ number, timestamp, transactions }, index): ActivityBlock => {
      return { number, timestamp, transactions, parties: parts[index]!.parties }
    })
    if (grain === 'range') return activityOf(active, logs)
    return joinActivity(active.map((block, index) => activityOf([block], parts[index]!.logs)))
  }
  // A new empty one, not a shared one: its bytes move to another thread.
  const activity = scope === 'transfers' ? joinActivity([]) : activityByGrain()
  const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0)
  const logCount = parts.reduce((sum, part) => sum + part.logCount, 0)
  const found = {
    ...{ headers: blocks.map(headerOf), transfers: rows, activity, logs: logCount, transactions, malformed },
    ...(byRawHeaders ? { byRawHeaders } : {}),
  }
  // What was hashed can be read. What cannot is written in a way that no node has.
  if (doubts.length === 0 && unreadable > 0)
    return refusal('unreadable', from, `${unreadable} transactions or logs of blocks ${from} to ${to} cannot be read`)
  if (doubts.length === 0) return { ok: true, range: { interval, evidence, ...found, bytes } }
  const doubt = doubts.find(({ elsewhere }) => elsewhere) ?? doubts[0]!
  return { ok: true, range: { interval, evidence: 'one-endpoint', doubt, headersProven, ...found, bytes } }
}

/** The logs of all blocks and of each, in their places. */
function placedLogs(
  chain: Chain,
  interval: Interval,
  blocks: readonly RpcBlock[],
  { logs: given, receipts }: RangeAnswers,
  listed: ReadonlySet<number> | undefined,
): { logs: LogSequence; parts: BlockLogs[] } | { failure: Failure } {
  const { from, to } = interval
  const wrong = (message: string) => ({ failure: { check: 'log-place', block: from, message } as const })
  if (Array.isArray(given)) {
    const logs = sequenceLogs(given as RpcLog[], { complete: true })
    if (logs.unplaced > 0 || logs.removed > 0 || logs.repeated > 0) {
      const counts = `${logs.removed} removed, ${logs.unplaced} without a place and ${logs.repeated} repeated`
      return wrong(`of the logs of blocks ${from} to ${to} ${counts} ones came`)
    }
    const { parts, strays } = splitByBlock(logs, numbersOf(interval))
    if (strays > 0) return wrong(`${strays} logs came that are not of blocks ${from} to ${to}`)
    return { logs, parts: parts.map(part => ({ logs: part, logCount: part.length })) }
  }
  const parts: BlockLogs[] = []
  for (const [index, block] of blocks.entries()) {
    const list = receipts?.[index]
    if (!Array.isArray(list)) return wrong(`the node has no logs or receipts for blocks ${from} to ${to}`)
    const read = areRawReceipts(chain, list)
      ? rawLogs(chain, block, list, listed)
      : jsonLogs(chain, block, list as RpcReceipt[])
    if ('failure' in read) return read
    parts.push(read)
  }
  return { logs: joinLogs(parts.map(part => part.logs)), parts }
}

/** The logs of one block to decode, and how many it has. Receipts in bytes name `parties` of the others. */
type BlockLogs = Pick<BlockReceipts, 'logs' | 'logCount'> & Partial<BlockReceipts>

function rawLogs(
  chain: Chain,
  block: RpcBlock,
  receipts: readonly string[],
  listed: ReadonlySet<number> | undefined,
): BlockLogs | { failure: Failure } {
  const failed = checkTransactionList(chain, block, Number(block.number))
  return failed === undefined ? readRawReceipts(block, receipts, listed) : { failure: failed }
}

function jsonLogs(chain: Chain, block: RpcBlock, receipts: readonly RpcReceipt[]): BlockLogs | { failure: Failure } {
  const failed = checkReceipts(chain, block, receipts)
  if (failed !== undefined) return { failure: failed }
  const placed = receiptLogs(chain, block, receipts)
  return 'failure' in placed ? placed : { logs: placed.logs, logCount: placed.logs.length }
}

function verify(
  chain: Chain,
  block: RpcBlock,
  { logs }: BlockLogs,
  answers: RangeAnswers,
  index: number,
): ReturnType<typeof verifyLogs> {
  const receipts = answers.receipts?.[index]
  if (receipts === undefined || receipts === null) return verifyLogs({ chain, block, logs })
  // The root was compared before the bytes were read.
  if (areRawReceipts(chain, receipts)) return { ok: true, evidence: 'receipts-root' }
  const verdict = verifyReceipts({ chain, block, receipts: receipts as readonly RpcReceipt[], logs })
  const lack = answers.lacks?.[index]
  if (verdict.ok || lack === undefined) return verdict
  const byBloom = verifyLogs({ chain, block, logs })
  return byBloom.ok ? { ...byBloom, doubt: { reason: lack, elsewhere: true } } : byBloom
}

/** Of these transactions, or of all. */
function checkSenders(
  blocks: readonly RpcBlock[],
  transactions: ReadonlySet<RpcTransaction> | undefined,
): Failure | undefined {
  for (const block of blocks) {
    for (const [index, transaction] of (block.transactions as readonly RpcTransaction[]).entries()) {
      const wrong = transactions?.has(transaction) === false ? undefined : checkSender(transaction)
      if (wrong === undefined) continue
      const number = Number(block.number)
      return failure('sender', number, `transaction ${index} of block ${number}: ${wrong}`)
    }
  }
  return undefined
}

function refusal(check: Failure['check'], block: number, message: string): RangeResult {
  return { ok: false, failure: { check, block, message } }
}
