// The rules of the NFT transfers operation: bounds, completeness, pages, totals. No HTTP and no JSON.

import { LRUCache } from 'lru-cache'
import { type ShownFacts, shownFacts } from '../annotate/shown-facts.ts'
import { atMost } from '../at-most.ts'
import { isCovered, weakestEvidence } from '../coverage.ts'
import type { Address, ChainId, CoveredInterval, Evidence, Interval, Position } from '../model.ts'
import type { PageCursor } from '../store/cursor.ts'
import type { TransferPage } from '../store/index-reader.ts'
import type { ChainState, Store, TransferRange } from '../store/store.ts'
import { idCountOf, layOut, newLayout } from '../store/transfer-payload.ts'
import { type AnswerRows, answerRows, isSameLog, positionOf } from './answer-rows.ts'
import { type BlockBounds, resolveBounds } from './block-bounds.ts'
import type { PageLabels } from './find-labels.ts'
import type { Freshen, IndexingKey } from './freshen.ts'
import type { KnownLabels } from './known-labels.ts'
import { claimStands, OneBranch, readStanding } from './one-branch.ts'
import { boundToBranch, type WholeTransfers, wholePages } from './whole-transfers.ts'

/** From the parameters of a first page, or from a cursor. */
export type TransfersQuestion = PageCursor & { contract: Address }

export type TransfersAnswer = {
  question: TransfersQuestion
  rows: AnswerRows
  /** Undefined when it was not asked for. */
  total: number | undefined
  /** Undefined on the last page. */
  next: PageCursor | undefined
  blockExists: boolean
  indexComplete: boolean
  /** The weakest evidence of a complete answer; undefined where no block is claimed. */
  evidence: Evidence | undefined
  facts: ShownFacts | undefined
  /** Undefined where no address of the page has a label. */
  labels: PageLabels | undefined
}

export type TransfersOptions = { key: IndexingKey; freshen: Freshen | undefined; freshenWaitMs: number }

type Look = Pick<PageVerdict, 'complete' | 'evidence'> & { view: ContractView; bounds: BlockBounds }

/** A page of the whole list. */
export type TransfersPage = Pick<TransfersAnswer, 'rows' | 'facts' | 'labels'>

/** What holds for every page of a contract. */
type ContractView = {
  /** From before the view was read, so that a commit in between voids it. */
  revision: number
  state: ChainState | undefined
  coverage: readonly CoveredInterval[]
  facts: ShownFacts | undefined
  /** For the claim of the last request, which is usually that of the next one too. */
  verdict: PageVerdict | undefined
}

type PageVerdict = { claim: Interval; complete: boolean; evidence: Evidence | undefined }

const viewsMax = 10_000

export class NftTransfers {
  readonly #store: Store
  readonly #revision: () => number
  readonly #labels: KnownLabels
  readonly #views = new LRUCache<string, ContractView>(atMost(viewsMax))

  /** `revision` replaces the store's where concurrent requests share one look. */
  constructor(store: Store, labels: KnownLabels, revision = () => store.revision()) {
    this.#store = store
    this.#revision = revision
    this.#labels = labels
  }

