// Keeps sheets in memory: one of final blocks for each subject, brought up to a block with what happened since.
// Requests for the same sheet share its building. It judges no completeness.
import { LRUCache } from 'lru-cache'
import type { RowState } from '../../store/index-reader.ts'
import type { TransferReader } from '../../store/store.ts'
import { type BranchStore, OneBranch } from '../one-branch.ts'
import { type Changes, changesOf } from './changes.ts'
import { foldMoves, foldSubject, LargeSubjects, smallRecords } from './fold-subject.ts'
import { HoldingsAdmission, type HoldingsRequest, type Work, type WorkSize } from './holdings-admission.ts'
import { laidOver } from './lay-over.ts'
import type { Mints } from './mints.ts'
import type { Layered } from './orders.ts'
import type { Sheet } from './sheet.ts'
import { SheetBuilder } from './sheet-builder.ts'
import { nameOf, type Subject } from './subject.ts'

export type SheetLimits = {
  /** What takes more while it is made is too large for one sheet. The admission bounds it too. */
  bytesMax: number
  /** Putting this many on top takes some 20 ms; beyond it a sheet of a newer block is made. */
  changesMax: number
  /** What is read again for every request stays small: 1 ms. */
  finalChangesMax: number
}
const usualLimits: SheetLimits = { bytesMax: Number.POSITIVE_INFINITY, changesMax: 5_000, finalChangesMax: 200 }
const attemptsMax = 3
/** Of the bound on memory: sheets of older blocks, and with what happened since, which are quicker to make. */
const passingShare = 1 / 4
/** A copy of a sheet while it is made, of the sheet: its rows, the order of them, and some more. */
const copyShare = 1.5

export type SheetStore = TransferReader & BranchStore

export type FoundSheet = Layered & {
  /** False where rows of final blocks came or went while it was made: some may be missing, or be there too much. */
  isWhole: boolean
  /** Of final blocks, as they were when the sheet held; undefined where nothing is known to hold, or none is in it. */
  rows?: RowChanges | undefined
}
type RowChanges = Pick<RowState, 'takenBack' | 'filled'>
type Kept = { found: FoundSheet; letGo: () => void }
/** As it was before any row was read. */
export type IndexedChain = { finalized: number; isFilled: boolean }
/** The sheet of a final block. */
type Base = FoundSheet & { block: number }
type MadeHow = { from?: Base; isNewest: boolean }
type Since = { changes: Changes; block: number; finalized: number }

export class Sheets {
  readonly #store: SheetStore
  readonly #mints: Mints
  readonly #admission: HoldingsAdmission
  /** Of the newest final blocks. */
  readonly #newest: LRUCache<string, Kept>
  /** All others: a client that asks for block after block does not push out what most clients ask for. */
  readonly #passing: LRUCache<string, Kept>
  /** The final blocks of which a subject has a sheet. */
  readonly #blocks = new Map<string, Set<number>>()
  /** The final block of which a subject's newest sheet is being made from nothing. */
  readonly #making = new Map<string, number>()
  readonly #large = new LargeSubjects()
  readonly #limits: SheetLimits

