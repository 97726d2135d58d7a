// Whether a store has room for new rows: the one rule of when it is full, who waits then, and how long the room will
// last. It frees nothing, and only new rows of EVM chains wait: keys, leases and heartbeats are written as long as they
// can be.
import { pause } from '../abort.ts'
import { AlmanacError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Store, StoreInfo, StoreProblem } from './store.ts'

/**
 * Stays free on the disk for what goes on while nothing new is stored: the write-ahead log (16 MB, several times that
 * while a backup or a long read holds it), one step of a merge, keys and heartbeats. A small disk keeps a share.
 */
const reserve = { bytes: 256 * 2 ** 20, share: 0.02 }
/** What must be free before it goes on, as a share of the bound: it must not pause and resume with each commit. */
const resumeShare = 0.01
/** A chain without new blocks writes nothing, and would look well again after one that failed. */
const refusalKeptMs = 60_000
/** A forecast beyond this says nothing. */
const forecastSecondsMax = 10 * 365 * 86_400
/** A start fetches faster than what follows: until this was seen, only a store that is soon full is reported. */
const sureMs = 3_600_000
const earlySecondsMax = 86_400

const usualPace = { lookMs: 2_000, retryMs: 5_000, waitMs: 250 }

export type StoreRoomOptions = {
  store: Pick<Store, 'info' | 'takeInLog'>
  /** `limits.store_bytes_max`; undefined: the disk alone is the bound. */
  bytesMax?: number | undefined
  /** Says when it pauses and when it goes on; absent where another room of the process says it. */
  log?: Log | undefined
  pace?: Partial<typeof usualPace>
}

type Shortage = { reason: string; hint: string }

export class StoreRoom {
  readonly #options: StoreRoomOptions
  readonly #pace: typeof usualPace
  readonly #growth = new Growth()
  readonly #stopping = new AbortController()
  #looking: Promise<void> = Promise.resolve()
  #info: StoreInfo | undefined
  /** By the last look. */
  #shortage: Shortage | undefined
  /** A write that found no room where the last look saw some: another limit than those that are known. */
  #refusal: { reason: string; atMs: number; isOver: boolean } | undefined
  #isSaid = false

  constructor(options: StoreRoomOptions) {
    this.#options = options
    this.#pace = { ...usualPace, ...options.pace }
  }

