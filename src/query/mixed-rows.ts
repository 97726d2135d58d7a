// The rows of an answered page over several contracts, from the places that an index gives. No completeness here.
import type { Address, Position } from '../model.ts'
import type { IndexReader, MixedPage } from '../store/index-reader.ts'
import { emptyPage } from '../store/index-reader.ts'
import { idCountOf } from '../store/transfer-payload.ts'
import { type AnswerRows, answerRows, isSameLog } from './answer-rows.ts'
import type { PageCursor } from './cursor.ts'
import { findPlaces, fromLogOn, type Span } from './index-places.ts'

export type MixedRows = AnswerRows & {
  /** Of each stored row. */
  contracts: readonly Address[]
  /** Where the next page goes on although this one is not full: a bound ended the search for more rows. */
  stoppedAt?: Position | undefined
}

export const noRows: MixedRows = mixedRows({ ...emptyPage, contracts: [] }, answerRows(emptyPage, firstOfNone()))

function firstOfNone() {
  return { order: 'desc', limit: 0, after: undefined } as const
}

export function mixedRows({ contracts }: MixedPage, rows: AnswerRows): MixedRows {
  return { ...rows, contracts }
}

export async function spanRows(reader: IndexReader, span: Span, question: PageCursor): Promise<MixedRows> {
  const { chain, order, limit, after } = question
  const isWithin = await isWithinRange(reader, span, question)
  const { places, stoppedAt } = await findPlaces(reader, isWithin ? fromLogOn(span, after!) : span, {
    // One row more than the page holds shows whether there is a next one.
    ...{ order, after: isWithin ? undefined : after, limit: limit + 1 },
  })
  if (places.length === 0) return { ...noRows, stoppedAt }
  const page = await reader.transfersAt(chain, places)
  const rows = answerRows(page, { order, limit, after })
  // Rows that went since their records were read leave a shorter page, not the last one.
  const more = rows.more || places.length > limit
  return { ...mixedRows(page, { ...rows, more, last: rows.last ?? places.at(-1) }), stoppedAt }
}

/** A range is stored at its first id, which an ascending list has passed where a page ended within it. */
async function isWithinRange(reader: IndexReader, span: Span, question: PageCursor): Promise<boolean> {
  const { chain, order, after, mayContinue } = question
  if (!mayContinue || after === undefined || order === 'desc') return false
  const first = { order, after: undefined, limit: 1 } as const
  const { places } = await findPlaces(reader, fromLogOn(span, after), first)
  if (places.length === 0 || !isSameLog(places[0]!, after) || places[0]!.batchIndex !== 0) return false
  const { length, payloads } = await reader.transfersAt(chain, places)
  // False when a reorganisation has put something else where the range was.
  return length === 1 && idCountOf(payloads) > after.batchIndex + 1
}
