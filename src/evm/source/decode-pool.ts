// Parses, checks and decodes what endpoints answered: large answers in threads beside the indexer, small ones in the
// thread that asks.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AlmanacError, fromPlain } from '../../errors.ts'
import { indexingMemory } from '../../threads.ts'
import { decodeRangeBodies, type RangeResult, type RangeTask } from './decode-range.ts'
import type { WorkerMessage, WorkerOutcome, WorkerRequest, WorkerTask } from './decode-worker.ts'
import { rangeOf } from './range-columns.ts'
import { type FactsTask, type ReadFacts, readFacts } from './read-facts.ts'

/** A task's bodies may be moved to another thread: the caller must not use them again. */
export interface Decoder {
  range(task: RangeTask): Promise<RangeResult>
  facts(task: FactsTask): Promise<ReadFacts | string>
}

/** Decodes in the thread that asks, for commands and tests. */
export const inlineDecoder: Decoder = {
  range: async task => decodeRangeBodies(task),
  facts: async task => readFacts(task),
}

/** Below this size the way to another thread takes as long as the work. */
const bytesForThread = 200_000
const threadsMax = 3

/**
 * Threads start when they are first needed, and again after one has died. Until one is ready, the thread that asks does
 * the work: a request may wait for what is asked first.
 */
export class DecodePool implements Decoder {
  readonly #workers: (DecodeWorker | undefined)[]
  readonly #bytesMin: number
  #closed = false

  constructor({ threads = usualThreads(), bytesMin = bytesForThread }: { threads?: number; bytesMin?: number } = {}) {
    this.#workers = new Array<undefined>(threads).fill(undefined)
    this.#bytesMin = bytesMin
  }

  async range(task: RangeTask): Promise<RangeResult> {
    const worker = this.#workerFor(task.bodies)
    if (worker === undefined) return decodeRangeBodies(task)
    const bodies = task.bodies.map(ownBytes)
    const outcome = await worker.run({ range: { ...task, bodies } }, bodies)
    if ('columns' in outcome) return { ok: true, range: rangeOf(outcome.columns) }
    if ('failure' in outcome) return { ok: false, failure: outcome.failure }
    throw new Error('The decode thread answered a different task.')
  }

  async facts(task: FactsTask): Promise<ReadFacts | string> {
    const worker = this.#workerFor(task.bodies)
    if (worker === undefined) return readFacts(task)
    const bodies = task.bodies.map(ownBytes)
    const outcome = await worker.run({ facts: { ...task, bodies } }, bodies)
    if ('facts' in outcome) return outcome.facts
    throw new Error('The decode thread answered a different task.')
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#workers.map(worker => worker?.close()))
  }

  /** The least busy one; undefined if none is ready or the work is too small. */
  #workerFor(bodies: readonly Uint8Array[]): DecodeWorker | undefined {
    const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
    if (bytes < this.#bytesMin || this.#closed) return undefined
    const free = this.#workers.findIndex(worker => worker === undefined || worker.state === 'ended')
    if (free >= 0) this.#workers[free] = new DecodeWorker()
    let best: DecodeWorker | undefined
    for (const worker of this.#workers)
      if (worker?.state === 'ready' && worker.waiting < (best?.waiting ?? Infinity)) best = worker
    return best
  }
}

/** Leaves one core to the network and the store, and one to serving. */
function usualThreads(): number {
  return Math.min(threadsMax, Math.max(1, availableParallelism() - 2))
}

class DecodeWorker {
  state: 'starting' | 'ready' | 'ended' = 'starting'
  readonly #worker: Worker
  readonly #tasks = new Map<number, { resolve: (outcome: WorkerOutcome) => void; reject: (error: Error) => void }>()
  #next = 0

  constructor() {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const entry = new URL(`./decode-worker-entry.${extension}`, import.meta.url)
    this.#worker = new Worker(entry, { resourceLimits: indexingMemory })
    this.#worker.on('message', message => this.#received(message as WorkerMessage))
    this.#worker.on('error', error => this.#end(error as Error))
    this.#worker.on('exit', code => this.#end(new Error(`exit code ${code}`)))
    // Only work under way keeps the process alive.
    this.#worker.unref()
  }

  get waiting(): number {
    return this.#tasks.size
  }

  run(task: WorkerTask, bodies: readonly Uint8Array<ArrayBuffer>[]): Promise<WorkerOutcome> {
    return new Promise((resolve, reject) => {
      const id = this.#next++
      this.#tasks.set(id, { resolve, reject })
      this.#worker.ref()
      const buffers = bodies.map(({ buffer }) => buffer)
      this.#worker.postMessage({ id, task } satisfies WorkerRequest, buffers)
    })
  }

  async close(): Promise<void> {
    this.state = 'ended'
    await this.#worker.terminate()
  }

  #received(message: WorkerMessage): void {
    if ('ready' in message) {
      if (this.state === 'starting') this.state = 'ready'
      return
    }
    const waiting = this.#tasks.get(message.id)
    this.#tasks.delete(message.id)
    if (this.#tasks.size === 0) this.#worker.unref()
    if ('error' in message) waiting?.reject(fromPlain(message.error))
    else waiting?.resolve(message)
  }

  #end(cause: Error): void {
    this.state = 'ended'
    const error = new AlmanacError('internal', 'The decode thread ended.', { cause, retryable: true })
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
