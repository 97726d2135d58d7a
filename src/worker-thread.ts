// A thread as its parent sees it: started, called, watched and ended; and one that is started again whenever it ends.
// Ending a thread in the middle of its work must be as safe as killing the process.
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { within } from './abort.ts'
import { AlmanacError, fromPlain, messageOf } from './errors.ts'
import type { Log } from './log.ts'
import {
  type FromThread,
  indexingMemory,
  type Methods,
  movedWith,
  type ThreadData,
  type ToThread,
  threadModule,
} from './threads.ts'

export type ThreadOptions = {
  /** Says what it is in messages: `The indexer`. */
  name: string
  /** The URL of a module that exports `startThread`. */
  module: URL
  data?: unknown
  memory?: ResourceLimits
  /** A thread that is silent for longer is ended. */
  silentMsMax?: number
  /** Takes what the thread writes to stderr. */
  write?: ((text: string) => void) | undefined
  /** Keeps the process alive only while a call waits. */
  background?: boolean
}

/** How long a thread may be silent. */
export const silentMs = 10_000
/** Looks in the longest silence that is allowed. The time in which this thread stood still itself does not count. */
const looks = 10

type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void }

/** The methods of another thread, as calls: all of them can fail, with the thread. */
export type Far<Given extends Methods> = {
  [Name in keyof Given]: (...parameters: Parameters<Given[Name]>) => Promise<Awaited<ReturnType<Given[Name]>>>
}

export class WorkerThread<Given extends Methods> {
  readonly far: Far<Given>
  /** Rejects if the thread cannot start. */
  readonly ready: Promise<void>
  /** Resolves with the reason once the thread takes no more calls. */
  readonly ended: Promise<AlmanacError>
  /** Resolves when the thread is gone, with its memory and its locks. A native call may keep it a little longer. */
  readonly gone: Promise<void>
  /** Takes calls. */
  isReady = false
  /** Why calls fail; undefined while it runs. */
  failure: AlmanacError | undefined
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #started = Promise.withResolvers<void>()
  readonly #end = Promise.withResolvers<AlmanacError>()
  readonly #looking: NodeJS.Timeout
  #calls = 0
  #silentLooks = 0

  constructor(options: ThreadOptions) {
    const { module, data, memory = indexingMemory, silentMsMax = silentMs, write, background = false } = options
    this.#options = options
    this.#worker = new Worker(threadModule('thread-entry', import.meta.url), {
      workerData: { module: module.href, data } satisfies ThreadData,
      resourceLimits: memory,
      // What `top -H` shows.
      name: basename(module.pathname).replace(/\.\w+$/, ''),
      stderr: write !== undefined,
    })
    if (write !== undefined) this.#worker.stderr.setEncoding('utf8').on('data', write)
    this.ready = this.#started.promise
    // A caller may wait for `ended` alone.
    this.ready.catch(() => {})
    this.ended = this.#end.promise
    this.gone = new Promise(resolve => this.#worker.once('exit', () => resolve()))
    this.#worker.on('message', (message: FromThread) => this.#hear(message))
    this.#worker.on('error', error => this.#fail(this.#reason(messageOf(error))))
    this.#worker.on('exit', code => this.#fail(this.#reason(`exit code ${code}`)))
    this.#looking = setInterval(() => this.#look(silentMsMax), silentMsMax / looks).unref()
    if (background) this.#worker.unref()
    this.far = new Proxy({} as Far<Given>, {
      get:
        (_, method) =>
        (...parameters: unknown[]) =>
          this.#call(String(method), parameters),
    })
  }

  /** Ends the thread wherever it is; what waits fails with the reason. */
  end(reason: AlmanacError): void {
    this.#fail(reason)
    void this.#worker.terminate()
  }

  #call(method: string, parameters: unknown[]): Promise<unknown> {
    if (this.failure !== undefined) return Promise.reject(this.failure)
    const call = this.#calls++
    this.#worker.postMessage({ call, method, parameters } satisfies ToThread, parameters.flatMap(movedWith))
    if (this.#options.background === true) this.#worker.ref()
    return new Promise((resolve, reject) => this.#waiting.set(call, { resolve, reject }))
  }

  #hear(message: FromThread): void {
    this.#silentLooks = 0
    if (message === 'pong' || this.failure !== undefined) return
    if (message === 'ready') {
      this.isReady = true
      this.#started.resolve()
    } else if ('failed' in message) this.end(fromPlain(message.failed))
    else this.#settle(message)
  }

  #settle(message: Extract<FromThread, { reply: number }>): void {
    const waiting = this.#waiting.get(message.reply)
    this.#waiting.delete(message.reply)
    if (this.#waiting.size === 0 && this.#options.background === true) this.#worker.unref()
    if ('error' in message) waiting?.reject(fromPlain(message.error))
    else waiting?.resolve(message.value)
  }

  /** A thread that starts may wait for a long step of the store. */
  #look(silentMsMax: number): void {
    if (!this.isReady) return
    // One ping in a silence: a thread that hangs must not find a pile of them.
    if (this.#silentLooks === 0) this.#worker.postMessage('ping' satisfies ToThread)
    this.#silentLooks++
    if (this.#silentLooks > looks) this.end(this.#reason(`no answer within ${silentMsMax / 1_000} s`))
  }

  #reason(why: string): AlmanacError {
    return new AlmanacError('internal', `${this.#options.name} has stopped.`, {
      cause: new Error(why),
      retryable: true,
      retryAfterMs: 1_000,
    })
  }

  #fail(reason: AlmanacError): void {
    if (this.failure !== undefined) return
    this.failure = reason
    this.isReady = false
    clearInterval(this.#looking)
    this.#started.reject(reason)
    this.#end.resolve(reason)
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
  }
}

