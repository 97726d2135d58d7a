// The labels of a store, kept in memory and kept true: read in the background piece by piece, and again where they changed. What is
// not at hand is looked up. It decides nothing: the store says who wins.

import { hexOf } from '../hex.ts'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'
import type { Store, TransferPage } from '../store/store.ts'
import { findLabels } from './find-labels.ts'
import { PageLabels } from './label-record.ts'
import { addressAfter, type LabelStretch, LabelStretches } from './label-stretches.ts'
import { LabelTable } from './label-table.ts'

/** About a million and a half. Of those beyond only a hash is kept, in 7 bytes each at most, and their texts are looked up. */
const bytesMaxDefault = 128 * 1024 * 1024
/** Read at once: some milliseconds, between which the thread serves. */
const addressesPerReadDefault = 1_024

export class KnownLabels {
  readonly #store: Store
  readonly #revision: () => number
  readonly #bytesMax: number
  readonly #addressesPerRead: number
  #table: LabelTable
  #stretches = new LabelStretches()
  /** The revision and the version that were seen last, and how many changes of labels the stretches know of. */
  #seenRevision: number | undefined
  #seenVersion: number | undefined
  #changes: number | undefined
  #following: Promise<void> | undefined
  #reading: Promise<void> | undefined

  constructor(
    store: Store,
    revision: () => number,
    { bytesMax = bytesMaxDefault, addressesPerRead = addressesPerReadDefault } = {},
  ) {
    this.#store = store
    this.#revision = revision
    this.#bytesMax = bytesMax
    this.#table = new LabelTable(bytesMax)
    this.#addressesPerRead = addressesPerRead
  }

  /** Undefined where no party of the page has a label. */
  async ofPage(chain: ChainId, page: TransferPage): Promise<PageLabels | undefined> {
    const revision = this.#revision()
    if (revision !== this.#seenRevision) {
      while (this.#store.labelVersion() !== this.#seenVersion) await this.#follow()
      this.#seenRevision = revision
    }
    const { labels, unknown } = findLabels(page, chain, { table: this.#table, stretches: this.#stretches })
    if (unknown.length === 0) return labels
    if (this.#stretches.unread !== undefined) this.#readOn()
    const parties = unknown.map(({ bytes, at, places }) => ({
      address: hexOf<Address>(bytes.subarray(at, at + 20)),
      places,
    }))
    const found = await this.#store.labelsOf(chain, [...new Set(parties.map(({ address }) => address))])
    return withFound(labels, page, parties, found)
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    await this.#reading
  }

  /** What it takes of memory. */
  get bytes(): number {
    return this.#table.bytes + this.#stretches.bytes
  }

  async #follow(): Promise<void> {
    this.#following ??= this.#learnChanges().finally(() => {
      this.#following = undefined
    })
    await this.#following
  }

  async #learnChanges(): Promise<void> {
    const version = this.#store.labelVersion()
    const { count, ranges } = await this.#store.labelChanges(this.#changes)
    this.#stretches.forget(ranges)
    if (this.#table.isWorn || this.#stretches.all.every(({ isRead }) => !isRead)) this.#startAgain()
    this.#changes = count
    this.#seenVersion = version
    this.#readOn()
  }

  #startAgain(): void {
    this.#table = new LabelTable(this.#bytesMax)
    this.#stretches = new LabelStretches()
  }

  #readOn(): void {
    // What cannot be read now is tried again with the next page that needs it.
    this.#reading ??= this.#readAll()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined
      })
  }

  async #readAll(): Promise<void> {
    for (let stretch = this.#stretches.unread; stretch !== undefined; stretch = this.#stretches.unread) {
      await pause()
      const labels = await this.#store.labelsWithin(stretch, this.#addressesPerRead)
      for (const _ of this.#table.growing(labels.length, this.#stretches.all)) await pause()
      // A stretch that changed meanwhile has become another one and is read again: nobody knows what this reading saw of the change.
      if (this.#stretches.has(stretch)) this.#take(stretch, labels)
    }
  }

  #take(stretch: LabelStretch, labels: readonly RankedLabel[]): void {
    try {
      this.#stretches.replace(stretch, this.#taken(stretch, labels))
    } catch (error) {
      // Nobody knows what the table holds of the stretch.
      this.#startAgain()
      throw error
    }
  }

  /** Takes the labels that were read of a stretch into the table. Returns the stretches that it has become. */
  #taken({ first, last, records }: LabelStretch, labels: readonly RankedLabel[]): LabelStretch[] {
    const isWhole = addressesIn(labels) < this.#addressesPerRead
    const winners = labels.filter((_, index) => mayWin(labels, index))
    // Halves, because a stretch that is full would be cut with the next label.
    const pieces = cut(winners, isWhole ? this.#addressesPerRead : Math.ceil(this.#addressesPerRead / 2))
    const taken: LabelStretch[] = []
    let from: Address | undefined = first
    let before = records
    for (const [index, piece] of pieces.entries()) {
      const to: Address = isWhole && index === pieces.length - 1 ? last : piece.at(-1)!.address
      const count = this.#table.countUpTo(to, before)
      const held = this.#table.exchange(before.subarray(0, count), piece)
      before = before.subarray(count)
      taken.push({ first: from!, last: to, isRead: true, ...held })
      from = to === last ? undefined : addressAfter(to)
    }
    if (from !== undefined) taken.push({ first: from, last, isRead: false, records: before, hashes: noHashes })
    return taken
  }
}

const noHashes = new Uint32Array(0)
const noWords = new Int32Array(0)

/** The labels of a page together with those that were looked up. */
function withFound(
  labels: PageLabels | undefined,
  page: TransferPage,
  parties: readonly { address: Address; places: readonly number[] }[],
  found: ReadonlyMap<Address, string>,
): PageLabels | undefined {
  if (found.size === 0) return labels
  const all = labels ?? new PageLabels(page.length, noWords)
  for (const { address, places } of parties) {
    const label = found.get(address)
    if (label === undefined) continue
    const added = all.add(label)
    for (const place of places) all.show(added, place)
  }
  return all
}

/** Those of one address stand together. */
function addressesIn(labels: readonly RankedLabel[]): number {
  let count = 0
  for (const [index, { address }] of labels.entries()) if (address !== labels[index - 1]?.address) count++
  return count
}

/** Whether it is shown on any chain: nothing stronger holds wherever it does. */
function mayWin(labels: readonly RankedLabel[], index: number): boolean {
  const { address, chain } = labels[index]!
  for (let before = index - 1; before >= 0 && labels[before]!.address === address; before--)
    if (labels[before]!.chain === undefined || labels[before]!.chain === chain) return false
  return true
}

/** Pieces of about this size, at least one; the labels of one address stay together. */
function cut(labels: readonly RankedLabel[], size: number): RankedLabel[][] {
  const pieces: RankedLabel[][] = [[]]
  for (const label of labels) {
    const piece = pieces.at(-1)!
    if (piece.length >= size && piece.at(-1)!.address !== label.address) pieces.push([label])
    else piece.push(label)
  }
  return pieces
}

function pause(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
