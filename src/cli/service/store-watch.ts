// Watches the store while the service runs: says when its file is gone, replaced, full or damaged, and has a file
// checked for damage once a day, in a thread of its own. It mends nothing.
import { pause } from '../../abort.ts'
import { AlmanacError } from '../../errors.ts'
import { type Log, LogThrottle } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { checkName, type FileCheck, isSound, lastCheck } from '../../store/check.ts'
import type { StoreRoom } from '../../store/room.ts'
import type { Store } from '../../store/store.ts'
import { threadModule } from '../../threads.ts'
import { WorkerThread } from '../../worker-thread.ts'
import type { CheckThread } from './check-store.ts'

export type StoreWatchOptions = {
  store: Store
  room: StoreRoom
  url: string
  log: Log
  metrics: Pick<Metrics, 'store'>
  /** One process of those on a store checks its file. */
  checks: boolean
  pace?: Partial<typeof usualPace>
}

const usualPace = { lookMs: 10_000, firstCheckMs: 300_000, checkMs: 86_400_000, againMs: 3_600_000 }
const silenceLoggedMs = 600_000
/** SQLite checks the file in one call, which keeps the thread from answering. */
const silentMsMax = 86_400_000

export class StoreWatch {
  readonly #options: StoreWatchOptions
  readonly #pace: typeof usualPace
  readonly #stopping = new AbortController()
  readonly #watching: Promise<void>
  readonly #startedMs = performance.now()
  #known = new Set<string>()
  #checking: Promise<void> | undefined
  #triedMs = Number.NEGATIVE_INFINITY
  #thread: WorkerThread<CheckThread> | undefined

  constructor(options: StoreWatchOptions) {
    this.#options = options
    this.#pace = { ...usualPace, ...options.pace }
    this.#watching = this.#watch()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#thread?.end(new AlmanacError('interrupted', 'The check is closed.'))
    await Promise.all([this.#watching, this.#checking])
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping
    const throttle = new LogThrottle(silenceLoggedMs)
    while (!signal.aborted) {
      await this.#look().catch(error =>
        throttle.say('look', repeated => this.#options.log.warn({ err: error, repeated }, 'Store does not answer')),
      )
      await pause(this.#pace.lookMs, signal)
    }
  }

  async #look(): Promise<void> {
    const { store, room, log, metrics, checks } = this.#options
    this.#measure()
    // The room says itself when the store is full.
    const problems = (await store.problems()).filter(
      ({ problem }) => problem !== 'store_full' || room.full === undefined,
    )
    for (const { problem, reason } of problems)
      if (!this.#known.has(problem)) log.error({ problem, reason, store: store.location }, 'Store problem')
    const now = new Set<string>(problems.map(({ problem }) => problem))
    for (const problem of this.#known) if (!now.has(problem)) log.info({ problem }, 'Store problem ended')
    this.#known = now
    if (store.engine !== 'sqlite') return
    const last = await lastCheck(store)
    if (last !== undefined) metrics.store.checked.set(last.atMs / 1_000)
    if (checks && this.#checking === undefined && this.#isDue(last))
      this.#checking = this.#check().finally(() => (this.#checking = undefined))
  }

  #measure(): void {
    const { room, metrics } = this.#options
    const { usedBytes, bytesMax, fullInSeconds } = room.info ?? {}
    const { bytes, bytesMax: max, fullIn } = metrics.store
    setOrRemove(bytes, usedBytes)
    setOrRemove(max, bytesMax)
    setOrRemove(fullIn, fullInSeconds)
  }

  /** A file that was damaged is checked again at once: it may have been mended. */
  #isDue(last: FileCheck | undefined): boolean {
    const { firstCheckMs, checkMs, againMs } = this.#pace
    const now = performance.now()
    if (now - this.#triedMs < againMs) return false
    if (last !== undefined && !isSound(last)) return true
    return now - this.#startedMs >= firstCheckMs && Math.abs(Date.now() - (last?.atMs ?? 0)) >= checkMs
  }

  async #check(): Promise<void> {
    const { store, url, log } = this.#options
    this.#triedMs = performance.now()
    const module = threadModule('check-store', import.meta.url)
    const thread = new WorkerThread<CheckThread>({
      name: 'The check',
      module,
      data: url,
      silentMsMax,
      background: true,
    })
    this.#thread = thread
    try {
      const verdict = await thread.far.check()
      const seconds = Math.round((performance.now() - this.#triedMs) / 1_000)
      if (verdict === 'ok') log.info({ seconds }, 'Store checked; no damage found')
      else log.error({ verdict, store: store.location }, 'Store damaged; restore it from a backup')
      await store.putCheckpoint(checkName, JSON.stringify({ atMs: Date.now(), verdict } satisfies FileCheck))
    } catch (error) {
      if (!this.#stopping.signal.aborted) log.warn({ err: error }, 'Store not checked; trying again later')
    } finally {
      this.#thread = undefined
      thread.end(new AlmanacError('interrupted', 'The check is done.'))
    }
  }
}

/** What is not known is absent: a 0 would raise alarms. */
function setOrRemove(gauge: Metrics['store']['bytes'], value: number | undefined): void {
  if (value === undefined) gauge.remove()
  else gauge.set(value)
}
