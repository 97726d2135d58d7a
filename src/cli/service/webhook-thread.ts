// The thread of webhooks as the rest of the service sees it: started with the first webhook that is not paused, and
// again when it ends.
import { pause, within } from '../../abort.ts'
import type { Log } from '../../log.ts'
import type { Store } from '../../store/store.ts'
import { threadModule } from '../../threads.ts'
import { SupervisedThread } from '../../worker-thread.ts'
import type { WebhookThread, WebhookThreadData } from './send-webhooks.ts'

const lookEveryMs = 1_000
/** Until it is started again after it ended several times in a row. */
const restMs = 60_000
const metricsMs = 1_500

type WebhookSupervisorOptions = {
  store: Store
  data: WebhookThreadData
  log: Log
  write?: ((text: string) => void) | undefined
}

export class WebhookSupervisor {
  readonly #options: WebhookSupervisorOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #thread: SupervisedThread<WebhookThread> | undefined

  constructor(options: WebhookSupervisorOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Empty while there is no webhook, or where the thread does not answer. */
  async metrics(): Promise<string> {
    if (this.#thread === undefined) return ''
    return await within(metricsMs, this.#thread.far.metrics()).catch(() => '')
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#thread?.close(far => far.close())
  }

  async #run(): Promise<void> {
    const { store, data, log, write } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        if (this.#thread === undefined && (await store.webhooks()).some(({ webhook }) => !webhook.paused))
          this.#thread = await SupervisedThread.start<WebhookThread>({
            ...{ name: 'The sender of webhooks', module: threadModule('send-webhooks', import.meta.url), data },
            // The rest of the service goes on.
            ...{ log, write, giveUp: () => void this.#rest() },
          })
      } catch (error) {
        log.warn({ err: error }, 'Sender of webhooks not started; trying again')
        await pause(restMs, signal)
      }
      await pause(lookEveryMs, signal)
    }
  }

  async #rest(): Promise<void> {
    await pause(restMs, this.#stopping.signal)
    this.#thread = undefined
  }
}
