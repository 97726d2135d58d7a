// The rules of the lists of transfers over several contracts: of a wallet, of a token, of a block, of all. Bounds,
// completeness, pages, totals. No HTTP and no JSON.
import { ledgerOf } from '../ledgers.ts'
import { type Address, type ChainId, type Hash, type Interval, zeroAddress } from '../model.ts'
import type { IndexReader } from '../store/index-reader.ts'
import { readWalletRecord } from '../store/indexes/by-wallet.ts'
import type { IndexName } from '../store/runs/view.ts'
import type { Store } from '../store/store.ts'
import { type BlockBounds, resolveBounds } from './block-bounds.ts'
import { type ClaimSubject, type ClaimViews, claimedIf, freshLook, type Look, type Verdict, verdict } from './claims.ts'
import type { PageCursor } from './cursor.ts'
import type { PageLabels } from './find-labels.ts'
import type { AskBlock, FreshenOptions, IndexingKey } from './freshen.ts'
import { allTransfers, visitAll, walletTransfers } from './index-places.ts'
import { blockAsker } from './lookups/date-to-block.ts'
import { blockNumberOf } from './lookups/find-block.ts'
import { type MixedRows, noRows, spanRows } from './mixed-rows.ts'
import type { TransferReads } from './nft-transfers.ts'
import type { FactsByContract } from './shown-contracts.ts'
import { tokenRows, tokenTotal } from './token-rows.ts'
import { type PageAnswer, pageOf, type TransferList, type WholeTransfers, wholeOf } from './transfer-list.ts'
import type { TransferSubject } from './transfer-subject.ts'

/** From the parameters of a first page, or from a cursor. */
export type ListQuestion = PageCursor & { of: TransferSubject }

/** A page of the list. */
export type MixedTransfers = {
  rows: MixedRows
  facts: FactsByContract
  /** Undefined where no address of the page has a label. */
  labels: PageLabels | undefined
}

export type ListAnswer = PageAnswer<ListQuestion, MixedTransfers>

export type IndexTransferReads = TransferReads & { askBlock?: AskBlock | undefined }

export class IndexTransfers {
  readonly #store: Store
  readonly #reads: IndexTransferReads

  constructor(store: Store, reads: IndexTransferReads) {
    this.#store = store
    this.#reads = reads
  }

  answer(question: ListQuestion, options: FreshenOptions): Promise<ListAnswer> {
    return pageOf(this.#reads.claims, question, this.#list(question, options))
  }

  whole(question: ListQuestion, options: FreshenOptions): Promise<WholeTransfers<MixedTransfers>> {
    return wholeOf(this.#store, question, this.#list(question, options))
  }

  #list(question: ListQuestion, options: FreshenOptions): TransferList<MixedTransfers> {
    const { chain, of } = question
    return {
      chain,
      index: indexOf(of),
      waits: of.list === 'token-transfers',
      look: () => this.#look(question, options),
      firstLook: () => this.#firstLook(question, options),
      claim: (views, blocks) => claimOf(of, views, blocks),
      page: (cursor, bounds) => this.#page({ ...question, ...cursor }, bounds),
      total: (bounds, rows) => this.#total(question, bounds, rows),
    }
  }

  #firstLook(question: ListQuestion, options: FreshenOptions): Promise<Look> {
    const { chain, of } = question
    if (of.list === 'wallet-transfers') for (const contract of of.contracts) options.freshen?.asked?.(chain, contract)
    const look = () => this.#look(question, options)
    return of.list === 'token-transfers'
      ? freshLook(look, ({ complete }) => complete, { chain, contract: of.contract }, options)
      : look()
  }

  async #look(question: ListQuestion, { key }: Pick<FreshenOptions, 'key'>): Promise<Look> {
    const { of, chain } = question
    const { claims } = this.#reads
    const index = indexOf(of)
    const views = await claims.views(chain, claimedOf(of), index)
    const asked = of.list === 'block-transfers' ? await this.#blockAsked(chain, of.block, key) : question
    const bounds: BlockBounds =
      asked === undefined
        ? { fromBlock: 0, toBlock: -1, claim: undefined, exist: false }
        : await resolveBounds(this.#store, chain, views.chain.state, asked)
    return { views, bounds, index, ...claimOf(of, views, bounds.claim) }
  }

