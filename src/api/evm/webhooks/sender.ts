// Sends webhooks what changed: at least once and in order for each, by one process at a time. What is sent is stored
// before it is sent, so whoever goes on after a crash sends the same. Indexing never waits for it.
import { followSignals, pause } from '../../../abort.ts'
import type { ChainTable } from '../../../chains.ts'
import { AlmanacError } from '../../../errors.ts'
import type { FetchRules } from '../../../guarded-fetch.ts'
import { keysInForce } from '../../../keys/keys.ts'
import { type Log, LogThrottle } from '../../../log.ts'
import type { WebhookMetrics } from '../../../metrics.ts'
import type { ChangeMark } from '../../../query/changes/changes.ts'
import type { Freshen } from '../../../query/freshen.ts'
import type { TransferReads } from '../../../query/nft-transfers.ts'
import type { KeyRecord } from '../../../store/key-store.ts'
import type { Lease, Store } from '../../../store/store.ts'
import type { StoredWebhook, WebhookDelivery, WebhookProgress } from '../../../store/webhook-store.ts'
import type { Dialect } from '../../params.ts'
import { followContract } from '../changes/change-filter.ts'
import { afterAttempt, attempt } from './delivery.ts'
import { NextBatches } from './next-batch.ts'
import { inTurns, Places, type PlacesMax } from './places.ts'
import { ProgressQueue } from './progress-queue.ts'
import { filterOf } from './webhook-filter.ts'

type SenderParts = {
  store: Store
  reads: TransferReads
  chains: ChainTable
  dialect: Dialect
  rules: FetchRules
  log: Log
  metrics: WebhookMetrics
  /** Which process it is. */
  holder: string
  freshen?: Freshen | undefined
  leaseMs?: number
  places?: PlacesMax
  /** Of the clock. */
  nowMs?: () => number
}

const leaseName = 'webhooks'
const renewalsPerLease = 3
/** What owners change is known to the sender after this time. */
const loadEveryMs = 1_000
const lookEveryMs = 50
/** The lease is renewed between passes. */
const passMsMax = 100
/** Positions that moved on without anything to send are stored this often. */
const quietMs = 60_000
const followEveryMs = 3_600_000
/** Of stores that answer over a network. */
const looksAtOnce = 8

/** A webhook in memory. Its progress is that of the store, or newer. */
type Held = {
  stored: StoredWebhook
  isBusy: boolean
  /** The revision at which nothing more was to be read; undefined: there may be. */
  quietAt: number | undefined
  mark: ChangeMark | undefined
  storedAtMs: number
  followedAtMs: number
  lookedAtMs: number
  notBeforeMs: number
}

type Sending = {
  body: Buffer
  more: boolean
  /** The mark to keep once it has arrived. */
  settled: ChangeMark | undefined
  stored: Promise<void> | undefined
  signal: AbortSignal
}

export class WebhookSender {
  readonly #parts: SenderParts
  readonly #nowMs: () => number
  readonly #leaseMs: number
  readonly #batches: NextBatches
  readonly #places: Places
  readonly #throttle = new LogThrottle()
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  readonly #held = new Map<string, Held>()
  #keys: ReadonlyMap<string, KeyRecord> = new Map()
  #progress: ProgressQueue | undefined
  /** Ends what is under way where the lease is lost. */
  #holding = new AbortController()
  readonly #sending = new Set<Promise<void>>()

