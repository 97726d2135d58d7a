// The rules of the transfers of one contract, of NFTs or of an ERC-20 token: bounds, completeness, pages, totals. The
// chain of a question is the ledger. No HTTP and no JSON.

import type { ShownFacts } from '../annotate/shown-facts.ts'
import type { ChainTable } from '../chains.ts'
import { ledgerOf } from '../ledgers.ts'
import type { Address, Evidence, Position } from '../model.ts'
import type { TransferPage } from '../store/index-reader.ts'
import type { Store, TransferRange } from '../store/store.ts'
import { idCountOf, layOut, newLayout } from '../store/transfer-payload.ts'
import { type AnswerRows, answerRows, isSameLog, nextCursor, positionOf } from './answer-rows.ts'
import { type BlockBounds, resolveBounds } from './block-bounds.ts'
import { Claims, claimedIf, freshLook, type Look, verdict } from './claims.ts'
import type { PageCursor } from './cursor.ts'
import type { PageLabels } from './find-labels.ts'
import type { FreshenOptions } from './freshen.ts'
import type { KnownLabels } from './known-labels.ts'
import { OneBranch } from './one-branch.ts'
import { ShownContracts } from './shown-contracts.ts'
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
  complete: boolean
  /** The weakest evidence of a complete answer; undefined where no block is claimed. */
  evidence: Evidence | undefined
  facts: ShownFacts | undefined
  /** Undefined where no address of the page has a label. */
  labels: PageLabels | undefined
}

/** A page of the whole list. */
export type TransfersPage = Pick<TransfersAnswer, 'rows' | 'facts' | 'labels'>

export type TransferReads = { claims: Claims; contracts: ShownContracts; labels: KnownLabels }

export function transferReads(store: Store, labels: KnownLabels, chains?: ChainTable): TransferReads {
  const revision = () => store.revision()
  return { claims: new Claims(store, revision, chains), contracts: new ShownContracts(store, revision), labels }
}

export class NftTransfers {
  readonly #store: Store
  readonly #reads: TransferReads

  constructor(store: Store, reads: TransferReads) {
    this.#store = store
    this.#reads = reads
  }

  async answer(question: TransfersQuestion, options: FreshenOptions): Promise<TransfersAnswer> {
    const { chain, contract } = question
    const { claims, contracts, labels } = this.#reads
    const { views, bounds, rows, complete, evidence } = await claims.readStanding(
      chain,
      await this.#freshLook(question, options),
      { read: look => this.#rows(question, rangeOf(question, look.bounds)), lookAgain: () => this.#look(question) },
    )
    const range = rangeOf(question, bounds)
    return {
      question,
      rows,
      total: question.countTotal ? await this.#total(question, range, rows) : undefined,
      next: nextCursor(question, rows, views.chain.state?.finalized),
      blockExists: bounds.exist,
      complete,
      evidence,
      facts: await contracts.ofOne(chain, contract),
      labels: await labels.ofPage(ledgerOf(chain).chain, rows.stored),
    }
  }

  /** All pages from the first one on, as of the head. `limit` says how many rows each has. */
  async whole(question: TransfersQuestion, options: FreshenOptions): Promise<WholeTransfers<TransfersPage>> {
    const { chain, contract } = question
    // What an indexer brings comes first, and then what must stay.
    await this.#freshLook(question, options)
    const branch = await OneBranch.now(this.#store, chain)
    const { views, bounds: asked } = await this.#look(question)
    const { block, bounds, isStored } = boundToBranch(asked, branch)
    const claim = claimedIf(isStored, verdict(views, bounds.claim))
    const range = rangeOf(question, bounds)
    const facts = await this.#reads.contracts.ofOne(chain, contract)
    const read = async (cursor: PageCursor) => {
      const rows = await this.#rows({ ...question, ...cursor }, range)
      const labels = await this.#reads.labels.ofPage(ledgerOf(chain).chain, rows.stored)
      return { page: { rows, facts, labels }, next: nextCursor(cursor, rows, views.chain.state?.finalized) }
    }
    const pages = wholePages<TransfersPage>(question, read, () => branch.check(bounds.toBlock!))
    return { block, ...claim, pages }
  }

  #freshLook(question: TransfersQuestion, options: FreshenOptions): Promise<Look> {
    return freshLook(
      () => this.#look(question),
      ({ complete }) => complete,
      question,
      options,
    )
  }

  async #look(question: TransfersQuestion): Promise<Look> {
    const { chain, contract } = question
    const views = await this.#reads.claims.views(chain, contract)
    const bounds = await resolveBounds(this.#store, chain, views.chain.state, question)
    return { views, bounds, ...verdict(views, bounds.claim) }
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

function rangeOf({ chain, contract }: TransfersQuestion, { fromBlock, toBlock }: BlockBounds): TransferRange {
  return {
    chain,
    contract,
    ...(fromBlock === undefined ? {} : { fromBlock }),
    ...(toBlock === undefined ? {} : { toBlock }),
  }
}

/** False when a reorganisation has put something else where the range was. */
function startsWithinRange(page: TransferPage, after: Position): boolean {
  if (page.length === 0 || !isSameLog(positionOf(page, 0), after)) return false
  const layout = newLayout()
  layOut(page.payloads, 0, layout)
  return idCountOf(page.payloads.subarray(0, layout.end)) > after.batchIndex + 1
}
