// Checks and decodes the answers for a run of whole blocks. Pure, so that it can run in any thread: raw answers in, rows or the
// reason of a refusal out.
import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import { quantityHex } from '../../hex.ts'
import type { Evidence, Interval } from '../../model.ts'
import { joinActivity } from '../../store/packed-activity.ts'
import { collectActivity } from '../decode/activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { type LogSequence, sequenceLogs, splitByBlock } from '../decode/log-sequence.ts'
import { earlyCollectionsOf } from '../decode/token-events.ts'
import { checkHeaders, type Failure, type Verdict, verifyLogs, verifyReceipts } from '../proof/verify.ts'
import { readAnswers, UnreadableAnswer } from '../rpc/answers.ts'
import type { RpcBlock, RpcCall, RpcHeader, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/port.ts'
import type { ActivityGrain, DecodedRange } from './chain-source.ts'
import { headerOf } from './chain-source.ts'
import { unlisted } from './read-facts.ts'

/** The answers of one endpoint for blocks `from` to `to`: either all their logs, or the receipts of each block. */
export type FullAnswers = {
  blocks: readonly (RpcBlock | null)[]
  /** The block behind the last one, which must name it as its parent; absent at the head of the chain. */
  next?: RpcHeader | null
  logs?: readonly RpcLog[] | null
  receipts?: readonly (readonly RpcReceipt[] | null)[]
}

export type RangeInput = {
  chain: Chain
  interval: Interval
  answers: FullAnswers
  grain: ActivityGrain
  bytes: number
}

export type RangeResult = { ok: true; range: DecodedRange } | { ok: false; failure: Failure }

export function decodeRange({ chain, interval, answers, grain, bytes }: RangeInput): RangeResult {
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
  const early = earlyCollectionsOf(chain.id)
  const transactionOf = (block: number, index: number): RpcTransaction | undefined =>
    blocks[block - from]?.transactions[index] as RpcTransaction | undefined
  // A log behind the listed transactions is of a state-sync one, which moves no value.
  const { rows, malformed } = decodeTransfers({
    logs,
    earlyCollections: early,
    transactionOf: (_, block, index) => transactionOf(block, index) ?? unlisted,
  })
  const activity =
    grain === 'range'
      ? collectActivity({ blocks, logs, earlyCollections: early }).packed
      : joinActivity(
          blocks.map((block, index) => {
            const part = parts[index] as LogSequence
            return collectActivity({ blocks: [block], logs: part, earlyCollections: early }).packed
          }),
        )
  return {
    ok: true,
    range: {
      interval,
      evidence,
      headers: blocks.map(headerOf),
      transfers: rows,
      activity,
      bytes,
      logs: logs.length,
      malformed,
    },
  }
}

function verify(
  chain: Chain,
  block: RpcBlock,
  logs: LogSequence,
  receipts: readonly RpcReceipt[] | null | undefined,
): Verdict {
  if (receipts === undefined || receipts === null) return verifyLogs({ chain, block, logs })
  return verifyReceipts({ chain, block, receipts, logs })
}

function checkNext({ blocks, next }: FullAnswers, to: number): Failure | undefined {
  if (next === undefined) return undefined
  const last = blocks.at(-1)?.hash
  if (next?.parentHash === last) return undefined
  const came = next === null ? 'the node does not have it' : `names ${next.parentHash} as its parent`
  return { check: 'links', block: to + 1, message: `block ${to + 1} should follow ${last}; ${came}` }
}

function logsOfReceipts(receipts: FullAnswers['receipts']): RpcLog[] | undefined {
  if (receipts?.every(Array.isArray) !== true) return undefined
  return receipts.flatMap(list => (list ?? []).flatMap(receipt => receipt?.logs ?? []))
}

function numbersOf({ from, to }: Interval): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function refusal(check: Failure['check'], block: number, message: string): RangeResult {
  return { ok: false, failure: { check, block, message } }
}

// From the bytes of an endpoint's answers to checked and decoded blocks: everything between the network and the store that takes
// time, in one pure step that any thread can take.

export type RangeTask = {
  /** With the quirks that were found. */
  chain: Chain
  request: FullRequest
  /** As they came, without a JSON-RPC error in them. */
  bodies: readonly Uint8Array[]
}

export function decodeRangeBodies({ chain, request, bodies }: RangeTask): RangeResult {
  const { interval, grain } = request
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
  const refuse = (message: string): RangeResult => ({
    ok: false,
    failure: { check: 'unreadable', block: interval.from, message },
  })
  try {
    const read = readAnswers(bodies, callCount(request))
    if ('refusal' in read) return refuse(`it answered: ${read.refusal.text}`)
    return decodeRange({ chain, interval, answers: answersOf(read.values, request), grain, bytes })
  } catch (error) {
    if (error instanceof UnreadableAnswer) return refuse(`it answered ${error.message}`)
    throw error
  }
}

// What is asked for a run of whole blocks, and where each part of the answer stands. Pure, and used on both sides of a thread.

export type FullRequest = { interval: Interval; grain: ActivityGrain; withReceipts: boolean }

export function callsOf({ interval: { from, to }, grain, withReceipts }: FullRequest): RpcCall[] {
  const calls: RpcCall[] = []
  for (let number = from; number <= to; number++) {
    calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(number), true] })
  }
  if (grain === 'range') calls.push({ method: 'eth_getBlockByNumber', params: [quantityHex(to + 1), false] })
  if (!withReceipts)
    calls.push({ method: 'eth_getLogs', params: [{ fromBlock: quantityHex(from), toBlock: quantityHex(to) }] })
  else
    for (let number = from; number <= to; number++)
      calls.push({ method: 'eth_getBlockReceipts', params: [quantityHex(number)] })
  return calls
}

export function callCount({ interval: { from, to }, grain, withReceipts }: FullRequest): number {
  const blocks = to - from + 1
  return blocks + (grain === 'range' ? 1 : 0) + (withReceipts ? blocks : 1)
}

/** `values` in the order of the calls. */
export function answersOf(values: readonly unknown[], { interval, grain, withReceipts }: FullRequest): FullAnswers {
  const count = interval.to - interval.from + 1
  const blocks = values.slice(0, count) as (RpcBlock | null)[]
  const rest = grain === 'range' ? count + 1 : count
  const next = grain === 'range' ? { next: values[count] as RpcHeader | null } : {}
  if (!withReceipts) return { blocks, ...next, logs: values[rest] as RpcLog[] | null }
  return { blocks, ...next, receipts: values.slice(rest) as (RpcReceipt[] | null)[] }
}