  /** The bounds of one block; undefined where no block of the chain has the hash. */
  async #blockAsked(chain: ChainId, block: number | Hash, key: IndexingKey) {
    const askBlock = blockAsker(this.#reads.askBlock, key)
    const number = await blockNumberOf(this.#store, chain, block, askBlock)
    return number === undefined
      ? undefined
      : { fromBlock: number, toBlock: number, fromTime: undefined, toTime: undefined }
  }

  async #page(question: ListQuestion, bounds: BlockBounds): Promise<MixedTransfers> {
    const rows = await this.#rows(question, bounds)
    const [facts, labels] = await Promise.all([
      this.#reads.contracts.of(question.chain, rows.contracts),
      this.#reads.labels.ofPage(ledgerOf(question.chain).chain, rows.stored),
    ])
    return { rows, facts, labels }
  }

  async #rows(question: ListQuestion, bounds: BlockBounds): Promise<MixedRows> {
    const { chain, of } = question
    const { indexes } = this.#store
    const blocks = blocksOf(bounds)
    if (blocks === undefined) return noRows
    return of.list === 'token-transfers'
      ? await tokenRows(indexes, { chain, ...of, toBlock: bounds.toBlock }, question)
      : await spanRows(indexes, spanOf(chain, of, blocks), question)
  }

  /** The last page's total is what the run has shown, so that a client sees the end even if rows arrived meanwhile. */
  async #total(question: ListQuestion, bounds: BlockBounds, rows: MixedRows): Promise<number | undefined> {
    const { chain, of, page, limit } = question
    const { indexes } = this.#store
    const blocks = blocksOf(bounds)
    const hasMore = rows.more || rows.stoppedAt !== undefined
    if (!hasMore || blocks === undefined) return page * limit + rows.length
    if (of.list === 'token-transfers') return await tokenTotal(indexes, { chain, ...of })
    return of.list === 'wallet-transfers'
      ? await walletTotal(indexes, chain, of, blocks)
      : await this.#totalOfAll(indexes, chain, blocks)
  }

  /** Records do not tell how many ids a range has: the kept counts of the contracts do. */
  async #totalOfAll(reader: IndexReader, chain: ChainId, { from, to }: Interval): Promise<number | undefined> {
    const span = allTransfers(chain, { from, to })
    const contracts = new Set<Address>()
    const stoppedAt = await visitAll(reader, span, (records, value) => contracts.add(span.contractOf(records, value)))
    if (stoppedAt !== undefined) return undefined
    let total = 0
    for (const contract of contracts)
      total += await this.#store.transferCount({ chain, contract, fromBlock: from, toBlock: to })
    return total
  }
}

/** Whose coverage counts: where a wallet's list names contracts, others need not be indexed. */
function claimedOf(of: TransferSubject): ClaimSubject {
  if (of.list === 'token-transfers') return of.contract
  return of.list === 'wallet-transfers' ? of.contracts : 'every'
}

function claimOf(of: TransferSubject, views: ClaimViews, blocks: Interval | undefined): Verdict {
  // No index has the zero address, which gives and receives without being a wallet.
  const isAnswered = of.list !== 'wallet-transfers' || of.wallet !== zeroAddress
  return claimedIf(isAnswered && views.chain.filled.has(indexOf(of)), verdict(views, blocks))
}

type SpanSubject = Exclude<TransferSubject, { list: 'token-transfers' }>

function spanOf(chain: ChainId, of: SpanSubject, blocks: Interval) {
  return of.list === 'wallet-transfers' ? walletTransfers(chain, of.wallet, blocks, of) : allTransfers(chain, blocks)
}

async function walletTotal(reader: IndexReader, chain: ChainId, of: SpanSubject, blocks: Interval) {
  let total = 0
  const stoppedAt = await visitAll(reader, spanOf(chain, of, blocks), (_, value) => {
    total += readWalletRecord(value).idCount
  })
  return stoppedAt === undefined ? total : undefined
}

function indexOf({ list }: TransferSubject): IndexName {
  return list === 'wallet-transfers' ? 'by_wallet' : list === 'token-transfers' ? 'by_token' : 'by_block'
}

/** Undefined where no block can have rows. */
function blocksOf({ fromBlock = 0, toBlock = Number.MAX_SAFE_INTEGER }: BlockBounds): Interval | undefined {
  return fromBlock > toBlock ? undefined : { from: fromBlock, to: toBlock }
}
