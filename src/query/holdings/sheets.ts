// Keeps sheets in memory: one of final blocks for each subject, brought up to a block with what happened since.
// Requests for the same sheet share its building. It judges no completeness.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Block, ChainId, Interval } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import type { ChainReader, TransferReader } from '../../store/store.ts'
import { type Changes, changesOf } from './changes.ts'
import { FoldTurns, foldSubject } from './fold-subject.ts'
import type { Mints } from './mints.ts'
import { patchedSheet } from './patch-sheet.ts'
import { patchedWallet } from './patch-wallet.ts'
import type { Sheet } from './sheet.ts'
import { SheetBuilder } from './sheet-builder.ts'
import type { Subject } from './subject.ts'

export type SheetLimits = {
  /** The largest collections have some three million holders, whose sheet takes 200 MB; most take less than one. */
  bytesMax: number
  /** Putting this many on top takes some 20 ms; beyond it a sheet of a newer block is made. */
  changesMax: number
  /** What is read again for every request stays small: 1 ms. */
  finalChangesMax: number
}
const usualLimits: SheetLimits = { bytesMax: 256 * 2 ** 20, changesMax: 5_000, finalChangesMax: 200 }
const attemptsMax = 3

export type SheetStore = TransferReader & Pick<ChainReader, 'hotBlocks' | 'lowestBlock'>

export type FoundSheet = {
  sheet: Sheet
  /** False where rows of final blocks came or went while it was made: some may be missing, or be there too much. */
  isWhole: boolean
  /** The count of what was taken away when it was as it is; undefined where nothing final is in it. */
  takenBack: number | undefined
  /** The sheet that it was made of, and the tokens that moved since. */
  patch?: SheetPatch | undefined
}
export type SheetPatch = { base: Sheet; tokenIds: readonly bigint[] }
type Kept = { sheet: Sheet; stamp: string; patch?: SheetPatch | undefined }
/** As it was before any row was read. */
export type IndexedChain = { finalized: number; isFilled: boolean }
type Base = FoundSheet & { block: number; stamp: string }

export class Sheets {
  readonly #store: SheetStore
  readonly #indexes: IndexReader
  readonly #mints: Mints
  readonly #kept: LRUCache<string, Kept>
  /** The final blocks of which a subject has a sheet. */
  readonly #blocks = new Map<string, Set<number>>()
  /** The final block of which a subject's newest sheet is being made from nothing. */
  readonly #making = new Map<string, number>()
  readonly #turns = new FoldTurns()
  readonly #building = new Map<string, Promise<FoundSheet>>()
  readonly #limits: SheetLimits

