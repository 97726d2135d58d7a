// Who reads, checks and decodes what endpoints answered: threads beside this one for large answers, this one for small ones.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AlmanacError } from '../../errors.ts'
import { indexingMemory } from '../../indexing-share.ts'
import type { DigestResult } from './digest.ts'
import { type DigestTask, digestBodies } from './digest-bodies.ts'
import type { ThreadResult, ThreadTask } from './digest-thread.ts'
import { rangeOf } from './range-columns.ts'

export interface Digester {
  /** The bodies may be taken away: whoever gives them does not use them again. */
  digest(task: DigestTask): Promise<DigestResult>
  close(): Promise<void>
}

/** In the thread that asks, for commands and tests. */
export const digestHere: Digester = {
  digest: async task => digestBodies(task),
  close: async () => {},
}

/** Below this the way to another thread takes as long as the work. */
const bytesForThread = 200_000
const threadsMax = 3

/** Threads start when they are first needed and are started again after one has died. */
export class DigestThreads implements Digester {
  readonly #places: (DigestThread | undefined)[]
  readonly #bytesMin: number
  #closed = false

  constructor({ threads = usualThreads(), bytesMin = bytesForThread }: { threads?: number; bytesMin?: number } = {}) {
    this.#places = new Array<undefined>(threads).fill(undefined)
    this.#bytesMin = bytesMin
  }

  async digest(task: DigestTask): Promise<DigestResult> {
    const bytes = task.bodies.reduce((sum, body) => sum + body.length, 0)
    if (bytes < this.#bytesMin || this.#closed) return digestBodies(task)
    return await this.#leastBusy().digest(task)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#places.map(thread => thread?.close()))
  }

  #leastBusy(): DigestThread {
    let best = 0
    for (const [at, thread] of this.#places.entries()) {
      if (thread === undefined || thread.ended) {
        const started = new DigestThread()
        this.#places[at] = started
        return started
      }
      if (thread.waiting < this.#places[best]!.waiting) best = at
    }
    return this.#places[best]!
  }
}

/** One core is left to the network and the store, and one to answering. */
function usualThreads(): number {
  return Math.min(threadsMax, Math.max(1, availableParallelism() - 2))
}

class DigestThread {
  ended = false
  readonly #worker: Worker
  readonly #tasks = new Map<number, { resolve: (result: DigestResult) => void; reject: (error: Error) => void }>()
  #next = 0

  constructor() {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    this.#worker = new Worker(new URL(`./digest-thread.${extension}`, import.meta.url), {
      resourceLimits: indexingMemory,
    })
    this.#worker.on('message', message => this.#answered(message as ThreadResult))
    this.#worker.on('error', error => this.#end(error as Error))
    this.#worker.on('exit', code => this.#end(new Error(`exit code ${code}`)))
    // Work under way is what keeps a process alive, not a thread that waits for some.
    this.#worker.unref()
  }

  get waiting(): number {
    return this.#tasks.size
  }

  digest(given: DigestTask): Promise<DigestResult> {
    return new Promise((resolve, reject) => {
      const task = this.#next++
      this.#tasks.set(task, { resolve, reject })
      this.#worker.ref()
      const bodies = given.bodies.map(ownBytes)
      const buffers = bodies.map(({ buffer }) => buffer)
      this.#worker.postMessage({ ...given, bodies, task } satisfies ThreadTask, buffers)
    })
  }

  async close(): Promise<void> {
    this.ended = true
    await this.#worker.terminate()
  }

  #answered(result: ThreadResult): void {
    const waiting = this.#tasks.get(result.task)
    this.#tasks.delete(result.task)
    if (this.#tasks.size === 0) this.#worker.unref()
    if ('defect' in result) waiting?.reject(new Error(result.defect))
    else if ('failure' in result) waiting?.resolve({ ok: false, failure: result.failure })
    else waiting?.resolve({ ok: true, range: rangeOf(result.columns) })
  }

  #end(cause: Error): void {
    this.ended = true
    const error = new AlmanacError('internal', 'The thread that decodes has ended.', { cause, retryable: true })
    for (const { reject } of this.#tasks.values()) reject(error)
    this.#tasks.clear()
  }
}

/** Bytes in a buffer that holds nothing else, so that it can be given away. */
function ownBytes(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return body as Uint8Array<ArrayBuffer>
  return new Uint8Array(body)
}