  /** Looks every few seconds until it is closed. The first look is over when this returns. */
  async start(): Promise<this> {
    await this.look()
    const { signal } = this.#stopping
    const looks = async (): Promise<void> => {
      for (; !signal.aborted; await pause(this.#pace.lookMs, signal)) await this.look()
    }
    this.#looking = looks()
    return this
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#looking
  }

  /** Never fails: a store that does not answer is a problem of its own, and what was known of its room stands. */
  async look(): Promise<void> {
    const { store, bytesMax } = this.#options
    try {
      this.#info = await store.info()
      // The log of a file counts, and nothing is written that would take it in.
      if (shortageOf(this.#info, bytesMax, true) !== undefined && store.takeInLog !== undefined) {
        // A full disk has no room for that either, and what was found stands.
        await store.takeInLog().catch(() => {})
        this.#info = await store.info()
      }
    } catch (error) {
      this.#options.log?.debug({ reason: messageOf(error) }, 'Store size not read')
      return
    }
    this.#growth.add(performance.now(), this.#info.usedBytes)
    this.#shortage = shortageOf(this.#info, bytesMax, this.#shortage !== undefined)
    // What the look knows goes before what a write found.
    if (this.#shortage !== undefined) this.#refusal = undefined
    this.#say()
  }

  /** Why nothing new is stored; undefined while there is room. */
  get full(): string | undefined {
    if (this.#shortage !== undefined) return `${this.#shortage.reason} Try: ${this.#shortage.hint}`
    if (this.#refusal === undefined) return undefined
    const { reason, atMs, isOver } = this.#refusal
    // Where little is left, small commits succeed between large ones that fail: those are tried again first.
    return performance.now() - atMs > (isOver ? 2 * this.#pace.retryMs : refusalKeptMs) ? undefined : reason
  }

  /** Undefined while the store does not grow, or not enough was seen of it. */
  get fullInSeconds(): number | undefined {
    if (this.full !== undefined) return 0
    const perSecond = this.#growth.bytesPerSecond() ?? 0
    const left = this.#info === undefined ? undefined : bytesLeft(this.#info, this.#options.bytesMax)
    if (left === undefined || perSecond <= 0) return undefined
    const seconds = Math.round(left / perSecond)
    const reach = this.#growth.seenMs < sureMs ? earlySecondsMax : forecastSecondsMax
    return seconds > reach ? undefined : seconds
  }

  /** What the last look found. */
  get info(): StoreInfo | undefined {
    return this.#info && this.#told(this.#info)
  }

  /** True as soon as a write may succeed, false when the signal says stop. */
  async available(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && !this.#mayWrite()) await pause(this.#pace.waitMs, signal)
    return !signal.aborted
  }

  #mayWrite(): boolean {
    if (this.#shortage !== undefined) return false
    if (this.#refusal === undefined || this.#refusal.isOver) return true
    return performance.now() - this.#refusal.atMs >= this.#pace.retryMs
  }

  /** Tell it of each write that failed. True if that found no room. */
  failed(error: unknown): boolean {
    if (!(error instanceof AlmanacError) || error.code !== 'store_full') return false
    if (this.#shortage === undefined)
      this.#refusal = { reason: reasonOf(error), atMs: performance.now(), isOver: false }
    this.#say()
    return true
  }

  /** Refuses, as a full disk does, while there is none. */
  requireRoom(): void {
    if (this.#shortage !== undefined) throw storeFull(this.#shortage)
  }

  /** The same store, whose commits of new rows are refused while there is no room, as by a full disk. */
  guarded(store: Store): Store {
    const guard =
      <Parts extends unknown[], Result>(write: (...parts: Parts) => Promise<Result>) =>
      async (...parts: Parts): Promise<Result> => {
        this.requireRoom()
        try {
          const result = await write(...parts)
          if (this.#refusal !== undefined) this.#refusal.isOver = true
          return result
        } catch (error) {
          this.failed(error)
          throw error
        }
      }
    const { commitCold, commitHot, addToHot } = store
    return { ...store, commitCold: guard(commitCold), commitHot: guard(commitHot), addToHot: guard(addToHot) }
  }

  /** The same store, which tells of its room among its facts and its problems. */
  reporting(store: Store): Store {
    return {
      ...store,
      info: async () => this.#told(await store.info()),
      problems: async () => {
        const found = await store.problems()
        if (this.#shortage === undefined || found.some(({ problem }) => problem === 'store_full')) return found
        return [...found, { problem: 'store_full', reason: this.#shortage.reason } satisfies StoreProblem]
      },
    }
  }

  #told(info: StoreInfo): StoreInfo {
    return { ...info, bytesMax: this.#options.bytesMax, fullInSeconds: this.fullInSeconds }
  }

  #say(): void {
    const reason = this.full
    if ((reason !== undefined) === this.#isSaid) return
    this.#isSaid = reason !== undefined
    const { log } = this.#options
    if (reason === undefined) log?.info('Store has room again; indexing goes on')
    else log?.error({ reason }, 'Store full; serving goes on, indexing waits for room')
  }
}

function shortageOf(info: StoreInfo, bytesMax: number | undefined, wasFull: boolean): Shortage | undefined {
  const margin = wasFull ? resumeShare : 0
  if (bytesMax !== undefined && info.usedBytes >= bytesMax * (1 - margin))
    return {
      reason: 'The store has reached limits.store_bytes_max: nothing new is stored.',
      hint: 'raise limits.store_bytes_max and restart.',
    }
  if (info.disk !== undefined && info.disk.freeBytes < reserveOf(info.disk) * (1 + margin))
    return {
      reason: 'The disk of the store is full up to its reserve: nothing new is stored.',
      hint: 'free space on that disk.',
    }
  return undefined
}

function reserveOf({ bytes }: { bytes: number }): number {
  return Math.min(reserve.bytes, bytes * reserve.share)
}

/** What can be stored until it is full; undefined where nothing is known to bound it. */
function bytesLeft({ usedBytes, sizeBytes, disk }: StoreInfo, bytesMax: number | undefined): number | undefined {
  const byBound = bytesMax === undefined ? undefined : bytesMax - usedBytes
  // Free pages within a file are used before it grows.
  const byDisk = disk === undefined ? undefined : disk.freeBytes - reserveOf(disk) + sizeBytes - usedBytes
  if (byBound === undefined && byDisk === undefined) return undefined
  return Math.max(0, Math.min(byBound ?? Number.POSITIVE_INFINITY, byDisk ?? Number.POSITIVE_INFINITY))
}

function storeFull({ reason, hint }: Shortage): AlmanacError {
  return new AlmanacError('store_full', reason, { hint, retryable: true, retryAfterMs: 10_000 })
}

function reasonOf(error: AlmanacError): string {
  return error.hint === undefined ? error.message : `${error.message} Try: ${error.hint}`
}

// How fast a store grows, from samples of the last hours in memory.

const sampleMs = 60_000
const windowMs = 6 * 3_600_000
/** Less says too little: a few commits, or one merge. */
const spanMsMin = 600_000

class Growth {
  #samples: { atMs: number; bytes: number }[] = []

  /** Keeps one sample a minute. */
  add(atMs: number, bytes: number): void {
    const last = this.#samples.at(-1)
    if (last !== undefined && atMs - last.atMs < sampleMs) return
    this.#samples.push({ atMs, bytes })
    const keep = this.#samples.findIndex(sample => sample.atMs >= atMs - windowMs)
    if (keep > 0) this.#samples.splice(0, keep)
  }

  get seenMs(): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    return first === undefined || last === undefined ? 0 : last.atMs - first.atMs
  }

  /**
   * From the median of the older half to that of the newer one: a merge takes bytes for minutes and gives them back,
   * which the ends of the window, and a line through all samples, would take for growth. Undefined until enough was
   * seen.
   */
  bytesPerSecond(): number | undefined {
    const samples = this.#samples
    if (this.seenMs < spanMsMin) return undefined
    const half = Math.floor(samples.length / 2)
    const [older, newer] = [samples.slice(0, half), samples.slice(-half)]
    const grown = median(newer.map(({ bytes }) => bytes)) - median(older.map(({ bytes }) => bytes))
    const elapsedMs = median(newer.map(({ atMs }) => atMs)) - median(older.map(({ atMs }) => atMs))
    return (grown / elapsedMs) * 1_000
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
