// The labels of a store in memory: an immutable base, read in the background, and the prefixes of addresses whose
// labels changed since. Addresses with such a prefix are looked up until the next base has their labels. The store
// decides which label wins, not this.

import { type Log, LogThrottle } from '../log.ts'
import type { Address, ChainId } from '../model.ts'
import { oneFlight } from '../once.ts'
import type { TransferPage } from '../store/index-reader.ts'
import type { AddressRange } from '../store/label-changes.ts'
import type { Store } from '../store/store.ts'
import { findLabels, type PageLabels } from './find-labels.ts'
import { emptyBase, isCrowded, type LabelBase, LabelBaseBuilder, prefixCount } from './label-base.ts'

/**
 * A new base is made when looking up has cost as much as making it will: one look takes as long as putting this many
 * addresses into a base.
 */
const addressesPerLookUp = 64
/** How long reading waits after a failure. */
const retryAfterMs = 1_000

export type KnownLabelsOptions = {
  /**
   * By default enough for about a million and a half labels. Of those beyond only the filter knows, in at most 3 bytes
   * each: they are looked up, and with them one in 25 to 90 of the addresses without a label.
   */
  bytesMax?: number
  /** By default as many as take some milliseconds, between which the thread serves. */
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
  #base = emptyBase
  /** 1 for each prefix with changes that the base does not have. */
  #changed = new Uint8Array(prefixCount)
  /** Of these the ones that changed since the next base was begun. */
  #changedSince = new Uint8Array(prefixCount)
  #hasChanges = false
  /** How many addresses were looked up because of changes since then. */
  #lookUps = 0
  /** The revision and the version seen last, and how many changes of labels the prefixes know of. */
  #seenRevision: number | undefined
  #seenVersion: number | undefined
  #changes: number | undefined
  readonly #follow = oneFlight(() => this.#learnChanges())
  #reading: Promise<void> | undefined
  readonly #nowMs: () => number
  #retryAtMs = Number.NEGATIVE_INFINITY
  readonly #log: Log | undefined
  readonly #throttle: LogThrottle

  constructor(store: Store, revision: () => number, options: KnownLabelsOptions = {}) {
    this.#store = store
    this.#revision = revision
    this.#bytesMax = options.bytesMax ?? 128 * 1024 * 1024
    this.#addressesPerRead = options.addressesPerRead ?? 1_024
    this.#log = options.log
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#throttle = new LogThrottle(undefined, this.#nowMs)
  }

  /** Undefined where no party of the page has a label. */
  async ofPage(chain: ChainId, page: TransferPage): Promise<PageLabels | undefined> {
    const revision = this.#revision()
    if (revision !== this.#seenRevision) {
      while (this.#store.labelVersion() !== this.#seenVersion) await this.#follow()
      this.#seenRevision = revision
    }
    const changed = this.#hasChanges ? this.#changed : undefined
    if (changed === undefined && this.#base.count === 0) return undefined
    const { labels, unknown } = findLabels(page, chain, { base: this.#base, changed })
    if (unknown.size > 0) {
      for (const address of unknown.keys()) this.#lookUps += this.#changed[prefixOfText(address)]!
      this.#read()
      for (const [address, label] of await this.#store.labelsOf(chain, [...unknown.keys()])) {
        const added = labels.add(label)
        for (const place of unknown.get(address)!) labels.show(place, added)
      }
    }
    return labels.longest === 0 ? undefined : labels
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    await this.#reading
  }

  /** The memory it takes. */
  get bytes(): number {
    return this.#base.bytes
  }

  async #learnChanges(): Promise<void> {
    const version = this.#store.labelVersion()
    const { count, ranges } = await this.#store.labelChanges(this.#changes)
    for (const { first, last } of ranges)
      for (const prefixes of [this.#changed, this.#changedSince])
        prefixes.fill(1, prefixOfText(first), prefixOfText(last) + 1)
    this.#hasChanges ||= ranges.length > 0
    this.#changes = count
    this.#seenVersion = version
  }

  #isDue(): boolean {
    return this.#hasChanges && this.#lookUps * addressesPerLookUp > this.#base.count
  }

  #read(): void {
    if (this.#reading !== undefined || !this.#isDue() || this.#nowMs() < this.#retryAtMs) return
    this.#reading = this.#readChanged()
      .catch(error => {
        // Pages look labels up meanwhile. The next one that does after the wait starts to read again.
        this.#retryAtMs = this.#nowMs() + retryAfterMs
        this.#throttle.say('read', repeated => this.#log?.warn({ err: error, repeated }, 'Labels could not be read'))
      })
      .finally(() => {
        this.#reading = undefined
      })
  }

  async #readChanged(): Promise<void> {
    while (this.#isDue()) {
      this.#lookUps = 0
      this.#changedSince = new Uint8Array(prefixCount)
      const { count, lost } = this.#base
      const lostSoon = (count * this.#changed.filter(Boolean).length) / prefixCount
      if (lost + lostSoon > count / 2 || isCrowded(this.#base)) {
        // Memory would be wasted on lost records. It is freed first, and until all are read addresses are looked up.
        this.#base = emptyBase
        this.#changed.fill(1)
      }
      this.#base = await this.#nextBase()
      this.#changed = this.#changedSince
      this.#hasChanges = this.#changed.includes(1)
    }
  }

  async #nextBase(): Promise<LabelBase> {
    const builder = new LabelBaseBuilder(this.#base)
    for (let first = this.#changed.indexOf(1); first !== -1; ) {
      const end = this.#changed.indexOf(0, first)
      const last = end === -1 ? prefixCount - 1 : end - 1
      await this.#readInto(builder, { first: addressIn(first, '0'), last: addressIn(last, 'f') })
      first = this.#changed.indexOf(1, last + 1)
    }
    const steps = builder.build(this.#changed)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value
      await pause()
    }
  }

  async #readInto(builder: LabelBaseBuilder, { first, last }: AddressRange): Promise<void> {
    for (let from: Address | undefined = first; from !== undefined; ) {
      await pause()
      const labels = await this.#store.labelsWithin({ first: from, last }, this.#addressesPerRead)
      const count = builder.add(labels, this.#bytesMax)
      from = count < this.#addressesPerRead ? undefined : addressAfter(labels.at(-1)!.address)
    }
  }
}

function prefixOfText(address: Address): number {
  return Number.parseInt(address.slice(2, 6), 16)
}

/** The first or the last address with the prefix. */
function addressIn(prefix: number, digit: '0' | 'f'): Address {
  return `0x${prefix.toString(16).padStart(4, '0').padEnd(40, digit)}` as Address
}

/** Undefined after the last address. */
function addressAfter(address: Address): Address | undefined {
  const digits = (BigInt(address) + 1n).toString(16).padStart(40, '0')
  return digits.length > 40 ? undefined : (`0x${digits}` as Address)
}

function pause(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
