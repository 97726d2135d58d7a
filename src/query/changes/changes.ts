// The changes of a chain after a position: rows that are seen in a block that may still go, rows that went with their
// block, and rows that became final. Nothing is kept of who listens: the chain and what was replaced of it are the log.
// No HTTP and no waiting.
import { ledgerOf } from '../../ledgers.ts'
import type { Address, ChainId } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { PageLabels } from '../find-labels.ts'
import type { MixedRows } from '../mixed-rows.ts'
import type { TransferReads } from '../nft-transfers.ts'
import type { FactsByContract } from '../shown-contracts.ts'
import { coverageOf, indexOf, type RowAt } from './change-rows.ts'
import {
  type ChangeState,
  type ClaimView,
  type LedgerChanges,
  LedgerRead,
  nextOf,
  type ReadBounds,
} from './ledger-read.ts'
import type { ChangeFilter, ChangePosition, LedgerPosition, Told } from './position.ts'
import { isAtTop, Touched, type TouchMark } from './touched.ts'

/** Consecutive changes of one kind. */
export type ChangeRows = {
  ledger: ChainId
  state: ChangeState
  rows: MixedRows
  places: readonly RowAt[]
  facts: FactsByContract
  labels: PageLabels | undefined
  /** How far one was told who was told up to the answered row at this place of the list. */
  behind: (at: number) => ChangePosition
}

type ToldRows = Omit<ChangeRows, 'facts' | 'labels'>

export type ChangePage = {
  told: ChangeRows[]
  next: ChangePosition
  /** There may be more at once: the page is full, or one read looks at no more. */
  more: boolean
}

/**
 * What became of what was told from a block on cannot be told any more. Who forgets what it keeps of these blocks goes
 * on from `next`.
 */
export type ChangesGone = { fromBlock: number; next: ChangePosition }

/** What there was to tell at some moment. */
export type ChangeMark = { touched: TouchMark | undefined; state: string }

/** The mark to keep of a listener that was told nothing after it, and there was nothing more. */
export function quietMark(mark: ChangeMark, position: ChangePosition, filter: ChangeFilter): ChangeMark {
  return mark.touched === undefined || isAtTop(mark.touched, position, filter) ? mark : { ...mark, touched: undefined }
}

const readsMax = 4
/** Reads of one page: one ends where something else begins. */
const stepsMax = 8

/** The first block of which what was told cannot be told any more. */
type LedgerGone = { goneFrom: number }

export class Changes {
  readonly #store: Store
  readonly #reads: TransferReads
  readonly #touched: Touched

