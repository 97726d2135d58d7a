// The state of indexing processes, shared through the store: each writes its own report, and any can read all of them.
import { pause } from '../abort.ts'
import { shownCoverage } from '../coverage.ts'
import { older } from '../head-age.ts'
import type { Log } from '../log.ts'
import { type ChainId, chainScopes } from '../model.ts'
import { keptFor } from '../once.ts'
import type { ChainStatus, SolanaStatus, StatusReport } from '../status.ts'
import type { Store, WorkStore } from '../store/store.ts'

/** Without the covered intervals, which the store has. */
type ReportedChain = Omit<ChainStatus, 'covered'> & { chain_id: ChainId; standby?: boolean }

export type Report = {
  chains: Record<string, ReportedChain>
  solana: Record<string, SolanaStatus>
  /** The work that the process claims from others. */
  topics: readonly string[]
}

const beatMs = 1_000
/** Nothing is asked of a process that is silent for longer. */
export const silentMsMax = 5_000
/** Its chains are stalled then: on a busy machine, and while it starts again, a report may take some seconds. */
const stalledAfterMs = 15_000

/** A process that crashed leaves its report. After this time it is not expected to start again. */
const reportMsMax = 3_600_000

/** Writes the report of this process until it is closed. */
export class HeartbeatWriter {
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
    // If that fails, others see the age of the last one.
    await this.#store.putHeartbeat(this.#process, undefined).catch(() => {})
  }

  async #beat(report: () => Promise<Report>, log: Log): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#store.putHeartbeat(this.#process, JSON.stringify(await report()))
      } catch (error) {
        log.debug({ err: error }, 'Heartbeat not written')
      }
      await pause(beatMs, signal)
    }
  }
}

/** Reads the reports of others, at most every half second. */
export class Reports {
  readonly #store: Store
  readonly #beats: () => Promise<readonly { ageMs: number; report: Report }[]>

  constructor(store: Store) {
    this.#store = store
    this.#beats = keptFor(beatMs / 2, async () =>
      (await store.heartbeats()).map(({ ageMs, report }) => ({ ageMs, report: JSON.parse(report) as Report })),
    )
  }

  /** Whether any process claims work of this topic. */
  async serves(topic: string): Promise<boolean> {
    const beats = await this.#beats()
    return beats.some(({ ageMs, report }) => ageMs < silentMsMax && report.topics.includes(topic))
  }

  /** The chains that processes index or stand by for, by name. */
  async chains(): Promise<string[]> {
    const recent = (await this.#beats()).filter(({ ageMs }) => ageMs < reportMsMax)
    return recent.flatMap(({ report }) => Object.keys(report.chains))
  }

  /** For each chain the report of its indexer, or else of a standby. The age of an old report counts as lag. */
  async status(): Promise<StatusReport> {
    const chains: Record<string, ChainStatus> = {}
    const solana: Record<string, SolanaStatus> = {}
    const standby = new Set<string>()
    for (const { ageMs, report } of await this.#beats()) {
      const silentSeconds = ageMs < stalledAfterMs ? 0 : Math.round(ageMs / 1_000)
      for (const [name, { chain_id, ...reported }] of Object.entries(report.chains)) {
        const isBetter = chains[name] === undefined || (standby.has(name) && reported.standby !== true)
        if (!isBetter) continue
        if (reported.standby === true) standby.add(name)
        else standby.delete(name)
        chains[name] = {
          ...aged(reported, silentSeconds),
          head_age_seconds: older(reported.head_age_seconds, silentSeconds),
          covered: shownCoverage(await this.#store.coverage(chain_id, chainScopes)),
        }
      }
      for (const [name, reported] of Object.entries(report.solana)) solana[name] ??= aged(reported, silentSeconds)
    }
    return { chains, solana }
  }
}

function aged<Status extends { state: string; lag_seconds: number; reason?: string | undefined }>(
  status: Status,
  silentSeconds: number,
): Status {
  if (silentSeconds === 0) return status
  const reason = `The process that indexes it last reported ${silentSeconds} s ago.`
  return { ...status, state: 'stalled', reason, lag_seconds: status.lag_seconds + silentSeconds }
}
