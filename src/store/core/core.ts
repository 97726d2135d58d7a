// What the parts of the core share: where runs are written to, the mirrors of recent blocks, the numbers of chains and
// contracts, and how much is done at once.
import type { ChainId } from '../../model.ts'
import { recordsWorthMerging, runsPerMerge } from '../runs/merge.ts'
import { Dictionary } from './dictionary.ts'
import { Mirrors } from './mirror.ts'
import type { RunPlace } from './runs.ts'
import { findSlots, inShardOrder, type Slots } from './slots.ts'
import { type Engine, rows, type Work } from './work.ts'

/** Tests have other numbers. */
export type CoreOptions = {
  runsPerMerge: number
  recordsWorthMerging: number
  /** Final blocks are folded when they take this much memory, or are this many. */
  foldBytes: number
  foldBlocks: number
  /** How many a walk over whole runs opens in one transaction: some tens of milliseconds. */
  packsPerStep: number
  /** For how long blocks that a reorganisation replaced are kept; 0 keeps none. */
  goneKeptMs: number
}

const usual: CoreOptions = {
  ...{ runsPerMerge, recordsWorthMerging },
  ...{ foldBytes: 2 ** 20, foldBlocks: 1_024, packsPerStep: 2_000 },
  goneKeptMs: 7 * 86_400_000,
}

export class Core {
  readonly engine: Engine
  readonly options: CoreOptions
  readonly dictionary: Dictionary
  readonly mirrors: Mirrors
  #slots: Slots | undefined

  constructor(engine: Engine, options: Partial<CoreOptions> = {}, mirrors = new Mirrors()) {
    this.engine = engine
    this.options = { ...usual, ...options }
    this.dictionary = new Dictionary(engine)
    this.mirrors = mirrors
  }

  /** The same store on another engine. */
  on(engine: Engine): Core {
    return new Core(engine, this.options, this.mirrors)
  }

  /** A read of a chain; `none` where the store does not know it. */
  ofChain<T>(chain: ChainId, none: T, work: (ordinal: number) => Work<T>): Promise<T> {
    const { dictionary } = this
    return this.engine.read(function* () {
      const ordinal = yield* dictionary.ordinalOf(chain)
      return ordinal === undefined ? none : yield* work(ordinal)
    })
  }

  /** Read once: the slots of a store never change. */
  *slots(): Work<Slots> {
    this.#slots ??= inShardOrder(yield* rows(findSlots))
    return this.#slots
  }

  *place(): Work<RunPlace> {
    return { slots: yield* this.slots(), packBytesOf: view => this.engine.packBytesOf(view) }
  }
}
