// The rules of the transfers of one contract, of NFTs or of an ERC-20 token: bounds, completeness, pages, totals. The
// chain of a question is the ledger. No HTTP and no JSON.

import type { ShownFacts } from '../annotate/shown-facts.ts'
import type { ChainTable } from '../chains.ts'
import { ledgerOf } from '../ledgers.ts'
import type { Address, Position } from '../model.ts'
import type { TransferPage } from '../store/index-reader.ts'
import type { Store, TransferRange } from '../store/store.ts'
import { idCountOf, layOut, newLayout } from '../store/transfer-payload.ts'
import { type AnswerRows, answerRows, isSameLog, positionOf } from './answer-rows.ts'
import { type BlockBounds, resolveBounds } from './block-bounds.ts'
import { Claims, freshLook, type Look, verdict } from './claims.ts'
import type { PageCursor } from './cursor.ts'
import type { PageLabels } from './find-labels.ts'
import type { FreshenOptions } from './freshen.ts'
import type { KnownLabels } from './known-labels.ts'
import { ShownContracts } from './shown-contracts.ts'
import { type PageAnswer, pageOf, type TransferList, type WholeTransfers, wholeOf } from './transfer-list.ts'

/** From the parameters of a first page, or from a cursor. */
export type TransfersQuestion = PageCursor & { contract: Address }

/** A page of the list. */
export type TransfersPage = {
  rows: AnswerRows
  facts: ShownFacts | undefined
  /** Undefined where no address of the page has a label. */
  labels: PageLabels | undefined
}

export type TransfersAnswer = PageAnswer<TransfersQuestion, TransfersPage>

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

  answer(question: TransfersQuestion, options: FreshenOptions): Promise<TransfersAnswer> {
    return pageOf(this.#reads.claims, question, this.#list(question, options))
  }

  whole(question: TransfersQuestion, options: FreshenOptions): Promise<WholeTransfers<TransfersPage>> {
    return wholeOf(this.#store, question, this.#list(question, options))
  }

  #list(question: TransfersQuestion, options: FreshenOptions): TransferList<TransfersPage> {
    const look = () => this.#look(question)
    return {
      chain: question.chain,
      waits: true,
      look,
      firstLook: () => freshLook(look, ({ complete }) => complete, question, options),
      claim: verdict,
      page: (cursor, bounds) => this.#page({ ...question, ...cursor }, bounds),
      total: (bounds, rows) => this.#total(question, rangeOf(question, bounds), rows),
    }
  }

  async #look(question: TransfersQuestion): Promise<Look> {
    const { chain, contract } = question
    const views = await this.#reads.claims.views(chain, contract)
    const bounds = await resolveBounds(this.#store, chain, views.chain.state, question)
    return { views, bounds, ...verdict(views, bounds.claim) }
  }

  async #page(question: TransfersQuestion, bounds: BlockBounds): Promise<TransfersPage> {
    const { chain, contract } = question
    const rows = await contractRows(this.#store, rangeOf(question, bounds), question)
    const facts = await this.#reads.contracts.ofOne(chain, contract)
    return { rows, facts, labels: await this.#reads.labels.ofPage(ledgerOf(chain).chain, rows.stored) }
  }

  /**
   * The last page's total is what the run has shown, so that a client which compares total with page and page size sees
   * the end even if rows arrived meanwhile.
   */
  async #total({ page, limit }: TransfersQuestion, range: TransferRange, rows: AnswerRows): Promise<number> {
    return rows.more ? await this.#store.transferCount(range) : page * limit + rows.length
  }
}

export async function contractRows(
  store: Pick<Store, 'transferPage'>,
  range: TransferRange,
  question: PageCursor,
): Promise<AnswerRows> {
  const { order, limit, after, mayContinue } = question
  // One row more than the page holds shows whether there is a next one.
  const query = { ...range, order, limit: limit + 1 }
  if (after === undefined) return answerRows(await store.transferPage(query), question)
  if (mayContinue && order === 'asc') {
    // A range is stored at its first id, which the run has passed.
    const page = await store.transferPage({ ...query, after: { ...after, batchIndex: -1 } })
    if (startsWithinRange(page, after)) return answerRows(page, question)
  }
  return answerRows(await store.transferPage({ ...query, after }), question)
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
