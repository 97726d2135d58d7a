// The changes of a chain after a position: rows that are seen in a block that may still go, rows that went with their
// block, and rows that became final. Nothing is kept of who listens: the chain and what was replaced of it are the log.
// No HTTP and no waiting.
import { coveredTo } from '../../coverage.ts'
import { hexOf } from '../../hex.ts'
import { ledgerOf } from '../../ledgers.ts'
import { type Address, type ChainId, comparePositions, type Hash, type Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { ClaimViews } from '../claims.ts'
import type { PageLabels } from '../find-labels.ts'
import { type MixedRows, noRows } from '../mixed-rows.ts'
import type { TransferReads } from '../nft-transfers.ts'
import type { FactsByContract } from '../shown-contracts.ts'
import { coverageOf, indexOf, placesOf, type RowAt, rowsAbove, rowsDown } from './change-rows.ts'
import type { ChangeFilter, ChangePosition, LedgerPosition, PlaceInBlock, Told } from './position.ts'
import { isAtTop, Touched, type TouchMark } from './touched.ts'

export type ChangeState = 'seen' | 'retracted' | 'final'

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
/** Blocks that went and are looked at in one read. */
const goneBlocksMax = 64
/** Reads of one page: one ends where something else begins. */
const stepsMax = 8

/** What is claimed for the rows of a filter. */
type ClaimView = Pick<ClaimViews, 'chain'> & { coverage: readonly Interval[] }
type LedgerRows = Pick<ChangeRows, 'state' | 'rows' | 'places'> & { behind: (at: number) => LedgerPosition }
type Read = { told: LedgerRows[]; next: LedgerPosition; more: boolean }
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
  ): Promise<Read | LedgerGone> {
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

type ReadBounds = { limit: number; upTo: LedgerPosition | undefined }

/** One read of a ledger: it goes on from what was told last, until the limit or where something else begins. */
class LedgerRead {
  readonly #store: Store
  readonly #ledger: ChainId
  readonly #filter: ChangeFilter
  readonly #upTo: LedgerPosition | undefined
  readonly #told: LedgerRows[] = []
  #position: LedgerPosition
  #left: number

  constructor(store: Store, ledger: ChainId, filter: ChangeFilter, position: LedgerPosition, bounds: ReadBounds) {
    this.#store = store
    this.#ledger = ledger
    this.#filter = filter
    this.#position = position
    this.#left = bounds.limit
    this.#upTo = bounds.upTo
  }

  /** Undefined where what was read does not stand. */
  async read(view: ClaimView): Promise<Read | 'gone' | undefined> {
    const finalized = Math.min(view.chain.state?.finalized ?? -1, this.#upTo?.final.block ?? Number.POSITIVE_INFINITY)
    const more = await this.#readOn(view, finalized)
    if (more === undefined || more === 'gone') return more
    const { takenBack } = await this.#store.indexes.rowState(this.#ledger)
    return takenBack === view.chain.takenBack ? { told: this.#told, next: this.#position, more } : undefined
  }

  /** True where there may be more; undefined where what was read does not stand. */
  async #readOn(view: ClaimView, finalized: number): Promise<boolean | 'gone' | undefined> {
    const { finalOnly } = this.#filter
    const standing = finalOnly || (await this.#retract())
    if (standing !== true) return standing === 'gone' ? 'gone' : true
    const index = indexOf(this.#filter)
    if (index !== undefined && !view.chain.filled.has(index)) return false
    if (finalOnly) return await this.#readFinal(view, finalized)
    // One who is behind is told what is final as that alone, and then goes on above.
    const isBehind = this.#position.seen.block <= finalized
    if (isBehind && (await this.#readFinal(view, finalized))) return true
    if (isBehind && this.#nextOf(this.#position.seen) <= finalized) return false
    const more = await this.#readSeen(view, finalized)
    return more === false && !isBehind ? await this.#readFinal(view, finalized) : more
  }

  /** A final block does. */
  async #stands({ block, hash }: Told): Promise<boolean> {
    return hash === undefined || (await blockAt(this.#store, this.#ledger, block))?.hash === hash
  }

  /** Down from blocks that went to one that stands, and from where to go on then. False where there may be more. */
  async #retract(): Promise<boolean | 'gone'> {
    for (let looked = 0; ; looked++) {
      const before = this.#position
      const { seen, seenFrom, from } = before
      if (await this.#stands(seen)) {
        const { again: [next, ...others] = [], low, ...position } = before
        const lowest = low !== undefined && isBeyond(seen, low) ? low : seen
        const toldFrom = Math.min(seenFrom, next?.seenFrom ?? seenFrom, lowest.block + 1)
        const further = { ...next, low: lowest, ...(others.length > 0 && { again: others }) }
        this.#position =
          next === undefined ? { ...position, seen: lowest } : { ...position, ...further, seenFrom: toldFrom }
        if (next === undefined && lowest === seen) return true
        continue
      }
      if (looked === goneBlocksMax || this.#left === 0) return false
      const gone = await this.#store.goneBlock(this.#ledger, seen.hash!)
      // What was found before it is told first.
      if (gone === undefined) return this.#told.length > 0 ? false : 'gone'
      const { parent } = gone
      const below: LedgerPosition = {
        ...before,
        seen: { block: parent.number, hash: parent.hash },
        seenFrom: Math.min(seenFrom, parent.number + 1),
      }
      if (seen.block >= Math.max(seenFrom, from)) {
        const { rows, next } = rowsDown(gone.page, this.#filter, { place: seen.place, limit: this.#left })
        const places = placesOf(rows)
        this.#tell('retracted', rows, places, at => {
          const left = at + 1 < places.length ? places[at + 1]!.position : next
          return left === undefined ? below : { ...before, seen: { ...seen, place: placeIn(left) } }
        })
        if (next !== undefined) {
          this.#position = { ...before, seen: { ...seen, place: next } }
          return false
        }
      }
      this.#position = below
    }
  }

  /** True where there may be more; undefined where what was read does not stand. */
  async #readSeen(view: ClaimView, finalized: number): Promise<boolean | undefined> {
    const { seen } = this.#position
    const top = await this.#topOf(view, seen, finalized)
    if (top === undefined) return false
    if (this.#left === 0) return true
    const blocks = { from: this.#nextOf(seen), to: top.number }
    // Both are of one branch, if the block is still there at the end.
    if (!(await this.#stands(seen))) return undefined
    // What is claimed may be of another branch than the block: it is read again, and the block is looked at last.
    const coverage = await this.#store.contractCoverage(this.#ledger, coverageOf(this.#filter))
    if (coveredTo(coverage, blocks.from) < blocks.to) return undefined
    const hashes = new Map<number, Hash | undefined>([[top.number, top.hash]])
    const { rows, to, more } = await this.#rows(blocks, seen)
    const toldAt = (told: Told): Told => {
      const hash = told.block > finalized ? hashes.get(told.block) : undefined
      return { ...told, hash }
    }
    const places = placesOf(rows)
    for (const { row, position } of places) hashes.set(position.block, hashOfRow(rows, row))
    if (to.block > finalized && !hashes.has(to.block))
      hashes.set(to.block, (await blockAt(this.#store, this.#ledger, to.block))?.hash)
    if ((await blockAt(this.#store, this.#ledger, top.number))?.hash !== top.hash) return undefined
    const before = this.#position
    this.#tell('seen', rows, places, at => {
      const { block } = places[at]!.position
      return { ...before, seen: toldAt({ block, place: placeIn(places[at]!.position) }) }
    })
    this.#position = { ...before, seen: toldAt(to) }
    return more
  }

  /** The highest block that is stored and complete up to there, if there is one to tell. */
  async #topOf(view: ClaimView, seen: Told, finalized: number): Promise<{ number: number; hash: Hash } | undefined> {
    const from = this.#nextOf(seen)
    const head = Math.min(view.chain.state?.head.number ?? -1, this.#upTo?.seen.block ?? Number.POSITIVE_INFINITY)
    const covered = Math.min(coveredTo(view.coverage, from), head)
    if (covered < from) return undefined
    const known = await blockAt(this.#store, this.#ledger, covered)
    if (known !== undefined) return known
    const hot = await this.#store.hotBlocks(this.#ledger)
    return hot.findLast(({ number }) => number <= covered && number >= from && number > finalized)
  }

  /** True where there may be more. */
  async #readFinal(view: ClaimView, finalized: number): Promise<boolean> {
    const { final, seen } = this.#position
    const from = this.#nextOf(final)
    const to = Math.min(coveredTo(view.coverage, from), finalized)
    if (to < from) return false
    if (this.#left === 0) return true
    const before = this.#position
    const toldAt = (told: Told): LedgerPosition => {
      return { ...before, final: told, seen: isBeyond(told, seen) ? told : seen }
    }
    const { rows, to: end, more } = await this.#rows({ from, to }, final)
    const places = placesOf(rows)
    this.#tell('final', rows, places, at => {
      const { block } = places[at]!.position
      return toldAt({ block, place: placeIn(places[at]!.position) })
    })
    this.#position = toldAt(end)
    return more
  }

  /** `to`: how far they go. */
  async #rows({ from, to }: Interval, told: Told): Promise<{ rows: MixedRows; to: Told; more: boolean }> {
    const blocks = { from: Math.max(from, this.#position.from), to }
    if (blocks.from > to) return { rows: noRows, to: { block: to }, more: false }
    const after = told.place && { ...told.place, block: told.block }
    const rows = await rowsAbove(this.#store, this.#filter, { chain: this.#ledger, blocks, after, limit: this.#left })
    const last = rows.more ? rows.last : rows.stoppedAt
    if (last === undefined) return { rows, to: { block: to }, more: false }
    return { rows, to: { block: last.block, place: placeIn(last) }, more: true }
  }

  #tell(state: ChangeState, rows: MixedRows, places: readonly RowAt[], behind: (at: number) => LedgerPosition): void {
    if (rows.length === 0) return
    this.#told.push({ state, rows, places, behind })
    this.#left -= rows.length
  }

  /** What is below the first block that is told need not be there. */
  #nextOf(told: Told): number {
    return Math.max(nextOf(told), this.#position.from)
  }
}

/** The first block that has something to tell. */
function nextOf({ block, place }: Told): number {
  return place === undefined ? block + 1 : block
}

async function blockAt(store: Store, ledger: ChainId, number: number) {
  return await store.lowestBlock(ledger, { from: number, to: number })
}

function placeIn({ transactionIndex, logIndex, batchIndex }: PlaceInBlock): PlaceInBlock {
  return { transactionIndex, logIndex, batchIndex }
}

function isBeyond(told: Told, other: Told): boolean {
  if (told.block !== other.block) return told.block > other.block
  if (told.place === undefined || other.place === undefined) return told.place === undefined
  return comparePositions({ ...told.place, block: 0 }, { ...other.place, block: 0 }) >= 0
}

function hashOfRow({ stored }: MixedRows, row: number): Hash {
  return hexOf<Hash>(stored.blockHashes.subarray(row * 32, row * 32 + 32))
}
