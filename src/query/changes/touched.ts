// Which contracts and wallets something happened to, by one listener to all that happens on a ledger: of many listeners
// that have been told everything, only those that it concerns look for rows of their own. It tells no changes itself.
import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId } from '../../model.ts'
import { Flights } from '../../once.ts'
import type { ChainState, Store } from '../../store/store.ts'
import type { Claims } from '../claims.ts'
import type { MixedRows } from '../mixed-rows.ts'
import { addressesIn } from './change-rows.ts'
import type { ChangeFilter, ChangePosition, LedgerPosition } from './position.ts'

const rowsOfRead = 1_000
/** Of one look: one that is further behind goes on with the next commit. */
const readsMax = 20
/** Beyond, all are forgotten, and then everything counts as touched. */
const addressesMax = 20_000

/** The same while nothing happened to what a filter names, for a listener that had been told all up to `top`. */
export type TouchMark = { text: string; top: readonly Top[] }
type Top = { head: number; finalized: number }

/** All that happens, told in pages. */
type Feed = {
  begin(filter: ChangeFilter, fromBlock: number): Promise<ChangePosition>
  after(
    filter: ChangeFilter,
    position: ChangePosition,
    limit: number,
  ): Promise<{ told: { rows: MixedRows }[]; next: ChangePosition; more: boolean } | { fromBlock: number }>
}

type Watched = {
  revision: number
  position: ChangePosition
  /** What is read of the ledger beside rows: where it changes, everything counts as touched. */
  rules: string
  everythingAt: number
  /** Of the addresses that were asked for. */
  touchedAt: Map<Address, number>
  /** Undefined where not all is told up to the head: something may be known of one contract that is not of all. */
  top: Top | undefined
}

export class Touched {
  readonly #store: Store
  readonly #claims: Claims
  readonly #feed: Feed
  readonly #watched = new Map<ChainId, Watched>()
  readonly #flights = new Flights<ChainId, Watched | undefined>()
  #turn = 0

  constructor(store: Store, claims: Claims, feed: Feed) {
    this.#store = store
    this.#claims = claims
    this.#feed = feed
  }

  /** Undefined where it cannot be told. */
  async mark({ ledgers, contract, wallet }: ChangeFilter): Promise<TouchMark | undefined> {
    const subject = contract ?? wallet
    if (subject === undefined) return undefined
    const texts: string[] = []
    const top: Top[] = []
    for (const ledger of ledgers) {
      const watched = await this.#look(ledger)
      if (watched?.top === undefined) return undefined
      const touchedAt = watched.touchedAt.get(subject)
      if (touchedAt === undefined) watched.touchedAt.set(subject, watched.everythingAt)
      texts.push(`${touchedAt ?? watched.everythingAt}`)
      top.push(watched.top)
    }
    return { text: texts.join(), top }
  }

  /** Read once for all who ask after a commit. */
  async #look(ledger: ChainId): Promise<Watched | undefined> {
    const known = this.#watched.get(ledger)
    if (known?.revision === this.#store.revision()) return known
    return await this.#flights.join(ledger, () => this.#readOn(ledger, known))
  }

  async #readOn(ledger: ChainId, known: Watched | undefined): Promise<Watched | undefined> {
    const revision = this.#store.revision()
    const all: ChangeFilter = {
      ...{ ledgers: [ledger], contract: undefined, wallet: undefined, tokenId: undefined, finalOnly: false },
    }
    try {
      const { chain } = await this.#claims.views(ledger, 'every', 'by_block')
      // Blocks whose claim was taken back have a new era, also where they had no rows.
      const era = (await this.#store.takenBack(ledger)).at(-1)?.era
      const rules = JSON.stringify([era, chain.takenBack, [...chain.filled].sort()])
      const turn = ++this.#turn
      const isSame = known?.rules === rules && known.touchedAt.size < addressesMax
      const next: Watched = isSame
        ? { ...known, revision }
        : {
            // What is not final may go, so it is told too.
            ...{ revision, position: await this.#feed.begin(all, (chain.state?.finalized ?? -1) + 1), rules },
            ...{ everythingAt: turn, touchedAt: new Map(), top: undefined },
          }
      if (!(await this.#readPages(all, next, turn))) {
        this.#watched.delete(ledger)
        return undefined
      }
      next.top = topIfTold(next.position[0]!, chain.state)
      this.#watched.set(ledger, next)
      return next
    } catch (error) {
      this.#watched.delete(ledger)
      // The ledger keeps no rows by block, or is not indexed.
      if (error instanceof AlmanacError && error.code === 'not_configured') return undefined
      throw error
    }
  }

  /** False where what happened cannot be told one by one. */
  async #readPages(all: ChangeFilter, watched: Watched, turn: number): Promise<boolean> {
    for (let reads = 0; reads < readsMax; reads++) {
      const page = await this.#feed.after(all, watched.position, rowsOfRead)
      if ('fromBlock' in page) return false
      for (const { rows } of page.told)
        for (const each of addressesIn(rows)) if (watched.touchedAt.has(each)) watched.touchedAt.set(each, turn)
      watched.position = page.next
      if (!page.more) return true
    }
    return true
  }
}

/** Whether a listener at this position was told all that a mark is about. */
export function isAtTop({ top }: TouchMark, position: ChangePosition, { finalOnly }: ChangeFilter): boolean {
  return position.every((each, at) => isTold(each, top[at]!, finalOnly))
}

function isTold({ seen, final, again }: LedgerPosition, { head, finalized }: Top, finalOnly: boolean): boolean {
  if (again !== undefined || final.place !== undefined || final.block < finalized) return false
  return finalOnly || (seen.place === undefined && seen.block >= head)
}

function topIfTold(position: LedgerPosition, state: ChainState | undefined): Top | undefined {
  if (state === undefined) return undefined
  const top = { head: state.head.number, finalized: state.finalized }
  return isTold(position, top, false) ? top : undefined
}