  constructor(parts: SenderParts) {
    this.#parts = parts
    this.#nowMs = parts.nowMs ?? Date.now
    this.#leaseMs = parts.leaseMs ?? 15_000
    this.#batches = new NextBatches(parts.store, parts.reads, parts)
    this.#places = new Places(parts.places)
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { store, holder } = this.#parts
    const { signal } = this.#stopping
    let lease: Lease | undefined
    let [renewedMs, loadedMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    while (!signal.aborted) {
      const startedMs = performance.now()
      try {
        if (startedMs - renewedMs >= this.#leaseMs / renewalsPerLease) {
          const claimed = await store.claim(leaseName, holder, this.#leaseMs)
          renewedMs = startedMs
          if (claimed?.token !== lease?.token) await this.#letGo()
          lease = claimed
        }
        if (lease !== undefined) {
          this.#progress ??= new ProgressQueue(store.fenced(lease), this.#parts.log)
          if (startedMs - loadedMs >= loadEveryMs) {
            await this.#load()
            loadedMs = startedMs
          }
          await this.#pass()
        }
      } catch (error) {
        this.#throttle.say('pass', repeated =>
          this.#parts.log.warn({ err: error, repeated }, 'Webhooks not looked at; trying again'),
        )
        // One that could not be renewed in time may be that of another process by now.
        if (performance.now() - renewedMs >= this.#leaseMs) {
          await this.#letGo()
          lease = undefined
        }
        await pause(1_000, signal)
      }
      // At most half of the time: the rest is for what is being sent, and for others on a busy machine.
      const wait = lease === undefined ? this.#leaseMs / renewalsPerLease : performance.now() - startedMs
      await pause(Math.max(lookEveryMs, wait), signal)
    }
    await this.#letGo()
    if (lease !== undefined) await store.release(lease).catch(() => {})
  }

  /** What was sent and not acknowledged stays as it is stored. */
  async #letGo(): Promise<void> {
    this.#holding.abort(new AlmanacError('interrupted', 'The sender stops'))
    await Promise.all(this.#sending)
    await this.#progress?.close()
    this.#progress = undefined
    this.#held.clear()
    this.#holding = new AbortController()
  }

  async #load(): Promise<void> {
    const { store } = this.#parts
    const [all, keys] = await Promise.all([store.webhooks(), store.keys()])
    this.#keys = keysInForce(keys, 'webhooks')
    const ids = new Set(all.map(({ webhook }) => webhook.id))
    for (const id of this.#held.keys()) if (!ids.has(id)) this.#held.delete(id)
    for (const stored of all) {
      const known = this.#held.get(stored.webhook.id)
      if (known?.stored.progress.turn === stored.progress.turn) {
        known.stored = { webhook: stored.webhook, progress: known.stored.progress }
      } else {
        const fresh = { stored, quietAt: undefined, mark: undefined }
        // One that is being sent goes on being busy.
        if (known !== undefined) Object.assign(known, fresh)
        else {
          const times = { storedAtMs: 0, followedAtMs: 0, lookedAtMs: 0, notBeforeMs: 0 }
          this.#held.set(stored.webhook.id, { ...fresh, ...times, isBusy: false })
        }
      }
    }
  }

  async #pass(): Promise<void> {
    const revision = this.#parts.store.revision()
    const startedMs = performance.now()
    const ready = [...this.#held.values()].filter(held => this.#isReady(held, revision))
    ready.sort((a, b) => a.lookedAtMs - b.lookedAtMs)
    const turns = inTurns(ready, ({ stored }) => stored.webhook.keyId, this.#places).values()
    const look = async (): Promise<void> => {
      for (const held of turns) {
        // The others come first the next time.
        if (this.#stopping.signal.aborted || performance.now() - startedMs >= passMsMax) return
        held.lookedAtMs = startedMs
        await this.#look(held, revision)
      }
    }
    await Promise.all(Array.from({ length: looksAtOnce }, look))
  }

  #isReady({ stored, isBusy, quietAt, notBeforeMs }: Held, revision: number): boolean {
    const { webhook, progress } = stored
    if (
      isBusy ||
      notBeforeMs > performance.now() ||
      webhook.paused ||
      progress.stopped ||
      !this.#keys.has(webhook.keyId)
    )
      return false
    if (progress.nextAttemptAt !== undefined) return progress.nextAttemptAt <= this.#nowMs()
    return quietAt !== revision
  }

  /** Reads what is next, and begins to send it. */
  async #look(held: Held, revision: number): Promise<void> {
    const { webhook } = held.stored
    const cutting = followSignals(this.#holding.signal)
    const place = this.#places.take(webhook.keyId, () => cutting.abort(tooSlow))
    if (place === undefined) return cutting[Symbol.dispose]()
    held.isBusy = true
    const { turn } = held.stored.progress
    let isSent = false
    try {
      this.#follow(held)
      const mark = held.stored.progress.batch === undefined ? await this.#mark(held) : undefined
      if (mark !== undefined && mark === held.mark) {
        held.quietAt = revision
        return
      }
      const { progress, body, more, quiet } = await this.#batches.next(held.stored)
      const settled = mark === undefined || more ? undefined : quiet?.(mark)
      held.mark = body === undefined ? settled : undefined
      if (held.stored.progress.turn !== turn) return
      if (body === undefined) return this.#goOn(held, progress, more ? undefined : revision)
      place.holds(body.length)
      const behindSince = progress.behindSince ?? this.#nowMs()
      const isKnown = progress === held.stored.progress
      held.stored = { webhook, progress: { ...progress, behindSince } }
      const stored = isKnown ? undefined : this.#progress!.put(held.stored.progress)
      const sending = this.#send(held, { body, more, settled, stored, signal: cutting.signal })
        .catch(error => this.#failed(error))
        .finally(() => {
          place.free()
          cutting[Symbol.dispose]()
          held.isBusy = false
          this.#sending.delete(sending)
        })
      this.#sending.add(sending)
      isSent = true
    } catch (error) {
      this.#failed(error)
      // What cannot be read now is not tried again at once.
      held.notBeforeMs = performance.now() + loadEveryMs
    } finally {
      if (!isSent) {
        place.free()
        cutting[Symbol.dispose]()
        held.isBusy = false
      }
    }
  }

  /** A position that nothing moves is moved on now and then: what it stands on is not kept for ever. */
  async #mark({ stored, mark, storedAtMs }: Held): Promise<ChangeMark> {
    return await this.#batches.mark(stored, this.#nowMs() - storedAtMs < quietMs ? mark : undefined)
  }

  /** Nothing was there to be sent. */
  #goOn(held: Held, progress: WebhookProgress, quietAt: number | undefined): void {
    const nowMs = this.#nowMs()
    const isCaughtUp = quietAt !== undefined && progress.behindSince !== undefined
    // What failed went with its branch.
    const settled = { ...progress, attempts: 0, failingSince: undefined, nextAttemptAt: undefined, reason: undefined }
    const next = isCaughtUp ? { ...settled, behindSince: undefined } : settled
    held.quietAt = quietAt
    const isMoved = next.position !== held.stored.progress.position
    held.stored = { webhook: held.stored.webhook, progress: next }
    if (!isCaughtUp && (!isMoved || nowMs - held.storedAtMs < quietMs)) return
    held.storedAtMs = nowMs
    void this.#progress!.put(next).catch(error => this.#failed(error))
  }

  async #send(held: Held, { body, more, settled, stored, signal }: Sending): Promise<void> {
    const { store, rules, metrics } = this.#parts
    const { webhook, progress } = held.stored
    const batch = progress.batch!
    await stored
    if (this.#holding.signal.aborted) return
    const atMs = this.#nowMs()
    const message = { id: batch.id, body, signal, nowMs: atMs }
    const done = await attempt(webhook, message, { rules, storeSecret: store.secret })
    // It may have arrived, and is sent again by who has the lease next.
    if (this.#holding.signal.aborted) return
    const nowMs = this.#nowMs()
    metrics.attempts.inc({ outcome: done.error === undefined ? 'delivered' : 'failed' })
    metrics.duration.observe(done.tookMs / 1_000)
    if (done.error === undefined) {
      metrics.changes.inc(batch.changes)
      metrics.delay.observe((nowMs - progress.behindSince!) / 1_000)
    }
    const next = afterAttempt(progress, done, { nowMs, more })
    const delivery: WebhookDelivery = {
      ...{ webhook: webhook.id, number: next.sent, at: atMs, batch: batch.id, changes: batch.changes },
      ...{ status: done.status, error: done.error, tookMs: done.tookMs },
    }
    if (next.stopped)
      this.#parts.log.warn(
        { webhook: webhook.id, reason: next.reason },
        'Webhook paused; resume it when it can receive',
      )
    // Where its owner changed it meanwhile, what the store has is read with the next look.
    if (held.stored.progress.turn === progress.turn) {
      held.stored = { webhook: held.stored.webhook, progress: next }
      held.quietAt = undefined
      held.mark = done.error === undefined ? settled : undefined
      held.storedAtMs = nowMs
    }
    // The next one waits for its own to be stored, and this is stored before it.
    void this.#progress!.put(next, delivery).catch(error => this.#failed(error))
  }

  /** A contract that is indexed on demand goes on to be indexed. */
  #follow(held: Held): void {
    const { freshen, reads } = this.#parts
    const nowMs = this.#nowMs()
    if (freshen === undefined || nowMs - held.followedAtMs < followEveryMs) return
    held.followedAtMs = nowMs
    const { webhook } = held.stored
    followContract({ freshen, claims: reads.claims }, filterOf(webhook.filter), this.#keys.get(webhook.keyId)!).catch(
      error => this.#parts.log.debug({ err: error, webhook: webhook.id }, 'Contract of a webhook not asked for'),
    )
  }

  #failed(error: unknown): void {
    if (this.#holding.signal.aborted) return
    this.#throttle.say('delivery', repeated =>
      this.#parts.log.warn({ err: error, repeated }, 'Webhook delivery interrupted; trying again'),
    )
  }
}

const tooSlow = new AlmanacError('timeout', 'The receiver did not answer while others waited', { retryable: true })
