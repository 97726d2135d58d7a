// Stores the progress of webhooks, of many in one transaction: each on its own would be a write for every delivery. A
// newer progress of a webhook takes the place of one that still waits.
import { setTimeout as delay } from 'node:timers/promises'
import { AlmanacError } from '../../../errors.ts'
import { type Log, LogThrottle } from '../../../log.ts'
import type { WebhookDelivery, WebhookProgress, WebhookProgressWriter } from '../../../store/webhook-store.ts'

/** How long others may join. */
const gatherMs = 10
const retryMs = 1_000

export class ProgressQueue {
  readonly #writer: WebhookProgressWriter
  readonly #log: Log
  readonly #throttle = new LogThrottle()
  #waiting = new Map<string, WebhookProgress>()
  #deliveries: WebhookDelivery[] = []
  #next: Promise<void> | undefined
  #last: Promise<void> = Promise.resolve()
  #isClosing = false

  constructor(writer: WebhookProgressWriter, log: Log) {
    this.#writer = writer
    this.#log = log
  }

  /** Once it is stored. Fails where another process has the lease. */
  put(progress: WebhookProgress, delivery?: WebhookDelivery): Promise<void> {
    this.#waiting.set(progress.id, progress)
    if (delivery !== undefined) this.#deliveries.push(delivery)
    this.#next ??= this.#write()
    return this.#next
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#next?.catch(() => {})
    await this.#last.catch(() => {})
  }

  async #write(): Promise<void> {
    const before = this.#last
    if (!this.#isClosing) await delay(gatherMs)
    await before.catch(() => {})
    const written = this.#writeNow([...this.#waiting.values()], this.#deliveries)
    this.#waiting = new Map()
    this.#deliveries = []
    this.#next = undefined
    this.#last = written
    await written
  }

  /** A store that is busy or full is asked again until it takes it: nothing else is sent meanwhile. */
  async #writeNow(progress: readonly WebhookProgress[], deliveries: readonly WebhookDelivery[]): Promise<void> {
    while (true) {
      try {
        return await this.#writer.putProgress(progress, deliveries)
      } catch (error) {
        if (this.#isClosing || (error instanceof AlmanacError && error.code === 'conflict')) throw error
        this.#throttle.say('write', repeated =>
          this.#log.warn({ err: error, repeated }, 'Progress of webhooks not written; trying again'),
        )
        await delay(retryMs)
      }
    }
  }
}