export type SupervisedOptions = ThreadOptions & {
  log: Log
  /** Called after the last of `endsInRowMax` ends in a row. */
  giveUp: (reason: AlmanacError) => void
  /** A thread that ran for longer does not continue the row. */
  steadyMs?: number
}

const restartMs = 200
const endsInRowMax = 3

/** A thread that is started again when it ends, whatever the reason. */
export class SupervisedThread<Given extends Methods> {
  restarts = 0
  /** Why it was last started again. */
  reason: string | undefined
  readonly #options: SupervisedOptions
  #thread: WorkerThread<Given>
  #closing = false

  /** Fails if the first start does. */
  static async start<Given extends Methods>(options: SupervisedOptions): Promise<SupervisedThread<Given>> {
    const thread = new WorkerThread<Given>(options)
    await thread.ready
    return new SupervisedThread(thread, options)
  }

  private constructor(thread: WorkerThread<Given>, options: SupervisedOptions) {
    this.#options = options
    this.#thread = thread
    void this.#watch()
  }

  get isReady(): boolean {
    return this.#thread.isReady
  }

  /** Of the thread that runs now: to be read anew for each call. */
  get far(): Far<Given> {
    return this.#thread.far
  }

  /** Runs `last` in the thread, and ends it. */
  async close(last: (far: Far<Given>) => Promise<void>): Promise<void> {
    this.#closing = true
    const { name } = this.#options
    try {
      if (this.#thread.isReady) await last(this.#thread.far)
    } finally {
      this.#thread.end(new AlmanacError('interrupted', `${name} is closed.`))
      await this.#thread.gone
    }
  }

  async #watch(): Promise<void> {
    const { log, name, giveUp, steadyMs = 60_000, silentMsMax = silentMs } = this.#options
    for (let inRow = 0; ; ) {
      const startedMs = performance.now()
      const ended = await this.#thread.ended
      if (this.#closing) return
      const why = ended.cause instanceof Error ? ended.cause.message : ended.message
      inRow = performance.now() - startedMs > steadyMs ? 1 : inRow + 1
      if (inRow >= endsInRowMax) {
        log.fatal({ thread: name, reason: why, times: inRow }, 'Thread ended again and again; exiting')
        return giveUp(ended)
      }
      this.restarts++
      this.reason = why
      log.error({ thread: name, reason: why, restarts: this.restarts }, 'Thread ended; starting it again')
      // Its locks end with it. Where it does not go, the next one cannot have them and says so.
      await within(silentMsMax, this.#thread.gone).catch(() => {})
      await delay(restartMs * inRow)
      if (this.#closing) return
      this.#thread = new WorkerThread<Given>(this.#options)
    }
  }
}
