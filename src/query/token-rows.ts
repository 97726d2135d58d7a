// The transfers of one token: its own, and the ERC-2309 ranges that cover it as one row each. No completeness here.
import { comparePositions, type Position } from '../model.ts'
import type { IndexReader } from '../store/index-reader.ts'
import { idCountOf, layOut, newLayout } from '../store/transfer-payload.ts'
import { type AnswerRows, answerRows, positionOf, type RowRun } from './answer-rows.ts'
import type { PageCursor } from './cursor.ts'
import { coveringRanges, findPlaces, type Token, tokenTransfers, visitAll } from './index-places.ts'
import { type MixedRows, mixedRows } from './mixed-rows.ts'

/** A stored row, and the place of the token's row in answers: within a range it is its own. */
type TokenPlace = { stored: Position; shown: Position; offset: number }

export async function tokenRows(reader: IndexReader, token: Token, question: PageCursor): Promise<MixedRows> {
  const { order, limit, after } = question
  const { toBlock = Number.POSITIVE_INFINITY } = token
  const ranges = (await coveringRanges(reader, token)).filter(({ place }) => place.block <= toBlock)
  // One row more than the page holds shows whether there is a next one.
  const { places } = await findPlaces(reader, tokenTransfers(token), { order, after, limit: limit + 1 })
  const own = places.map((stored): TokenPlace => ({ stored, shown: stored, offset: 0 }))
  const ofRanges = ranges.map(({ place, offset }): TokenPlace => {
    return { stored: place, shown: { ...place, batchIndex: place.batchIndex + offset }, offset }
  })
  const isBeyond = ({ shown }: TokenPlace) => after === undefined || compare(shown, after, order) > 0
  const merged = [...own, ...ofRanges.filter(isBeyond)].sort((a, b) => compare(a.shown, b.shown, order))
  const wanted = merged.slice(0, limit + 1)
  const at = wanted.map(({ stored }) => ({ ...stored, contract: token.contract }))
  const page = await reader.transfersAt(token.chain, at)
  const rows = ranges.length === 0 ? answerRows(page, { order, limit, after }) : rowsOfRanges(page, wanted, limit)
  // Rows that went since their records were read leave a shorter page, not the last one.
  const more = rows.more || wanted.length > limit
  return mixedRows(page, { ...rows, more, last: rows.last ?? wanted.at(-1)?.shown })
}

/** Undefined where one request does not look at as many. */
export async function tokenTotal(reader: IndexReader, token: Token): Promise<number | undefined> {
  let count = 0
  const stoppedAt = await visitAll(reader, tokenTransfers(token), () => count++)
  return stoppedAt === undefined ? count + (await coveringRanges(reader, token)).length : undefined
}

const layout = newLayout()

/** `stored` may lack rows that went meanwhile, and is in the order of the places otherwise. */
function rowsOfRanges(stored: AnswerRows['stored'], places: readonly TokenPlace[], limit: number): AnswerRows {
  const runs: RowRun[] = []
  let last: Position | undefined
  let next = 0
  for (let row = 0, payloadAt = 0; row < stored.length && runs.length < limit; row++) {
    layOut(stored.payloads, payloadAt, layout)
    const position = positionOf(stored, row)
    while (comparePositions(places[next]!.stored, position) !== 0) next++
    const { offset, shown } = places[next]!
    if (offset < idCountOf(stored.payloads.subarray(payloadAt, layout.end))) {
      runs.push({ row, payloadAt, firstId: offset, count: 1, step: 1 })
      last = shown
    }
    payloadAt = layout.end
  }
  return { stored, length: runs.length, runs, more: stored.length > limit, last, withinRange: false }
}

function compare(a: Position, b: Position, order: 'asc' | 'desc'): number {
  return order === 'asc' ? comparePositions(a, b) : comparePositions(b, a)
}
