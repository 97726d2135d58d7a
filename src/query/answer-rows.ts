// The rows of an answered page: stored rows, with ERC-2309 ranges spread out only as far as the page reaches.
import type { Position } from '../model.ts'
import type { TransferPage } from '../store/index-reader.ts'
import { idCountOf, layOut, newLayout, payloadFlags } from '../store/transfer-payload.ts'
import type { PageCursor } from './cursor.ts'

/** Consecutive answered rows of one stored row: token ids `firstId`, `firstId + step`, … beyond its own. */
export type RowRun = { row: number; payloadAt: number; firstId: number; count: number; step: 1 | -1 }

export type AnswerRows = {
  stored: TransferPage
  /** How many rows are answered. */
  length: number
  /** Undefined in the common case: no ranges, each of the first `length` stored rows is one answered row. */
  runs: readonly RowRun[] | undefined
  /** Whether more rows follow. */
  more: boolean
  /** The position of the last answered row; undefined on an empty page. */
  last: Position | undefined
  /** Whether the last row lies within a range that continues after the page. */
  withinRange: boolean
}

export type RowsQuery = {
  order: 'asc' | 'desc'
  limit: number
  /** As in the store's query; within a range `batchIndex` says how far the range was answered. */
  after: Position | undefined
}

/** `stored` holds one row more than `limit` where there are that many. */
export function answerRows(stored: TransferPage, wanted: RowsQuery): AnswerRows {
  if (hasRanges(stored)) return spreadRanges(stored, wanted)
  const length = Math.min(stored.length, wanted.limit)
  return {
    stored,
    length,
    runs: undefined,
    more: stored.length > length,
    last: length === 0 ? undefined : positionOf(stored, length - 1),
    withinRange: false,
  }
}

export function positionOf(page: TransferPage, row: number): Position {
  return {
    block: page.blocks[row]!,
    transactionIndex: page.transactionIndexes[row]!,
    logIndex: page.logIndexes[row]!,
    batchIndex: page.batchIndexes[row]!,
  }
}

export function isSameLog(a: Position, b: Position): boolean {
  return a.block === b.block && a.transactionIndex === b.transactionIndex && a.logIndex === b.logIndex
}

const layout = newLayout()

function hasRanges({ length, payloads }: TransferPage): boolean {
  for (let row = 0, at = 0; row < length; row++, at = layout.end) {
    layOut(payloads, at, layout)
    if (layout.flags & payloadFlags.range) return true
  }
  return false
}

function spreadRanges(stored: TransferPage, { order, limit, after }: RowsQuery): AnswerRows {
  const runs: RowRun[] = []
  let length = 0
  let more = false
  let last: Position | undefined
  let withinRange = false
  for (let row = 0, at = 0; row < stored.length && !more; row++) {
    layOut(stored.payloads, at, layout)
    const payload = stored.payloads.subarray(at, layout.end)
    const position = positionOf(stored, row)
    const idCount = idCountOf(payload)
    // How far into this row the cursor is, if it is: ids count from the lowest of a range.
    const passed =
      after !== undefined && isSameLog(after, position) ? after.batchIndex - position.batchIndex : undefined
    const firstId = order === 'asc' ? Math.max(0, (passed ?? -1) + 1) : Math.min(idCount, passed ?? idCount) - 1
    const available = order === 'asc' ? idCount - firstId : firstId + 1
    const count = Math.min(available, limit - length)
    if (count > 0) {
      const step = order === 'asc' ? 1 : -1
      runs.push({ row, payloadAt: at, firstId, count, step })
      length += count
      last = { ...position, batchIndex: position.batchIndex + firstId + (count - 1) * step }
      withinRange = count < available
    }
    more = available > count
    at += payload.length
  }
  return { stored, length, runs, more, last, withinRange }
}

/** A final row stays as it is; any other may be replaced by a range that starts at its place and goes on beyond it. */
export function nextCursor(
  question: PageCursor,
  { more, last, withinRange, stoppedAt }: AnswerRows & { stoppedAt?: Position | undefined },
  finalized = -1,
): PageCursor | undefined {
  const page = question.page + 1
  if (more && last !== undefined)
    return { ...question, page, after: last, mayContinue: withinRange || last.block > finalized }
  return stoppedAt && { ...question, page, after: stoppedAt, mayContinue: false }
}
