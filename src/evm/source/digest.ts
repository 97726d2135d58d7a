// Checks and decodes the answers for a run of whole blocks. Pure, so that it can run in any thread: raw answers in, rows or the
// reason of a refusal out.

import type { Chain } from '../../chains.ts'
import { weakestOf } from '../../coverage.ts'
import type { Evidence, Interval } from '../../model.ts'
import { joinActivity } from '../../store/packed-activity.ts'
import { collectActivity } from '../decode/activity.ts'
import { decodeTransfers } from '../decode/decode.ts'
import { earlyCollectionsOf } from '../decode/early-collections.ts'
import { type LogSequence, sequenceLogs, splitByBlock } from '../decode/log-sequence.ts'
import { checkHeaders, type Failure, type Verdict, verifyLogs, verifyReceipts } from '../proof/verify.ts'
import type { RpcBlock, RpcHeader, RpcLog, RpcReceipt, RpcTransaction } from '../rpc/types.ts'
import type { ActivityGrain, DecodedRange } from './chain-source.ts'
import { headerOf } from './header.ts'
import { unlisted } from './read-facts.ts'

/** The answers of one endpoint for blocks `from` to `to`: either all their logs, or the receipts of each block. */
export type FullAnswers = {
  blocks: readonly (RpcBlock | null)[]
  /** The block behind the last one, which must name it as its parent; absent at the head of the chain. */
  next?: RpcHeader | null
  logs?: readonly RpcLog[] | null
  receipts?: readonly (readonly RpcReceipt[] | null)[]
}

export type DigestInput = {
  chain: Chain
  interval: Interval
  answers: FullAnswers
  grain: ActivityGrain
  bytes: number
}

export type DigestResult = { ok: true; range: DecodedRange } | { ok: false; failure: Failure }

export function digestFull({ chain, interval, answers, grain, bytes }: DigestInput): DigestResult {
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

function refusal(check: Failure['check'], block: number, message: string): DigestResult {
  return { ok: false, failure: { check, block, message } }
}
