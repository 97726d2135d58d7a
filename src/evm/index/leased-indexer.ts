// Runs a chain's indexer in one process at a time: the process that holds the chain's lease indexes, the others stand
// by and take over when it lapses. A store that only one process can own does not need it.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { pause } from '../../abort.ts'
import { isCovered, shownCoverage, wholeCoverage } from '../../coverage.ts'
import { messageOf } from '../../errors.ts'
import { headAge, usualBlockTime } from '../../head-age.ts'
import { ledgerId } from '../../ledgers.ts'
import type { Log } from '../../log.ts'
import { type ChainId, chainScopes } from '../../model.ts'
import type { TokenLedgerStatus } from '../../status.ts'
import type { Lease, Store } from '../../store/store.ts'
import { wholeScopeOf } from '../../views.ts'
import { earlyCollectionsVersion } from '../decode/token-events.ts'
import type { ChainSetup } from './chain-indexer.ts'
import type { ChainLedgers } from './chain-ledgers.ts'
import { shownViews } from './chain-status.ts'

export type LeasedIndexerOptions = {
  setup: ChainSetup
  store: Store
  log: Log
  makeLedgers: (store: Store) => ChainLedgers
  /** How long a silent holder keeps the chain. */
  leaseMs?: number
}

const renewalsPerLease = 4

export class LeasedIndexer {
  readonly #options: LeasedIndexerOptions
  readonly #holder = leaseHolder()
  readonly #stopping = new AbortController()
  readonly #leaseMs: number
  readonly #standsBySinceMs = performance.now()
  #ledgers: ChainLedgers | undefined
  #lease: Lease | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: LeasedIndexerOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? 10_000
  }

  /** Undefined while another process has the chain. */
  get ledgers(): ChainLedgers | undefined {
    return this.#ledgers
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#ledgers?.stop()
    this.#ledgers = undefined
    // So that another process need not wait for it to lapse. If that fails, it lapses.
    if (this.#lease !== undefined) await this.#options.store.release(this.#lease).catch(() => {})
  }

  /** As the indexers report, or as far as the store shows what another process does. */
  async status() {
    if (this.#ledgers !== undefined) return await this.#ledgers.status()
    const { setup, store } = this.#options
    const { index, from, chain, views } = setup
    const state = await store.chainState(chain.id)
    const covered = await store.coverage(chain.id, chainScopes)
    const head = state?.head.number ?? -1
    const whole = wholeCoverage(covered, wholeScopeOf(views))
    const followingSeconds = (performance.now() - this.#standsBySinceMs) / 1_000
    const complete = head >= from && (index === 'on-demand' || isCovered(whole, { from, to: head }))
    return {
      state: complete ? 'live' : 'backfilling',
      head,
      finalized: state?.finalized ?? -1,
      lag_seconds: 0,
      following_seconds: Math.floor(followingSeconds),
      ...headAge(chain, { head: state?.head, blockTimeSeconds: usualBlockTime(chain, []), followingSeconds }),
      covered: shownCoverage(covered),
      complete,
      eta_seconds: null,
      rates: null,
      blocks_left: 0,
      index,
      ...(await shownViews(setup, store)),
      from,
      early_collections: earlyCollectionsVersion,
      ...(await this.#tokensElsewhere()),
      standby: true,
      rpc: [],
    } as const
  }

  /** What the store shows of the ledger of tokens. */
  async #tokensElsewhere(): Promise<{ erc20?: TokenLedgerStatus }> {
    const { setup, store } = this.#options
    const state = await store.chainState(ledgerId(setup.chain.id, 'erc20'))
    if (state === undefined) return {}
    return { erc20: { state: 'live', head: state.head.number, complete: true, eta_seconds: null } }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { setup, store, log } = this.#options
    let heldUntilMs = 0
    while (!signal.aborted) {
      const askedMs = performance.now()
      try {
        const lease = await store.claim(leaseName(setup.chain.id), this.#holder, this.#leaseMs)
        if (lease === undefined) heldUntilMs = 0
        else {
          heldUntilMs = askedMs + this.#leaseMs
          await this.#hold(lease)
        }
      } catch (error) {
        log.debug({ chain: setup.chain.name, reason: messageOf(error) }, 'Lease renewal failed')
      }
      if (performance.now() >= heldUntilMs) await this.#letGo()
      await pause(this.#leaseMs / renewalsPerLease, signal)
    }
  }

  async #hold(lease: Lease): Promise<void> {
    // A new token means that another process had the chain in between: what the indexer remembers is out of date.
    if (this.#lease !== undefined && this.#lease.token !== lease.token) await this.#letGo()
    if (this.#ledgers !== undefined) return
    this.#lease = lease
    this.#ledgers = this.#options.makeLedgers(fencedStore(this.#options.store, lease))
    this.#ledgers.start()
  }

  async #letGo(): Promise<void> {
    const ledgers = this.#ledgers
    this.#ledgers = undefined
    this.#lease = undefined
    if (ledgers === undefined) return
    this.#options.log.warn({ chain: this.#options.setup.chain.name }, 'Lease lost to another process; standing by')
    await ledgers.stop()
  }
}

/** Readable in the table of leases: which process of which machine. */
export function leaseHolder(): string {
  return `${hostname()} ${process.pid} ${randomUUID()}`
}

function leaseName(chain: ChainId): string {
  return `index/${chain}`
}

/** Writes only while the lease holds: a process that was paused cannot write over its successor. */
export function fencedStore(store: Store, lease: Lease): Store {
  return { ...store, ...store.fenced(lease) }
}

/** Leases a chain while a command runs, with a fenced store. Undefined while another process indexes the chain. */
export async function leaseChain(
  store: Store,
  { chain, holder, leaseMs }: { chain: ChainId; holder: string; leaseMs: number },
): Promise<{ store: Store; release: () => Promise<void> } | undefined> {
  const claim = () => store.claim(leaseName(chain), holder, leaseMs)
  const lease = await claim()
  if (lease === undefined) return undefined
  // A renewal that fails shows in the next write, which the fence refuses once the lease is lost.
  const timer = setInterval(() => void claim().catch(() => {}), leaseMs / renewalsPerLease)
  return {
    store: fencedStore(store, lease),
    release: async () => {
      clearInterval(timer)
      await store.release(lease)
    },
  }
}
