// Sees to it that one process at a time indexes a chain: whoever holds the chain's lease runs the indexer, the others stand by and
// take over when it lapses. A store that only one process may own needs none of this.
import { randomUUID } from 'node:crypto'
import { pause } from '../../abort.ts'
import { isCovered } from '../../coverage.ts'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { ChainId } from '../../model.ts'
import type { Lease, Store } from '../../store/store.ts'
import { earlyCollectionsVersion } from '../decode/token-events.ts'
import type { ChainIndexer, ChainSetup } from './chain-indexer.ts'

export type LeasedIndexerOptions = {
  setup: ChainSetup
  store: Store
  log: Log
  makeIndexer: (store: Store) => ChainIndexer
  /** How long a silent holder keeps the chain. */
  leaseMs?: number
}

const renewalsPerLease = 4

export class LeasedIndexer {
  readonly #options: LeasedIndexerOptions
  readonly #holder = randomUUID()
  readonly #stopping = new AbortController()
  readonly #leaseMs: number
  #indexer: ChainIndexer | undefined
  #lease: Lease | undefined
  #keeping: Promise<void> = Promise.resolve()

  constructor(options: LeasedIndexerOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? 10_000
  }

  /** Undefined while another process has the chain. */
  get indexer(): ChainIndexer | undefined {
    return this.#indexer
  }

  start(): void {
    this.#keeping = this.#keep()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#keeping
    await this.#indexer?.stop()
    this.#indexer = undefined
    // So that another one need not wait for it to lapse. Where that fails, it lapses.
    if (this.#lease !== undefined) await this.#options.store.release(this.#lease).catch(() => {})
  }

  /** As the indexer reports, or as far as the store shows what another process does. */
  async status() {
    if (this.#indexer !== undefined) return await this.#indexer.status()
    const { setup, store } = this.#options
    const state = await store.chainState(setup.chain.id)
    const covered = (await store.coverageByScope(setup.chain.id)).flatMap(({ scope, intervals }) =>
      intervals.map(interval => ({ ...interval, scope })),
    )
    const head = state?.head.number ?? -1
    const full = covered.filter(({ scope }) => scope === 'full')
    const complete =
      head >= setup.from && (setup.index === 'on-demand' || isCovered(full, { from: setup.from, to: head }))
    return {
      state: complete ? 'live' : 'backfilling',
      head,
      finalized: state?.finalized ?? -1,
      lag_seconds: 0,
      covered,
      complete,
      eta_seconds: null,
      rates: null,
      blocks_left: 0,
      index: setup.index,
      from: setup.from,
      early_collections: earlyCollectionsVersion,
      standby: true,
      rpc: [],
    } as const
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping
    const { setup, store, log } = this.#options
    const name = `index/${setup.chain.id}`
    let heldUntilMs = 0
    while (!signal.aborted) {
      const askedMs = performance.now()
      try {
        const lease = await store.claim(name, this.#holder, this.#leaseMs)
        if (lease === undefined) heldUntilMs = 0
        else {
          heldUntilMs = askedMs + this.#leaseMs
          await this.#hold(lease)
        }
      } catch (error) {
        log.debug(`The lease of ${setup.chain.name} could not be renewed: ${messageOf(error)}`)
      }
      if (performance.now() >= heldUntilMs) await this.#letGo()
      await pause(this.#leaseMs / renewalsPerLease, signal)
    }
  }

  async #hold(lease: Lease): Promise<void> {
    // Another token means that somebody else had the chain in between: what the indexer remembers is no longer so.
    if (this.#lease !== undefined && this.#lease.token !== lease.token) await this.#letGo()
    if (this.#indexer !== undefined) return
    this.#lease = lease
    this.#indexer = this.#options.makeIndexer(fencedStore(this.#options.store, lease))
    this.#indexer.start()
  }

  async #letGo(): Promise<void> {
    const indexer = this.#indexer
    this.#indexer = undefined
    this.#lease = undefined
    if (indexer === undefined) return
    this.#options.log.warn(
      { chain: this.#options.setup.chain.name },
      'Another process indexes this chain now; standing by.',
    )
    await indexer.stop()
  }
}

// A store whose writes hold only as long as a lease does: whoever was paused and wakes up cannot write over a successor.

/** Reads as the store does, writes under the lease. */
export function fencedStore(store: Store, lease: Lease): Store {
  return { ...store, ...store.fenced(lease) }
}

/**
 * Takes a chain for as long as a command runs, with a store that writes under the lease. Undefined while another process
 * indexes the chain.
 */
export async function leaseChain(
  store: Store,
  { chain, holder, leaseMs }: { chain: ChainId; holder: string; leaseMs: number },
): Promise<{ store: Store; release: () => Promise<void> } | undefined> {
  const name = `index/${chain}`
  const lease = await store.claim(name, holder, leaseMs)
  if (lease === undefined) return undefined
  // A renewal that fails shows in the next write, which the fence refuses once the lease is lost.
  const timer = setInterval(() => void store.claim(name, holder, leaseMs).catch(() => {}), leaseMs / 4)
  return {
    store: fencedStore(store, lease),
    release: async () => {
      clearInterval(timer)
      await store.release(lease)
    },
  }
}
