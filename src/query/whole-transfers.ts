// A list of transfers as a whole: the pages that a client would get by following cursors, up to a block that stays.

import type { AnswerRows } from './answer-rows.ts'
import type { BlockBounds } from './block-bounds.ts'
import type { PageCursor } from './cursor.ts'
import type { Completeness } from './holdings/questions.ts'
import type { OneBranch } from './one-branch.ts'

export type WholeTransfers<Page> = Completeness & {
  /** Each is read when it is asked for. Fails with `stream_cut` where they are not of one branch. */
  pages: AsyncIterable<Page>
}

export type BoundTransfers = {
  /** Rows are of blocks up to this one. */
  block: number
  bounds: BlockBounds
  /** False where blocks up to the head had no rows yet when the list was begun. */
  isStored: boolean
}

/** Bounds that stay while the head moves on. */
export function boundToBranch(bounds: BlockBounds, { head, storedTo }: OneBranch): BoundTransfers {
  const block = Math.max(0, Math.min(bounds.toBlock ?? head, head))
  const claim = bounds.claim && { from: bounds.claim.from, to: Math.min(bounds.claim.to, head) }
  const toBlock = Math.min(bounds.toBlock ?? storedTo, storedTo)
  return { block, bounds: { ...bounds, toBlock, claim }, isStored: claim === undefined || claim.to <= storedTo }
}

type PageRead<Page> = { page: Page; next: PageCursor | undefined }

export async function* wholePages<Page extends { rows: AnswerRows }>(
  first: PageCursor,
  read: (question: PageCursor) => Promise<PageRead<Page>>,
  check: () => Promise<void>,
): AsyncGenerator<Page> {
  for (let question: PageCursor | undefined = first; question !== undefined; ) {
    const { page, next }: PageRead<Page> = await read(question)
    if (page.rows.length > 0) yield page
    question = next
  }
  await check()
}