  constructor(store: SheetStore, indexes: IndexReader, mints: Mints, limits: Partial<SheetLimits> = {}) {
    this.#store = store
    this.#indexes = indexes
    this.#mints = mints
    this.#limits = { ...usualLimits, ...limits }
    this.#kept = new LRUCache({
      maxSize: this.#limits.bytesMax,
      sizeCalculation: ({ sheet }) => sheet.byteLength,
      dispose: (_, key) => this.#forget(key),
    })
  }

  /** What is held after a block. Nothing is kept that is made of an index that is not filled. */
  async after(subject: Subject, block: number, { finalized, isFilled }: IndexedChain): Promise<FoundSheet> {
    const name = nameOf(subject)
    if (!isFilled)
      return await this.#shared(`${name} ${block} unfilled`, async () => {
        return { sheet: await this.#fold(subject, block), isWhole: true, takenBack: undefined }
      })
    const final = Math.min(block, finalized)
    let base = await this.#base(subject, final, block >= finalized)
    let changes = await this.#changes(subject, base.block, block)
    const isFar = changes.more || (changes.list?.length ?? 0) > this.#limits.finalChangesMax
    if (isFar && base.block < final) {
      base = await this.#make(subject, final, base)
      changes = await this.#changes(subject, base.block, block)
    }
    if (!changes.more && changes.bytes.length === 0) return base
    const stamp = changes.more ? '' : hash('sha256', changes.bytes, 'base64')
    const key = `${name} ${base.block} ${base.stamp} ${changes.more ? block : stamp}`
    const known = changes.more ? undefined : this.#kept.get(key)
    const { isWhole, takenBack } = base
    if (known !== undefined) return { ...known, isWhole, takenBack }
    return await this.#shared(key, async () => {
      const patched = await this.#patched(subject, base.sheet, changes, finalized)
      const patch = patched && { base: base.sheet, tokenIds: [...new Set(changes.list!.map(({ tokenId }) => tokenId))] }
      const found = patched && { sheet: patched, isWhole, takenBack, patch, isOther: false }
      const made = found ?? (await this.#folded(subject, { from: base.block, to: block }, changes))
      // It must not push out the base, which takes longer to make, and of another branch it would be wrong.
      const isSmall = base.sheet.byteLength + made.sheet.byteLength <= this.#limits.bytesMax
      if (isWhole && made.isWhole && isSmall && !changes.more && !made.isOther)
        this.#kept.set(key, { sheet: made.sheet, stamp, patch: made.patch })
      return made
    })
  }

  #changes(subject: Subject, from: number, to: number): Promise<Changes> {
    const store = { indexes: this.#indexes, transfers: this.#store }
    return changesOf(store, subject, { from: from + 1, to }, this.#limits.changesMax)
  }

  /** The newest kept sheet that still holds. */
  async #base(subject: Subject, final: number, isNewest: boolean): Promise<Base> {
    const name = nameOf(subject)
    const blocks = [...(this.#blocks.get(name) ?? [])].filter(block => block <= final).sort((a, b) => b - a)
    for (const block of blocks) {
      const kept = this.#kept.get(baseKey(name, block))
      if (kept === undefined) continue
      if (kept.stamp === (await this.#stamp(subject, block))) return baseOf(kept, block)
      this.#kept.delete(baseKey(name, block))
    }
    if (!isNewest) return await this.#make(subject, final)
    // Finality moves on while a large sheet is made: another one beside it would take as long.
    const making = this.#making.get(name)
    if (making !== undefined && making <= final) return await this.#make(subject, making)
    this.#making.set(name, final)
    try {
      return await this.#make(subject, final)
    } finally {
      if (this.#making.get(name) === final) this.#making.delete(name)
    }
  }

  async #make(subject: Subject, block: number, from?: Base): Promise<Base> {
    const empty = { isWhole: true, takenBack: undefined, block: -1, stamp: 'empty' }
    if (block < 0) return { ...empty, sheet: await new SheetBuilder().finish() }
    const key = baseKey(nameOf(subject), block)
    return await this.#shared(key, () => this.#build(subject, block, from))
  }

  async #build(subject: Subject, block: number, from: Base | undefined): Promise<Base> {
    const name = nameOf(subject)
    let stamp = await this.#stamp(subject, block)
    for (let attempt = 0; ; attempt++) {
      const sheet =
        (attempt === 0 && (await this.#advanced(subject, block, from))) || (await this.#fold(subject, block))
      const now = await this.#stamp(subject, block)
      if (now === stamp) {
        this.#keep(name, block, { sheet, stamp })
        return baseOf({ sheet, stamp }, block)
      }
      // Rows that came meanwhile are in it or not: the first request did not claim them, but one that joined it may.
      const isOnlyMore = takenBackOf(now) === takenBackOf(stamp)
      if (isOnlyMore || attempt === attemptsMax)
        return { ...baseOf({ sheet, stamp }, block), isWhole: false, stamp: '' }
      stamp = now
    }
  }

  /** A sheet of an older block with what became final since. */
  async #advanced(subject: Subject, block: number, from: Base | undefined): Promise<Sheet | undefined> {
    if (from === undefined || !from.isWhole) return undefined
    // History that arrived since it was found is neither in it nor in what is read now.
    if (from.stamp !== (await this.#stamp(subject, from.block))) return undefined
    const changes = await this.#changes(subject, from.block, block)
    return changes.more || changes.list === undefined
      ? undefined
      : await this.#patched(subject, from.sheet, changes, block)
  }

  async #patched(subject: Subject, sheet: Sheet, { list }: Changes, finalized: number): Promise<Sheet | undefined> {
    if (list === undefined) return undefined
    if ('wallet' in subject) return await patchedWallet(sheet, list)
    const { chain, contract } = subject
    const ofTokens = (ids: readonly bigint[]) => ids.map(tokenId => ({ contract, tokenId }))
    return await patchedSheet(sheet, list, ids => this.#mints.of(chain, ofTokens(ids), finalized))
  }

  /** As of a block that is not final: a reorganisation while it is read would mix two branches. */
  async #folded(subject: Subject, { from, to }: Interval, before: Changes): Promise<FoundSheet & { isOther: boolean }> {
    for (let attempt = 0; ; attempt++) {
      const stamp = await this.#stamp(subject, to)
      // Of many changes there are no bytes to compare: while the newest block stays, those below it do.
      const newest = (await this.#store.hotBlocks(subject.chain)).findLast(({ number }) => number <= to)
      const sheet = await this.#fold(subject, to)
      const after = await this.#changes(subject, from, to)
      const isSame = stamp === (await this.#stamp(subject, to)) && (await this.#isStored(subject.chain, newest))
      const isWhole = isSame && after.bytes.equals(before.bytes)
      if (isWhole || attempt === attemptsMax)
        return { sheet, isWhole, takenBack: takenBackOf(stamp), isOther: attempt > 0 }
      before = after
    }
  }

  async #isStored(chain: ChainId, block: Block | undefined): Promise<boolean> {
    if (block === undefined) return true
    return (await this.#store.lowestBlock(chain, { from: block.number, to: block.number }))?.hash === block.hash
  }

  #fold(subject: Subject, block: number): Promise<Sheet> {
    return foldSubject(this.#indexes, subject, block, { turns: this.#turns, bytesMax: 4 * this.#limits.bytesMax })
  }

  /** Changes where final rows up to a block do. Begins with the count of what was taken away. */
  async #stamp(subject: Subject, toBlock: number): Promise<string> {
    const { takenBack, filled } = await this.#indexes.rowChanges(subject.chain)
    if ('wallet' in subject) return `${takenBack} ${filled}`
    const { chain, contract } = subject
    return `${takenBack} ${await this.#store.transferCount({ chain, contract, toBlock })}`
  }

  async #shared<Found extends FoundSheet>(key: string, build: () => Promise<Found>): Promise<Found> {
    const running = this.#building.get(key)
    // What is built for a key is always the same kind.
    if (running !== undefined) return (await running) as Found
    const building = build().finally(() => this.#building.delete(key))
    this.#building.set(key, building)
    return await building
  }

  #keep(name: string, block: number, kept: Kept): void {
    this.#kept.set(baseKey(name, block), kept)
    if (!this.#kept.has(baseKey(name, block))) return
    const blocks = this.#blocks.get(name)
    if (blocks === undefined) this.#blocks.set(name, new Set([block]))
    else blocks.add(block)
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

function nameOf(subject: Subject): string {
  if ('wallet' in subject) return `${subject.chain} wallet:${subject.wallet}`
  return `${subject.chain} ${subject.contract}${subject.tokenId === undefined ? '' : `:${subject.tokenId}`}`
}

function baseKey(name: string, block: number): string {
  return `${name} ${block}`
}

function baseOf({ sheet, stamp }: Kept, block: number): Base {
  return { sheet, isWhole: true, takenBack: takenBackOf(stamp), block, stamp }
}

function takenBackOf(stamp: string): number {
  return Number(stamp.split(' ')[0])
}
