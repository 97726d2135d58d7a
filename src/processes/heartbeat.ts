// How the processes that index fare, told through the store: each writes its own report, and any can read all of them.

import { pause } from '../abort.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ChainId, ChainStatus, SolanaStatus, StatusReport } from '../model.ts'
import type { Store, WorkStore } from '../store/store.ts'

/** Without the covered intervals, which anyone can read from the store. */
type ReportedChain = Omit<ChainStatus, 'covered'> & { chain_id: ChainId; standby?: boolean }

export type Report = {
  chains: Record<string, ReportedChain>
  solana: Record<string, SolanaStatus>
  /** The work that the process takes from others. */
  topics: readonly string[]
}

const beatMs = 1_000
/** A process that was silent for longer is not counted on. */
const silentMsMax = 5_000

export class Heartbeat {
  readonly #store: WorkStore
  readonly #process: string
  readonly #stopping = new AbortController()
  readonly #beating: Promise<void>

  constructor(
    store: WorkStore,
    { process, report, log }: { process: string; report: () => Promise<Report>; log: Log },
  ) {
    this.#store = store
    this.#process = process
    this.#beating = this.#beat(report, log)
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#beating
    // Where that fails the others see its age.
    await this.#store.putHeartbeat(this.#process, undefined).catch(() => {})
  }

  async #beat(report: () => Promise<Report>, log: Log): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#store.putHeartbeat(this.#process, JSON.stringify(await report()))
      } catch (error) {
        log.debug(`How the indexers fare cannot be written to the store: ${messageOf(error)}`)
      }
      await pause(beatMs, signal)
    }
  }
}

/** Reads reports of others, at most every half second however often it is asked. */
export class Reports {
  readonly #store: Store
  #known: { askedMs: number; beats: Promise<readonly { ageMs: number; report: Report }[]> } | undefined

  constructor(store: Store) {
    this.#store = store
  }

  /** Whether some process takes work of this topic. */
  async serves(topic: string): Promise<boolean> {
    const beats = await this.#beats()
    return beats.some(({ ageMs, report }) => ageMs < silentMsMax && report.topics.includes(topic))
  }

  /**
   * Of each chain what the process says that indexes it, or else one that stands by. A report that gets old counts as lag: nobody
   * knows how far the chain went on.
   */
  async status(): Promise<StatusReport> {
    const chains: Record<string, ChainStatus> = {}
    const solana: Record<string, SolanaStatus> = {}
    const standby = new Set<string>()
    for (const { ageMs, report } of await this.#beats()) {
      const silentSeconds = ageMs < silentMsMax ? 0 : Math.round(ageMs / 1_000)
      for (const [name, { chain_id, ...reported }] of Object.entries(report.chains)) {
        const isBetter = chains[name] === undefined || (standby.has(name) && reported.standby !== true)
        if (!isBetter) continue
        if (reported.standby === true) standby.add(name)
        else standby.delete(name)
        chains[name] = { ...aged(reported, silentSeconds), covered: await this.#covered(chain_id) }
      }
      for (const [name, reported] of Object.entries(report.solana)) solana[name] ??= aged(reported, silentSeconds)
    }
    return { chains, solana }
  }

  async #covered(chain: ChainId): Promise<ChainStatus['covered']> {
    const scopes = await this.#store.coverageByScope(chain)
    return scopes.flatMap(({ scope, intervals }) => intervals.map(interval => ({ ...interval, scope })))
  }

  #beats(): Promise<readonly { ageMs: number; report: Report }[]> {
    const now = performance.now()
    if (this.#known === undefined || now - this.#known.askedMs > beatMs / 2) {
      const beats = this.#store
        .heartbeats()
        .then(all => all.map(({ ageMs, report }) => ({ ageMs, report: JSON.parse(report) as Report })))
      this.#known = { askedMs: now, beats }
    }
    return this.#known.beats
  }
}

function aged<Status extends { state: string; lag_seconds: number; reason?: string }>(
  status: Status,
  silentSeconds: number,
): Status {
  if (silentSeconds === 0) return status
  const reason = `The process that indexes it was last heard of ${silentSeconds} s ago.`
  return { ...status, state: 'stalled', reason, lag_seconds: status.lag_seconds + silentSeconds }
}