  constructor(
    store: SheetStore,
    mints: Mints,
    { admission = new HoldingsAdmission(), ...limits }: Partial<SheetLimits> & { admission?: HoldingsAdmission } = {},
  ) {
    this.#store = store
    this.#mints = mints
    this.#limits = { ...usualLimits, ...limits }
    this.#admission = admission
    const keeping = (share: number) =>
      new LRUCache<string, Kept>({
        maxSize: Math.ceil(admission.bytesMax * share),
        sizeCalculation: ({ found: { sheet, layer } }) => sheet.byteLength + (layer?.byteLength ?? 0),
        dispose: ({ letGo }, key) => {
          letGo()
          this.#forget(key)
        },
      })
    this.#newest = keeping(1)
    this.#passing = keeping(passingShare)
    admission.evict = () => (this.#passing.pop() ?? this.#newest.pop()) !== undefined
  }

  /** What is held after a block. Nothing is kept that is made of an index that is not filled. */
  async after(subject: Subject, block: number, chain: IndexedChain, request: HoldingsRequest): Promise<FoundSheet> {
    const found = await this.#after(subject, block, chain, request)
    request.hold(found.sheet)
    if (found.layer !== undefined) {
      request.holdBase(found.layer)
      request.holdBase(found.layer.base)
    }
    return found
  }

  async #after(
    subject: Subject,
    block: number,
    { finalized, isFilled }: IndexedChain,
    request: HoldingsRequest,
  ): Promise<FoundSheet> {
    const name = nameOf(subject)
    if (!isFilled) {
      const size = await this.#sizeOf(subject)
      return await this.#admission.shared(`${name} ${block} unfilled`, request, size, async work => {
        return { sheet: await this.#fold(subject, block, work), isWhole: true }
      })
    }
    const final = Math.min(block, finalized)
    const isNewest = block >= finalized
    // What another sheet is made of counts while this one waits for that.
    using older = this.#admission.request(request)
    using waiting = this.#admission.request(request)
    let base = await this.#base(subject, final, isNewest, request)
    older.hold(base.sheet)
    const isOlder = base.block < final
    let changes = await this.#changes(subject, base.block, block, isOlder ? 'finalChangesMax' : 'changesMax')
    if (changes.records === undefined && isOlder) {
      base = await this.#make(subject, final, { from: base, isNewest }, request)
      waiting.hold(base.sheet)
      older[Symbol.dispose]()
      changes = await this.#changes(subject, base.block, block)
    }
    if (changes.records?.length === 0) return base
    return await this.#over(subject, base, { changes, block, finalized }, request)
  }

  /** What happened since is laid over a sheet of final blocks, or folded with all that was before. */
  async #over(
    subject: Subject,
    base: Base,
    { changes, block, finalized }: Since,
    request: HoldingsRequest,
  ): Promise<FoundSheet> {
    const { isWhole, rows } = base
    const { records, stamp } = changes
    const name = `${nameOf(subject)} ${base.block} ${stampOf(base)} ${records === undefined ? block : stamp}`
    const known = records && this.#passing.get(name)
    if (known !== undefined) return { ...known.found, isWhole, rows }
    const isLarge = this.#large.isLarge(subject) || base.sheet.columns.length >= smallRecords
    return await this.#admission.shared(name, request, isLarge ? 'large' : 'small', async work => {
      const laid = await this.#laidOver(subject, base.sheet, changes, finalized, work)
      if (laid !== undefined) return this.#keptOver(name, { ...laid, isWhole, rows }, changes)
      const { found, attempt } = await this.#standing(subject, block, { since: { block: base.block, changes } }, work)
      // Of another branch it would be wrong.
      return isWhole && attempt === 0 ? this.#keptOver(name, found, changes) : found
    })
  }

  #keptOver(name: string, found: FoundSheet, { records }: Changes): FoundSheet {
    if (records !== undefined && found.isWhole) this.#keepIn(this.#passing, name, found)
    return found
  }

  #changes(
    subject: Subject,
    from: number,
    to: number,
    max: 'changesMax' | 'finalChangesMax' = 'changesMax',
  ): Promise<Changes> {
    return changesOf(this.#store, subject, { from: from + 1, to }, this.#limits[max])
  }

  /** The newest kept sheet that still holds. */
  async #base(subject: Subject, final: number, isNewest: boolean, request: HoldingsRequest): Promise<Base> {
    const name = nameOf(subject)
    const blocks = [...(this.#blocks.get(name) ?? [])].filter(block => block <= final).sort((a, b) => b - a)
    for (const block of blocks) {
      const key = baseKey(name, block)
      const kept = this.#newest.get(key) ?? this.#passing.get(key)
      if (kept === undefined) continue
      if (await this.#holds(subject, block, kept.found)) return { ...kept.found, block }
      this.#newest.delete(key)
      this.#passing.delete(key)
    }
    if (!isNewest) return await this.#make(subject, final, { isNewest }, request)
    // Finality moves on while a large sheet is made: another one beside it would take as long.
    const making = this.#making.get(name)
    if (making !== undefined && making <= final) return await this.#make(subject, making, { isNewest }, request)
    this.#making.set(name, final)
    try {
      return await this.#make(subject, final, { isNewest }, request)
    } finally {
      if (this.#making.get(name) === final) this.#making.delete(name)
    }
  }

  async #make(subject: Subject, block: number, how: MadeHow, request: HoldingsRequest): Promise<Base> {
    if (block < 0) return { sheet: await new SheetBuilder().finish(), isWhole: true, block: -1 }
    const size = await this.#sizeOf(subject)
    const key = baseKey(nameOf(subject), block)
    return await this.#admission.shared(key, request, size, work => this.#build(subject, block, how, work))
  }

  /** Of a contract a kept count tells it; what a token or a wallet has is known once it was read. */
  async #sizeOf(subject: Subject): Promise<WorkSize> {
    if (this.#large.isLarge(subject)) return 'large'
    if ('wallet' in subject || subject.tokenId !== undefined) return 'small'
    const { chain, contract } = subject
    return (await this.#store.transferCount({ chain, contract })) < smallRecords ? 'small' : 'large'
  }

  async #build(subject: Subject, block: number, { from, isNewest }: MadeHow, work: Work): Promise<Base> {
    const { found } = await this.#standing(subject, block, { from }, work)
    if (found.isWhole) this.#keep(subject, block, found, isNewest)
    return { ...found, block }
  }

  /**
   * Makes a sheet until the rows that it is made of stand, none of them taken away meanwhile. `since`: of what is not
   * final, where it has to be of one branch too.
   */
  async #standing(
    subject: Subject,
    block: number,
    { from, since }: { from?: Base | undefined; since?: { block: number; changes: Changes } },
    work: Work,
  ): Promise<{ found: FoundSheet; attempt: number }> {
    let stamp = since?.changes.stamp
    for (let attempt = 0; ; attempt++) {
      const rows = await this.#store.indexes.rowState(subject.chain)
      // Of many changes there is no stamp.
      const branch = since && (await OneBranch.now(this.#store, subject.chain))
      const advanced = attempt === 0 ? await this.#advanced(subject, block, from, work) : undefined
      const found = { sheet: advanced ?? (await this.#fold(subject, block, work)), isWhole: true, rows }
      const before = stamp
      if (since !== undefined) stamp = (await this.#changes(subject, since.block, block)).stamp
      const isSame = stamp === before && (branch === undefined || (await branch.stands(block)))
      if (isSame && (await this.#holds(subject, block, found))) return { found, attempt }
      // Rows that came meanwhile are in it or not: the first request did not claim them, but one that joined it may.
      const now = await this.#store.indexes.rowState(subject.chain)
      const isOnlyMore = isSame && now.takenBack === rows.takenBack
      if (isOnlyMore || attempt === attemptsMax) return { found: { sheet: found.sheet, isWhole: false }, attempt }
    }
  }

  /** A sheet of an older block with what became final since. */
  async #advanced(subject: Subject, block: number, from: Base | undefined, work: Work): Promise<Sheet | undefined> {
    // History that arrived since it was found is neither in it nor in what is read now.
    if (from === undefined || !(await this.#holds(subject, from.block, from))) return undefined
    const changes = await this.#changes(subject, from.block, block)
    return (await this.#laidOver(subject, from.sheet, changes, block, work))?.sheet
  }

  /** Undefined where the records must be folded anew, such as where there is no room for a copy beside the sheet. */
  async #laidOver(
    subject: Subject,
    base: Sheet,
    { records }: Changes,
    finalized: number,
    work: Work,
  ): Promise<Layered | undefined> {
    const copyBytes = Math.ceil(base.byteLength * copyShare)
    if (records === undefined || base.byteLength + copyBytes > work.bytesMax) return undefined
    work.hold(base)
    work.takes(copyBytes)
    const { chain } = subject
    const readMints =
      'wallet' in subject
        ? undefined
        : (ids: readonly bigint[]) => {
            const tokens = ids.map(tokenId => ({ contract: subject.contract, tokenId }))
            return this.#mints.of(chain, tokens, finalized)
          }
    const laid = await laidOver(base, foldMoves(subject, records, base.addresses), { readMints, pace: work.pace })
    if (laid === undefined) work.takes(0)
    else work.made(laid.sheet)
    return laid
  }

  #fold(subject: Subject, block: number, work: Work): Promise<Sheet> {
    const bytesMax = Math.min(this.#limits.bytesMax, work.bytesMax)
    return foldSubject(this.#store.indexes, subject, block, { large: this.#large, work, bytesMax })
  }

  /**
   * Whether a sheet still has all rows up to its block, and no others. Where none was taken away there may be more, and
   * of a contract as many as the sheet was made of are all of them.
   */
  async #holds(subject: Subject, toBlock: number, found: FoundSheet): Promise<boolean> {
    const now = await this.#store.indexes.rowState(subject.chain)
    if (now.takenBack !== found.rows?.takenBack) return false
    if (now.filled === found.rows.filled) return true
    if ('wallet' in subject || subject.tokenId !== undefined) return false
    const { chain, contract } = subject
    if ((await this.#store.transferCount({ chain, contract, toBlock })) !== found.sheet.transfers) return false
    found.rows = now
    return true
  }

  #keep(subject: Subject, block: number, found: FoundSheet, isNewest: boolean): void {
    const name = nameOf(subject)
    if (!this.#keepIn(isNewest ? this.#newest : this.#passing, baseKey(name, block), found)) return
    const blocks = this.#blocks.get(name)
    if (blocks === undefined) this.#blocks.set(name, new Set([block]))
    else blocks.add(block)
  }

  /** False where it is too large to be kept. */
  #keepIn(cache: LRUCache<string, Kept>, key: string, found: FoundSheet): boolean {
    const { sheet, layer } = found
    const held = [sheet, ...(layer ? [layer, layer.base] : [])].map(each => this.#admission.hold(each))
    const letGo = () => {
      for (const each of held) each()
    }
    cache.set(key, { found, letGo })
    if (cache.has(key)) return true
    letGo()
    return false
  }

  #forget(key: string): void {
    const [chain, subject, block, rest] = key.split(' ')
    if (rest !== undefined) return
    const name = `${chain} ${subject}`
    const blocks = this.#blocks.get(name)
    blocks?.delete(Number(block))
    if (blocks?.size === 0) this.#blocks.delete(name)
  }
}

function baseKey(name: string, block: number): string {
  return `${name} ${block}`
}

/** Differs where the rows of a sheet do. */
function stampOf({ sheet, rows }: Base): string {
  return `${rows?.takenBack} ${sheet.transfers}`
}
