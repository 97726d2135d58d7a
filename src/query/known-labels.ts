// The labels of a store in memory: immutable tables by the first byte of the address, read in the background. A
// table in which a label changed is read again, and until then its addresses are looked up. The store decides which
// label wins, not this.

import { type Log, LogThrottle } from '../log.ts'
import type { Address, ChainId } from '../model.ts'
import type { RankedLabel } from '../store/annotation-store.ts'
import type { Store, TransferPage } from '../store/store.ts'
import { findLabels } from './find-labels.ts'
import { PageLabels } from './label-record.ts'
import { LabelFilter, type LabelTable, LabelTableBuilder, tableCount, tableOf, unreadTable } from './label-table.ts'

/**
 * About a million and a half labels. Of those beyond only a hash is kept, in at most 7 bytes each, and their texts are
 * looked up.
 */
const bytesMaxDefault = 128 * 1024 * 1024
/** Read at once: some milliseconds, between which the thread serves. */
const addressesPerReadDefault = 1_024
/** A filter that was just large enough would soon be made again. */
const filterReserve = 1.25
/** How long reading waits after a failure. */
const retryAfterMs = 1_000

export type KnownLabelsOptions = {
  bytesMax?: number
  addressesPerRead?: number
  /** Gets a line when labels cannot be read. */
  log?: Log | undefined
  nowMs?: () => number
}

export class KnownLabels {
  readonly #store: Store
  readonly #revision: () => number
  readonly #bytesMax: number
  readonly #addressesPerRead: number
  readonly #tables = new Array<LabelTable>(tableCount).fill(unreadTable)
  #filter = new LabelFilter(0)
  /** 1 for each table that has to be read. */
  readonly #stale = new Uint8Array(tableCount)
  #isEmpty = false
  /** The revision and the version seen last, and how many changes of labels the tables know of. */
  #seenRevision: number | undefined
  #seenVersion: number | undefined
  #changes: number | undefined
  #following: Promise<void> | undefined
  #reading: Promise<void> | undefined
  readonly #nowMs: () => number
  #retryAtMs = Number.NEGATIVE_INFINITY
  readonly #log: Log | undefined
  readonly #throttle: LogThrottle

  constructor(store: Store, revision: () => number, options: KnownLabelsOptions = {}) {
    const { bytesMax = bytesMaxDefault, addressesPerRead = addressesPerReadDefault } = options
    const { log, nowMs = () => performance.now() } = options
    this.#store = store
    this.#revision = revision
    this.#bytesMax = bytesMax
    this.#addressesPerRead = addressesPerRead
    this.#nowMs = nowMs
    this.#log = log
    this.#throttle = new LogThrottle(undefined, nowMs)
  }

  /** Undefined where no party of the page has a label. */
  async ofPage(chain: ChainId, page: TransferPage): Promise<PageLabels | undefined> {
    const revision = this.#revision()
    if (revision !== this.#seenRevision) {
      while (this.#store.labelVersion() !== this.#seenVersion) await this.#follow()
      this.#seenRevision = revision
    }
    if (this.#isEmpty) return undefined
    const { labels, unknown } = findLabels(page, chain, { filter: this.#filter, tables: this.#tables })
    if (unknown.size === 0) return labels
    this.#read()
    const found = await this.#store.labelsOf(chain, [...unknown.keys()])
    if (found.size === 0) return labels
    const all = labels ?? new PageLabels(page.length)
    for (const [address, label] of found) {
      const added = all.addText(label)
      for (const place of unknown.get(address)!) all.shown[place] = added
    }
    return all
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    await this.#reading
  }

  /** The memory it takes. */
  get bytes(): number {
    let sum = this.#filter.words.byteLength
    for (const { bytes } of this.#tables) sum += bytes
    return sum
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
    for (const { first, last } of ranges)
      for (let index = tableOfAddress(first); index <= tableOfAddress(last); index++) {
        this.#stale[index] = 1
        this.#put(index, unreadTable)
      }
    this.#changes = count
    this.#seenVersion = version
    this.#read()
  }

  #read(): void {
    if (this.#reading !== undefined || this.#nowMs() < this.#retryAtMs) return
    this.#reading = this.#readStale()
      .catch(error => this.#readFailed(error))
      .finally(() => {
        this.#reading = undefined
      })
  }

  /** Pages look labels up meanwhile. The next one that does after the wait starts to read again. */
  #readFailed(error: unknown): void {
    this.#retryAtMs = this.#nowMs() + retryAfterMs
    this.#throttle.say('read', repeated => this.#log?.warn({ err: error, repeated }, 'Labels could not be read'))
  }

  async #readStale(): Promise<void> {
    for (let index = this.#stale.indexOf(1); index !== -1; index = this.#stale.indexOf(1)) {
      this.#stale[index] = 0
      try {
        const table = await this.#readTable(index)
        const count = this.#tables.reduce((sum, other) => sum + other.count, table.count)
        if (count > this.#filter.countMax) await this.#growFilter(count)
        // A change that arrived meanwhile made the table stale again: what was read may hold a part of it.
        if (this.#stale[index] === 0) this.#put(index, table)
      } catch (error) {
        this.#stale[index] = 1
        throw error
      }
    }
  }

  async #readTable(index: number): Promise<LabelTable> {
    const builder = new LabelTableBuilder()
    const otherBytes = this.bytes
    for (let from: Address | undefined = addressIn(index, '0'); from !== undefined; ) {
      await pause()
      const range = { first: from, last: addressIn(index, 'f') }
      const labels = await this.#store.labelsWithin(range, this.#addressesPerRead)
      const byAddress = Map.groupBy(labels, ({ address }) => address)
      for (const ofAddress of byAddress.values())
        builder.add(ofAddress.filter(mayWin), otherBytes + builder.bytes < this.#bytesMax)
      from = byAddress.size < this.#addressesPerRead ? undefined : addressAfter(labels.at(-1)!.address)
    }
    const steps = builder.build()
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value
      await pause()
    }
  }

  #put(index: number, table: LabelTable): void {
    this.#tables[index] = table
    this.#filter.set(index, table)
    this.#isEmpty = this.#tables.every(({ isRead, count }) => isRead && count === 0)
  }

  async #growFilter(count: number): Promise<void> {
    const filter = new LabelFilter(count * filterReserve)
    for (const [index, table] of this.#tables.entries()) {
      filter.set(index, table)
      await pause()
    }
    // Labels may have changed meanwhile.
    for (const [index, table] of this.#tables.entries()) if (!table.isRead) filter.set(index, table)
    this.#filter = filter
  }
}

/** Whether it is shown on any chain: no stronger label of the address covers its chain. */
function mayWin({ chain }: RankedLabel, index: number, labels: readonly RankedLabel[]): boolean {
  return !labels.slice(0, index).some(before => before.chain === undefined || before.chain === chain)
}

function tableOfAddress(address: Address): number {
  return tableOf(Number.parseInt(address.slice(2, 4), 16))
}

/** The first or the last address of a table. */
function addressIn(table: number, digit: '0' | 'f'): Address {
  const perTable = 256 / tableCount
  const byte = table * perTable + (digit === '0' ? 0 : perTable - 1)
  return `0x${byte.toString(16).padStart(2, '0').padEnd(40, digit)}` as Address
}

/** Undefined after the last address. */
function addressAfter(address: Address): Address | undefined {
  const digits = (BigInt(address) + 1n).toString(16).padStart(40, '0')
  return digits.length > 40 ? undefined : (`0x${digits}` as Address)
}

function pause(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