  async answer(question: TransfersQuestion, options: TransfersOptions): Promise<TransfersAnswer> {
    const { look, rows, isComplete } = await readStanding(await this.#freshLook(question, options), {
      read: ({ bounds }) => this.#rows(question, rangeOf(question, bounds)),
      stands: ({ view, bounds }) => this.#stands(question, view, bounds),
      lookAgain: () => this.#look(question),
    })
    const { view, bounds, evidence } = look
    const range = rangeOf(question, bounds)
    return {
      question,
      rows,
      total: question.countTotal ? await this.#total(question, range, rows) : undefined,
      next: nextCursor(question, rows, view.state?.finalized),
      blockExists: bounds.exist,
      indexComplete: isComplete,
      evidence: isComplete ? evidence : undefined,
      facts: view.facts,
      labels: await this.#labels.ofPage(question.chain, rows.stored),
    }
  }

  /** All pages from the first one on, as of the head. `limit` says how many rows each has. */
  async whole(question: TransfersQuestion, options: TransfersOptions): Promise<WholeTransfers<TransfersPage>> {
    const { chain } = question
    // What an indexer brings comes first, and then what must stay.
    await this.#freshLook(question, options)
    const branch = await OneBranch.now(this.#store, chain)
    const { view, bounds: asked } = await this.#look(question)
    const { block, bounds, isStored } = boundToBranch(asked, branch)
    const { complete, evidence } = judge(view, bounds)
    const range = rangeOf(question, bounds)
    const read = async (cursor: PageCursor) => {
      const rows = await this.#rows({ ...question, ...cursor }, range)
      const labels = await this.#labels.ofPage(chain, rows.stored)
      return { page: { rows, facts: view.facts, labels }, next: nextCursor(cursor, rows, view.state?.finalized) }
    }
    const pages = wholePages<TransfersPage>(question, read, () => branch.check(bounds.toBlock!))
    return { block, complete: complete && isStored, evidence: isStored ? evidence : undefined, pages }
  }

  async #freshLook(question: TransfersQuestion, { freshen, freshenWaitMs, key }: TransfersOptions): Promise<Look> {
    freshen?.asked?.(question.chain, question.contract)
    const look = await this.#look(question)
    if (look.complete || freshen?.contract === undefined) return look
    await freshen.contract(question.chain, question.contract, freshenWaitMs, key)
    return await this.#look(question)
  }

  /** Coverage is read before rows: a commit in between adds rows that are not claimed, unless the head goes back. */
  async #look(question: TransfersQuestion): Promise<Look> {
    const view = await this.#view(question)
    const bounds = await resolveBounds(this.#store, question.chain, view.state, question)
    const { complete, evidence } = judge(view, bounds)
    return { view, bounds, complete, evidence }
  }

  async #stands({ chain, contract }: TransfersQuestion, { state }: ContractView, bounds: BlockBounds) {
    const stands = await claimStands(this.#store, chain, state, bounds.claim)
    // It may be kept: a process hears late of what another one commits.
    if (!stands) this.#views.delete(viewKey(chain, contract))
    return stands
  }

  async #view({ chain, contract }: TransfersQuestion): Promise<ContractView> {
    const revision = this.#revision()
    const key = viewKey(chain, contract)
    const known = this.#views.get(key)
    if (known?.revision === revision) return known
    const [state, coverage, facts, marks] = await Promise.all([
      this.#store.chainState(chain),
      this.#store.contractCoverage(chain, contract),
      this.#store.contractFacts(chain, contract),
      this.#store.marksOf(chain, contract),
    ])
    const view = { revision, state, coverage, facts: shownFacts(facts, marks), verdict: undefined }
    this.#views.set(key, view)
    return view
  }

  async #rows(question: TransfersQuestion, range: TransferRange): Promise<AnswerRows> {
    const { order, limit, after, mayContinue } = question
    // One row more than the page holds shows whether there is a next one.
    const query = { ...range, order, limit: limit + 1 }
    if (after === undefined) return answerRows(await this.#store.transferPage(query), question)
    if (mayContinue && order === 'asc') {
      // A range is stored at its first id, which the run has passed.
      const page = await this.#store.transferPage({ ...query, after: { ...after, batchIndex: -1 } })
      if (startsWithinRange(page, after)) return answerRows(page, question)
    }
    return answerRows(await this.#store.transferPage({ ...query, after }), question)
  }

  /**
   * The last page's total is what the run has shown, so that a client which compares total with page and page size sees
   * the end even if rows arrived meanwhile.
   */
  async #total({ page, limit }: TransfersQuestion, range: TransferRange, rows: AnswerRows): Promise<number> {
    return rows.more ? await this.#store.transferCount(range) : page * limit + rows.length
  }
}

function viewKey(chain: ChainId, contract: Address): string {
  return `${chain} ${contract}`
}

function judge(view: ContractView, { claim }: BlockBounds): PageVerdict {
  if (claim === undefined) return { claim: { from: 0, to: -1 }, complete: false, evidence: undefined }
  const known = view.verdict
  if (known !== undefined && known.claim.from === claim.from && known.claim.to === claim.to) return known
  const complete = isCovered(view.coverage, claim)
  view.verdict = { claim, complete, evidence: complete ? weakestEvidence(view.coverage, claim) : undefined }
  return view.verdict
}

function rangeOf({ chain, contract }: TransfersQuestion, { fromBlock, toBlock }: BlockBounds): TransferRange {
  return {
    chain,
    contract,
    ...(fromBlock === undefined ? {} : { fromBlock }),
    ...(toBlock === undefined ? {} : { toBlock }),
  }
}

/** A final row stays as it is; any other may be replaced by a range that starts at its place and goes on beyond it. */
function nextCursor(
  question: PageCursor,
  { more, last, withinRange }: AnswerRows,
  finalized = -1,
): PageCursor | undefined {
  if (!more || last === undefined) return undefined
  return { ...question, page: question.page + 1, after: last, mayContinue: withinRange || last.block > finalized }
}

/** False when a reorganisation has put something else where the range was. */
function startsWithinRange(page: TransferPage, after: Position): boolean {
  if (page.length === 0 || !isSameLog(positionOf(page, 0), after)) return false
  const layout = newLayout()
  layOut(page.payloads, 0, layout)
  return idCountOf(page.payloads.subarray(0, layout.end)) > after.batchIndex + 1
}
