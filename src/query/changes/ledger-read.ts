// One read of the changes of a ledger after a position: what went, what is seen, and what became final. It reads no
// facts and no labels, and ends where something else begins.
import { coveredTo } from '../../coverage.ts'
import { hexOf } from '../../hex.ts'
import { type ChainId, comparePositions, type Hash, type Interval } from '../../model.ts'
import type { Store } from '../../store/store.ts'
import type { ClaimViews } from '../claims.ts'
import { type MixedRows, noRows } from '../mixed-rows.ts'
import { coverageOf, indexOf, placesOf, type RowAt, rowsAbove, rowsDown } from './change-rows.ts'
import type { ChangeFilter, LedgerPosition, PlaceInBlock, Told } from './position.ts'

export type ChangeState = 'seen' | 'retracted' | 'final'

/** Consecutive changes of one kind. */
type LedgerRows = {
  state: ChangeState
  rows: MixedRows
  places: readonly RowAt[]
  behind: (at: number) => LedgerPosition
}
export type LedgerChanges = { told: LedgerRows[]; next: LedgerPosition; more: boolean }

/** What is claimed for the rows of a filter. */
export type ClaimView = Pick<ClaimViews, 'chain'> & { coverage: readonly Interval[] }

/** Blocks that went and are looked at in one read. */
const goneBlocksMax = 64

export type ReadBounds = { limit: number; upTo: LedgerPosition | undefined }

/** One read of a ledger: it goes on from what was told last, until the limit or where something else begins. */
export class LedgerRead {
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
  async read(view: ClaimView): Promise<LedgerChanges | 'gone' | undefined> {
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
export function nextOf({ block, place }: Told): number {
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