  constructor(store: Store, reads: TransferReads) {
    this.#store = store
    this.#reads = reads
    this.#touched = new Touched(store, reads.claims, {
      begin: (filter, fromBlock) => this.begin(filter, fromBlock),
      after: (filter, position, limit) => this.#rowsAfter(filter, position, { limit, upTo: undefined }),
    })
  }

  /** Throws where a chain does not keep what the rows are found in. */
  async requireKept({ ledgers, ...filter }: ChangeFilter): Promise<void> {
    await Promise.all(ledgers.map(ledger => this.#view(ledger, filter)))
  }

  /** From now on, as if everything up to the head had been told; or from a block on. */
  async begin({ ledgers, finalOnly }: ChangeFilter, fromBlock: number | undefined): Promise<ChangePosition> {
    return await Promise.all(ledgers.map(ledger => this.#begin(ledger, finalOnly, fromBlock)))
  }

  async #begin(ledger: ChainId, finalOnly: boolean, fromBlock: number | undefined): Promise<LedgerPosition> {
    const era = (await this.#store.takenBack(ledger)).at(-1)?.era ?? 0
    const finalized = (await this.#store.chainState(ledger))?.finalized ?? -1
    if (fromBlock !== undefined) {
      const told = { block: Math.min(fromBlock - 1, finalized) }
      return { era, from: fromBlock, seenFrom: told.block + 1, seen: told, final: told }
    }
    const top = (await this.#store.hotBlocks(ledger)).findLast(({ number }) => number > finalized)
    const seen: Told = top === undefined || finalOnly ? { block: finalized } : { block: top.number, hash: top.hash }
    return { era, from: finalized + 1, seenFrom: seen.block + 1, seen, final: { block: finalized } }
  }

  /** `upTo`: no further than a position that was read from this one, to read the same again. */
  async after(
    filter: ChangeFilter,
    position: ChangePosition,
    limit: number,
    upTo?: ChangePosition,
  ): Promise<ChangePage | ChangesGone> {
    const read = await this.#rowsAfter(filter, position, { limit, upTo })
    if ('fromBlock' in read) return read
    const told: ChangeRows[] = []
    for (const each of read.told) told.push({ ...each, ...(await this.#shown(each.ledger, each.rows)) })
    return { ...read, told }
  }

  /** Without what is shown beside rows. */
  async #rowsAfter(
    filter: ChangeFilter,
    position: ChangePosition,
    { limit, upTo }: { limit: number; upTo: ChangePosition | undefined },
  ): Promise<(Omit<ChangePage, 'told'> & { told: ToldRows[] }) | ChangesGone> {
    const told: ToldRows[] = []
    let next = position
    let more = false
    let left = limit
    // The ledger that is behind comes first: one that is always full would leave the other no room.
    const order = [...filter.ledgers.keys()].sort((a, b) => next[a]!.seen.block - next[b]!.seen.block)
    for (const at of order) {
      const ledger = filter.ledgers[at]!
      let isMore = true
      for (let step = 0; step < stepsMax && isMore && left > 0; step++) {
        const before = next
        const read = await this.#read(ledger, filter, before[at]!, { limit: left, upTo: upTo?.[at] })
        if ('goneFrom' in read) {
          // What was told before it was found is told, and then this.
          if (told.length > 0) return { told, next, more: true }
          return await this.#gone(filter, next, read.goneFrom)
        }
        for (const { behind, ...rows } of read.told) {
          told.push({ ledger, ...rows, behind: row => before.with(at, behind(row)) })
          left -= rows.rows.length
        }
        next = next.with(at, read.next)
        isMore = read.more
      }
      more ||= isMore
    }
    return { told, next, more }
  }

  /** As if nothing were known of what was told of blocks that are not final at the position, and of later ones. */
  async restart(filter: ChangeFilter, position: ChangePosition): Promise<ChangesGone> {
    return await this.#gone(filter, position, Number.POSITIVE_INFINITY)
  }

  /** Before a look at rows, which is needed only where this is another one than `known`: much cheaper than a look. */
  async mark(filter: ChangeFilter, known?: ChangeMark): Promise<ChangeMark> {
    const touched = await this.#touched.mark(filter)
    if (touched !== undefined && known?.touched?.text === touched.text) return known
    const state = await this.#stateMark(filter)
    return known?.state === state ? known : { touched, state }
  }

  async #stateMark({ ledgers, ...filter }: ChangeFilter): Promise<string> {
    const views = await Promise.all(ledgers.map(ledger => this.#view(ledger, filter)))
    const marks = views.map(({ chain: { state, takenBack, filled }, coverage }) => {
      const covered = coverage.reduce((sum, { from, to }) => sum + to - from + 1, 0)
      return [state?.head.hash, state?.finalized, takenBack, filled.size, coverage.length, covered]
    })
    return JSON.stringify(marks)
  }

  async #shown(ledger: ChainId, rows: MixedRows): Promise<Pick<ChangeRows, 'facts' | 'labels'>> {
    const { contracts, labels } = this.#reads
    const [facts, found] = await Promise.all([
      contracts.of(ledger, rows.contracts),
      labels.ofPage(ledgerOf(ledger).chain, rows.stored),
    ])
    return { facts, labels: found }
  }

  async #view(ledger: ChainId, filter: Omit<ChangeFilter, 'ledgers'>): Promise<ClaimView> {
    const { chain, each } = await this.#reads.claims.views(ledger, coverageOf(filter), indexOf(filter))
    return { chain, coverage: each[0]!.coverage }
  }

  async #read(
    ledger: ChainId,
    filter: ChangeFilter,
    given: LedgerPosition,
    bounds: ReadBounds,
  ): Promise<LedgerChanges | LedgerGone> {
    const position = await this.#inEra(ledger, filter, given)
    if ('goneFrom' in position) return position
    for (let reads = 1; ; reads++) {
      const read = await new LedgerRead(this.#store, ledger, filter, position, bounds).read(
        await this.#view(ledger, filter),
      )
      if (read === 'gone') {
        // Because final blocks were taken back meanwhile, or it is too old.
        const now = await this.#inEra(ledger, filter, given)
        return 'goneFrom' in now ? now : { goneFrom: nextOf(now.final) }
      }
      if (read !== undefined) return read
      // Told again later: a position loses nothing by waiting.
      if (reads === readsMax) return { told: [], next: position, more: true }
    }
  }

  /** A position of an older era stays good where nothing that it told was taken back since. */
  async #inEra(
    ledger: ChainId,
    { contract }: ChangeFilter,
    position: LedgerPosition,
  ): Promise<LedgerPosition | LedgerGone> {
    const taken = await this.#store.takenBack(ledger)
    const latest = taken.at(-1)?.era ?? 0
    const { era, from, seen, final } = position
    if (era === latest) return position
    // Of a store that was replaced by a backup, or so old that it was joined with others.
    if (era > 0 && !taken.some(each => each.era === era)) return { goneFrom: from }
    const to = Math.max(seen.block, final.block)
    const isOfThis = (other: Address | undefined) => contract === undefined || other === undefined || other === contract
    const lost = taken.filter(each => each.era > era && isOfThis(each.contract) && each.from <= to && each.to >= from)
    if (lost.length === 0) return { ...position, era: latest }
    return { goneFrom: Math.min(...lost.map(each => each.from)) }
  }

  /** Who forgets does so for all ledgers, so all of them are told anew, with what is not final yet. */
  async #gone({ ledgers }: ChangeFilter, position: ChangePosition, block: number): Promise<ChangesGone> {
    const first = Math.min(block, ...position.map(({ final }) => nextOf(final)))
    const next = await Promise.all(
      ledgers.map(async (ledger, at) => {
        const { from } = position[at]!
        const era = (await this.#store.takenBack(ledger)).at(-1)?.era ?? 0
        const finalized = (await this.#store.chainState(ledger))?.finalized ?? -1
        const told = { block: Math.min(Math.max(from, first) - 1, finalized) }
        return { era, from, seenFrom: told.block + 1, seen: told, final: told }
      }),
    )
    return { fromBlock: Math.max(first, Math.min(...position.map(({ from }) => from))), next }
  }
}
