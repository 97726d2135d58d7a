// Who reads, checks and decodes what endpoints answered: threads beside this one for large answers, this one for small ones.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AlmanacError } from '../../errors.ts'
import { indexingMemory } from '../../threads.ts'
import type { RangeResult } from './decode-range.ts'
import { decodeRangeBodies, type RangeTask } from './decode-range.ts'
import type { ThreadOutcome, ThreadReady, ThreadResult, ThreadTask, ThreadWork } from './decode-worker.ts'
import { rangeOf } from './range-columns.ts'
import { type FactsTask, type ReadFacts, readFacts } from './read-facts.ts'

/** The bodies may be taken away: whoever gives them does not use them again. */
export interface Decoder {
  range(task: RangeTask): Promise<RangeResult>
  facts(task: FactsTask): Promise<ReadFacts | string>
  close(): Promise<void>
}

/** In the thread that asks, for commands and tests. */
export const inlineDecoder: Decoder = {
  range: async task => decodeRangeBodies(task),
  facts: async task => readFacts(task),
  close: async () => {},
}

/** Below this the way to another thread takes as long as the work. */
const bytesForThread = 200_000
const threadsMax = 3

/**
 * Threads start when they are first needed and are started again after one has died. Until one is ready whoever asks does the work:
 * what is asked for first is what somebody waits for.
 */
export class DecodePool implements Decoder {
  readonly #places: (DecodeWorker | undefined)[]
  readonly #bytesMin: number
  #closed = false

  constructor({ threads = usualThreads(), bytesMin = bytesForThread }: { threads?: number; bytesMin?: number } = {}) {
    this.#places = new Array<undefined>(threads).fill(undefined)
    this.#bytesMin = bytesMin
  }

  async range(task: RangeTask): Promise<RangeResult> {
    const thread = this.#threadFor(task.bodies)
    if (thread === undefined) return decodeRangeBodies(task)
    const bodies = task.bodies.map(ownBytes)
    const outcome = await thread.run({ range: { ...task, bodies } }, bodies)
    if ('columns' in outcome) return { ok: true, range: rangeOf(outcome.columns) }
    if ('failure' in outcome) return { ok: false, failure: outcome.failure }
    throw unexpected()
  }

  async facts(task: FactsTask): Promise<ReadFacts | string> {
    const thread = this.#threadFor(task.bodies)
    if (thread === undefined) return readFacts(task)
    const bodies = task.bodies.map(ownBytes)
    const outcome = await thread.run({ facts: { ...task, bodies } }, bodies)
    if ('facts' in outcome) return outcome.facts
    throw unexpected()
  }

  /** Starts all of them, which are ready then. */
  async start(): Promise<void> {
    for (const [at] of this.#places.entries()) this.#places[at] ??= new DecodeWorker()
    await Promise.all(this.#places.map(thread => thread?.ready))
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#places.map(thread => thread?.close()))
  }

  /** The least busy one; undefined where none is ready or the work is too small. */
  #threadFor(bodies: readonly Uint8Array[]): DecodeWorker | undefined {
    const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
    if (bytes < this.#bytesMin || this.#closed) return undefined
    const free = this.#places.findIndex(thread => thread === undefined || thread.state === 'ended')
    if (free >= 0) this.#places[free] = new DecodeWorker()
    let best: DecodeWorker | undefined
    for (const thread of this.#places)
      if (thread?.state === 'ready' && thread.waiting < (best?.waiting ?? Infinity)) best = thread
    return best
  }
}

/** One core is left to the network and the store, and one to answering. */
function usualThreads(): number {
  return Math.min(threadsMax, Math.max(1, availableParallelism() - 2))
}

class DecodeWorker {
  state: 'starting' | 'ready' | 'ended' = 'starting'
  readonly #worker: Worker
  readonly #started = Promise.withResolvers<void>()
  readonly #tasks = new Map<number, { resolve: (outcome: ThreadOutcome) => void; reject: (error: Error) => void }>()
  #next = 0

  constructor() {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    this.#worker = new Worker(new URL(`./decode-worker-entry.${extension}`, import.meta.url), {
      resourceLimits: indexingMemory,
    })
    this.#worker.on('message', message => this.#heard(message as ThreadReady | ThreadResult))
    this.#worker.on('error', error => this.#end(error as Error))
    this.#worker.on('exit', code => this.#end(new Error(`exit code ${code}`)))
    // Work under way is what keeps a process alive, not a thread that waits for some.
    this.#worker.unref()
  }

  get ready(): Promise<void> {
    return this.#started.promise
  }

  get waiting(): number {
    return this.#tasks.size
  }

  run(work: ThreadWork, bodies: readonly Uint8Array<ArrayBuffer>[]): Promise<ThreadOutcome> {
    return new Promise((resolve, reject) => {
      const task = this.#next++
      this.#tasks.set(task, { resolve, reject })
      this.#worker.ref()
      const buffers = bodies.map(({ buffer }) => buffer)
      this.#worker.postMessage({ task, work } satisfies ThreadTask, buffers)
    })
  }

  async close(): Promise<void> {
    this.state = 'ended'
    await this.#worker.terminate()
  }

  #heard(message: ThreadReady | ThreadResult): void {
    if ('task' in message) this.#answered(message)
    else if (this.state === 'starting') {
      this.state = 'ready'
      this.#started.resolve()
    }
  }

  #answered(result: ThreadResult): void {
    const waiting = this.#tasks.get(result.task)
    this.#tasks.delete(result.task)
    if (this.#tasks.size === 0) this.#worker.unref()
    if ('defect' in result) waiting?.reject(new Error(result.defect))
    else waiting?.resolve(result)
  }

  #end(cause: Error): void {
    this.state = 'ended'
    this.#started.resolve()
    const error = new AlmanacError('internal', 'The thread that decodes has ended.', { cause, retryable: true })
    for (const { reject } of this.#tasks.values()) reject(error)
    this.#tasks.clear()
  }
}

function unexpected(): Error {
  return new Error('The thread that decodes has answered something else.')
}

/** Bytes in a buffer that holds nothing else, so that it can be given away. */
function ownBytes(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return body as Uint8Array<ArrayBuffer>
  return new Uint8Array(body)
}
