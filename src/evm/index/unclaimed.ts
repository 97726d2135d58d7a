// Remembers which hot blocks were stored while the chain was disputed, across restarts as well: their rows are served,
// and claimed when the dispute ends. It does not decide when that is.
import { weakestOf } from '../../coverage.ts'
import { type ChainId, type CoverageScope, type CoveredInterval, chainScopes } from '../../model.ts'
import { unclaimedCheckpoint } from '../../store/checkpoint-names.ts'
import type { Store } from '../../store/store.ts'

export type UnclaimedOptions = { store: Store; chain: ChainId; scope: CoverageScope }

export class Unclaimed {
  readonly #options: UnclaimedOptions
  #interval: CoveredInterval | undefined

  constructor(options: UnclaimedOptions) {
    this.#options = options
  }

  /** The first of them; beyond every block if there is none. */
  get from(): number {
    return this.#interval?.from ?? Infinity
  }

  /** `tip` is the highest stored block: a process may have ended between the mark and the commit. */
  async load(tip: number): Promise<void> {
    await this.#forgetOtherModes()
    const known = await this.#options.store.checkpoint(this.#name)
    if (!known) return
    this.#interval = JSON.parse(known) as CoveredInterval
    await this.keepUpTo(tip)
  }

  /** Blocks that another mode marked are followed by this one from here on: it may replace them with what it reads. */
  async #forgetOtherModes(): Promise<void> {
    const { store, chain, scope } = this.#options
    for (const other of chainScopes)
      if (other !== scope && (await store.checkpoint(unclaimedCheckpoint(chain, other))))
        await store.putCheckpoint(unclaimedCheckpoint(chain, other), '')
  }

  /** To be called before the blocks are stored: rows with neither a claim nor a mark are never replaced. */
  async add({ from, to, evidence }: CoveredInterval): Promise<void> {
    const known = this.#interval
    await this.#keep(
      known === undefined
        ? { from, to, evidence }
        : { from: known.from, to, evidence: weakestOf(known.evidence, evidence) },
    )
  }

  /** Forgets what is above a block. */
  async keepUpTo(block: number): Promise<void> {
    const known = this.#interval
    if (known !== undefined && known.to > block)
      await this.#keep(known.from > block ? undefined : { ...known, to: block })
  }

  async claim(): Promise<void> {
    const { store, chain, scope } = this.#options
    if (this.#interval === undefined) return
    await store.addCoverage(chain, scope, this.#interval)
    await this.#keep(undefined)
  }

  async #keep(interval: CoveredInterval | undefined): Promise<void> {
    await this.#options.store.putCheckpoint(this.#name, interval === undefined ? '' : JSON.stringify(interval))
    this.#interval = interval
  }

  /** Of the mode in which they were stored: another one reads other rows. */
  get #name(): string {
    return unclaimedCheckpoint(this.#options.chain, this.#options.scope)
  }
}
