// Parses, checks and decodes the answers for a run of whole blocks: everything slow between the network and the store.
// Pure, so that any thread can do it: bytes in, rows or the reason of a refusal out.
import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { quantityHex } from '../../hex.ts'
import type { Evidence, Interval } from '../../model.ts'
import { readAnswers, UnreadableAnswer } from '../../rpc/answers.ts'
import { joinActivity } from '../../store/packed-activity.ts'
import { collectActivity } from '../decode/activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { type LogSequence, sequenceLogs, splitByBlock } from '../decode/log-sequence.ts'
import { earlyCollectionsOf } from '../decode/token-events.ts'
import { type CheckResult, checkHeaders, type Failure, verifyLogs, verifyReceipts } from '../proof/verify.ts'
import type { RpcBlock, RpcCall, RpcHeader, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import { type ActivityGrain, type DecodedRange, headerOf, numbersOf } from './chain-source.ts'
import { unlisted } from './read-facts.ts'

export type RangeRequest = { interval: Interval; grain: ActivityGrain; withReceipts: boolean }

export type RangeTask = {
  /** With the quirks that the probe found. */
  chain: Chain
  request: RangeRequest
  /** As they came, without a JSON-RPC error in them. */
  bodies: readonly Uint8Array[]
}

export type RangeResult = { ok: true; range: DecodedRange } | { ok: false; failure: Failure }

export function decodeRangeBodies({ chain, request, bodies }: RangeTask): RangeResult {
  const { interval, grain } = request
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  try {
    const read = readAnswers(bodies, callCount(request))
    if ('refusal' in read) return refusal('unreadable', interval.from, `it answered: ${read.refusal.text}`)
    return decodeRange({ chain, interval, answers: answersOf(read.values, request), grain, bytes })
  } catch (error) {
    if (error instanceof UnreadableAnswer) return refusal('unreadable', interval.from, `it answered ${error.message}`)
    throw error
  }
}

export function callsOf({ interval, grain, withReceipts }: RangeRequest): RpcCall[] {
  const { from, to } = interval
  const blocks = numbersOf(interval).map(quantityHex)
  const calls: RpcCall[] = blocks.map(block => ({ method: 'eth_getBlockByNumber', params: [block, true] }))
  if (grain === 'range') calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(to + 1), false] })
  if (withReceipts) for (const block of blocks) calls.push({ method: 'eth_getBlockReceipts', params: [block] })
  else calls.push({ method: 'eth_getLogs', params: [{ fromBlock: quantityHex(from), toBlock: quantityHex(to) }] })
  return calls
}

function callCount({ interval: { from, to }, grain, withReceipts }: RangeRequest): number {
  const blocks = to - from + 1
  return blocks + (grain === 'range' ? 1 : 0) + (withReceipts ? blocks : 1)
}

/** The answers of one endpoint for a run of blocks: either all their logs, or the receipts of each block. */
type RangeAnswers = {
  blocks: readonly (RpcBlock | null)[]
  /** The block after the last one, which must name it as its parent; absent at the head of the chain. */
  next?: RpcHeader | null
  logs?: readonly RpcLog[] | null
  receipts?: readonly (readonly RpcReceipt[] | null)[]
}

/** `values` in the order of the calls. */
function answersOf(values: readonly unknown[], { interval, grain, withReceipts }: RangeRequest): RangeAnswers {
  const count = interval.to - interval.from + 1
  const blocks = values.slice(0, count) as (RpcBlock | null)[]
  const rest = grain === 'range' ? count + 1 : count
  const next = grain === 'range' ? { next: values[count] as RpcHeader | null } : {}
  if (!withReceipts) return { blocks, ...next, logs: values[rest] as RpcLog[] | null }
  return { blocks, ...next, receipts: values.slice(rest) as (RpcReceipt[] | null)[] }
}

export function decodeRange({
  chain,
  interval,
  answers,
  grain,
  bytes,
}: {
  chain: Chain
  interval: Interval
  answers: RangeAnswers
  grain: ActivityGrain
  bytes: number
}): RangeResult {
  const { from, to } = interval
  const failed = checkHeaders({ chain, from, to, headers: answers.blocks }) ?? checkNext(answers, to)
  if (failed !== undefined) return { ok: false, failure: failed }
  const blocks = answers.blocks as readonly RpcBlock[]
  const given = answers.logs ?? logsOfReceipts(answers.receipts)
  if (given === undefined)
    return refusal('receipts', to, `the node has no logs or receipts for blocks ${from} to ${to}`)
  const logs = sequenceLogs(given, { complete: true })
  const { parts, strays } = splitByBlock(logs, numbersOf(interval))
  if (strays > 0) return refusal('log-place', from, `${strays} logs came that are not of blocks ${from} to ${to}`)
  let evidence: Evidence = 'receipts-root'
  for (const [index, block] of blocks.entries()) {
    const verdict = verify(chain, block, parts[index] as LogSequence, answers.receipts?.[index])
    if (!verdict.ok) return verdict
    evidence = weakestOf(evidence, verdict.evidence)
  }
  const earlyCollections = earlyCollectionsOf(chain.id)
  const transactionOf = (block: number, index: number): RpcTransaction | undefined =>
    blocks[block - from]?.transactions[index] as RpcTransaction | undefined
  // A log after the listed transactions belongs to a state-sync transaction, which moves no value.
  const { rows, malformed } = decodeTransfers({
    logs,
    earlyCollections,
    transactionOf: (_, block, index) => transactionOf(block, index) ?? unlisted,
  })
  const activityOf = (some: readonly RpcBlock[], their: LogSequence) =>
    collectActivity({ blocks: some, logs: their, earlyCollections }).packed
  const activity =
    grain === 'range'
      ? activityOf(blocks, logs)
      : joinActivity(blocks.map((block, index) => activityOf([block], parts[index] as LogSequence)))
  const found = { headers: blocks.map(headerOf), transfers: rows, activity, logs: logs.length, malformed }
  return { ok: true, range: { interval, evidence, ...found, bytes } }
}

function verify(
  chain: Chain,
  block: RpcBlock,
  logs: LogSequence,
  receipts: readonly RpcReceipt[] | null | undefined,
): CheckResult {
  if (receipts === undefined || receipts === null) return verifyLogs({ chain, block, logs })
  return verifyReceipts({ chain, block, receipts, logs })
}

function checkNext({ blocks, next }: RangeAnswers, to: number): Failure | undefined {
  if (next === undefined) return undefined
  const last = blocks.at(-1)?.hash
  if (next?.parentHash === last) return undefined
  const came = next === null ? 'the node does not have it' : `names ${next.parentHash} as its parent`
  return { check: 'links', block: to + 1, message: `block ${to + 1} should follow ${last}; ${came}` }
}

function logsOfReceipts(receipts: RangeAnswers['receipts']): RpcLog[] | undefined {
  if (receipts?.every(Array.isArray) !== true) return undefined
  return receipts.flatMap(list => (list ?? []).flatMap(receipt => receipt?.logs ?? []))
}

function refusal(check: Failure['check'], block: number, message: string): RangeResult {
  return { ok: false, failure: { check, block, message } }
}
