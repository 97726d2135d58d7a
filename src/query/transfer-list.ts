// Answers a list of transfers: one page, or the whole as the pages that a client would get by following cursors, up to
// a block that stays. Which rows there are, and what may be claimed of them, is for the list to say.
import type { ChainId, Evidence, Interval } from '../model.ts'
import type { IndexName } from '../store/runs/view.ts'
import { type AnswerRows, nextCursor } from './answer-rows.ts'
import type { BlockBounds } from './block-bounds.ts'
import { type Claims, type ClaimViews, claimedIf, type Look, type Verdict } from './claims.ts'
import type { PageCursor } from './cursor.ts'
import type { Completeness } from './holdings/questions.ts'
import { type BranchStore, OneBranch } from './one-branch.ts'

export type TransferList<Page extends { rows: AnswerRows }> = {
  chain: ChainId
  /** The one that rows are found in, if they are found in one. */
  index?: IndexName
  /** Whether an indexer may bring what is missing, for which the first look waits. */
  waits: boolean
  look: () => Promise<Look>
  firstLook: () => Promise<Look>
  claim: (views: ClaimViews, blocks: Interval | undefined) => Verdict
  page: (cursor: PageCursor, bounds: BlockBounds) => Promise<Page>
  /** Undefined where it is beyond what one request counts. */
  total: (bounds: BlockBounds, rows: Page['rows']) => Promise<number | undefined>
}

export type PageAnswer<Question, Page> = Page & {
  question: Question
  /** Undefined when it was not asked for, or is beyond what one request counts. */
  total: number | undefined
  /** Undefined on the last page. */
  next: PageCursor | undefined
  blockExists: boolean
  complete: boolean
  /** The weakest evidence of a complete answer; undefined where no block is claimed. */
  evidence: Evidence | undefined
}

export async function pageOf<Question extends PageCursor, Page extends { rows: AnswerRows }>(
  claims: Claims,
  question: Question,
  list: TransferList<Page>,
): Promise<PageAnswer<Question, Page>> {
  const { views, bounds, rows, complete, evidence } = await claims.readStanding(list.chain, await list.firstLook(), {
    read: look => list.page(question, look.bounds),
    lookAgain: list.look,
  })
  return {
    ...rows,
    ...{ question, blockExists: bounds.exist, complete, evidence },
    total: question.countTotal ? await list.total(bounds, rows.rows) : undefined,
    next: nextCursor(question, rows.rows, views.chain.state?.finalized),
  }
}

export type WholeTransfers<Page> = Completeness & {
  /** Each is read when it is asked for. Fails with `stream_cut` where they are not of one branch. */
  pages: AsyncIterable<Page>
}

/** All pages from the first one on, as of the head. `limit` says how many rows each has. */
export async function wholeOf<Page extends { rows: AnswerRows }>(
  store: BranchStore,
  first: PageCursor,
  list: TransferList<Page>,
): Promise<WholeTransfers<Page>> {
  // What an indexer brings comes first, and then what must stay.
  if (list.waits) await list.firstLook()
  const branch = await OneBranch.now(store, list.chain)
  const { views, bounds: asked } = await list.look()
  const { block, bounds, isStored } = boundToBranch(asked, branch)
  const isWhole = isStored && (list.index === undefined || branch.isFilled(list.index))
  const read = async function* (): AsyncGenerator<Page> {
    for (let cursor: PageCursor | undefined = first; cursor !== undefined; ) {
      const page = await list.page(cursor, bounds)
      if (page.rows.length > 0) yield page
      cursor = nextCursor(cursor, page.rows, views.chain.state?.finalized)
    }
    await branch.check(bounds.toBlock, list.index)
  }
  return { block, ...claimedIf(isWhole, list.claim(views, bounds.claim)), pages: read() }
}

/**
 * Bounds that stay while the head moves on. `block`: rows are of blocks up to this one. `isStored`: false where blocks
 * up to the head had no rows yet when the list was begun.
 */
function boundToBranch(bounds: BlockBounds, { head, storedTo }: OneBranch) {
  const block = Math.max(0, Math.min(bounds.toBlock ?? head, head))
  const claim = bounds.claim && { from: bounds.claim.from, to: Math.min(bounds.claim.to, head) }
  const toBlock = Math.min(bounds.toBlock ?? storedTo, storedTo)
  return { block, bounds: { ...bounds, toBlock, claim }, isStored: claim === undefined || claim.to <= storedTo }
}
