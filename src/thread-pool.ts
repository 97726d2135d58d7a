// Threads that read large answers of endpoints. A body that ends its thread, by its memory or its time, is the failure
// of that body alone: what waits here is read by the next one.
import { AlmanacError, messageOf } from './errors.ts'
import { moving, threadsByCores } from './threads.ts'
import { type Far, type ThreadOptions, WorkerThread } from './worker-thread.ts'

type BodiesTask = { bodies: readonly Uint8Array[] }
/** Each reads the bodies of one task. They are moved to the thread: the caller must not use them again. */
type Reader = Record<string, (task: never) => unknown>

/** The bodies ended the thread that read them. */
export class BodiesRefused extends Error {
  override readonly name = 'BodiesRefused'
}

export type PoolOptions = Pick<ThreadOptions, 'module' | 'memory' | 'silentMsMax'> & {
  threads?: number
  /** The way to another thread takes as long as reading less than this. */
  bytesMin?: number
  /**
   * One is at work, and others may wait at the thread, so that it has work while this one commits. Those are lost with
   * it, for their bytes are there: a caller that allows them has to ask again.
   */
  jobsPerThread?: number
  /** While no thread is ready yet, up to this is read here instead: a request may wait for it. */
  bytesHereMax?: number
}

type Job = { method: string; task: BodiesTask; resolve: (value: unknown) => void; reject: (error: Error) => void }
type Seat<Given extends Reader> = { thread: WorkerThread<Given>; jobs: Job[] }

export class ThreadPool<Given extends Reader> {
  readonly #options: PoolOptions & { threads: number; bytesMin: number; bytesHereMax: number; jobsPerThread: number }
  #seats: Seat<Given>[] = []
  #queue: Job[] = []
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = { threads: threadsByCores(), bytesMin: 200_000, bytesHereMax: 0, jobsPerThread: 1, ...options }
  }

  /** Whether these bodies are for a thread; it may have to start first. */
  takes(bodies: readonly Uint8Array[]): boolean {
    const bytes = bodies.reduce((sum, body) => sum + body.length, 0)
    if (bytes < this.#options.bytesMin || this.#closed) return false
    if (this.#seats.some(({ thread }) => thread.isReady)) return true
    if (this.#seats.length === 0) this.#start()
    return bytes > this.#options.bytesHereMax
  }

  /** Fails with BodiesRefused where reading them ended the thread. */
  run<Name extends keyof Given & string>(
    method: Name,
    given: Parameters<Given[Name]>[0] & BodiesTask,
  ): ReturnType<Far<Given>[Name]> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const task = { ...(given as BodiesTask), bodies: (given as BodiesTask).bodies.map(ownBytes) }
    if (this.#closed) reject(closed())
    else this.#queue.push({ method, task, resolve, reject })
    this.#assign()
    return promise as ReturnType<Far<Given>[Name]>
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#queue.splice(0)) reject(closed())
    for (const { thread } of this.#seats) thread.end(closed())
    await Promise.all(this.#seats.map(({ thread }) => thread.gone))
  }

  #assign(): void {
    while (this.#queue.length > 0) {
      const seat = this.#leastBusy()
      if ((seat === undefined || seat.jobs.length > 0) && this.#seats.length < this.#options.threads) this.#start()
      if (seat === undefined) return
      void this.#work(seat, this.#queue.shift()!)
    }
  }

  /** Undefined while every thread is busy, or none is ready. */
  #leastBusy(): Seat<Given> | undefined {
    let best: Seat<Given> | undefined
    for (const seat of this.#seats)
      if (seat.thread.isReady && seat.jobs.length < (best?.jobs.length ?? this.#options.jobsPerThread)) best = seat
    return best
  }

  #start(): void {
    const { module, memory, silentMsMax } = this.#options
    const limits = {
      ...(memory === undefined ? {} : { memory }),
      ...(silentMsMax === undefined ? {} : { silentMsMax }),
    }
    const thread = new WorkerThread<Given>({ name: 'The reading thread', module, background: true, ...limits })
    const seat: Seat<Given> = { thread, jobs: [] }
    this.#seats.push(seat)
    void thread.ready.then(
      () => this.#assign(),
      // It could not even start: the next one could not either.
      error => {
        for (const { reject } of this.#queue.splice(0)) reject(error)
      },
    )
    void thread.ended.then(() => {
      this.#seats = this.#seats.filter(other => other !== seat)
    })
  }

  async #work(seat: Seat<Given>, job: Job): Promise<void> {
    const { thread, jobs } = seat
    jobs.push(job)
    try {
      job.resolve(await thread.far[job.method]!(...([moving(job.task, job.task.bodies)] as never)))
    } catch (error) {
      // The jobs of a thread that ended stay listed: the first one was at work.
      if (thread.failure === undefined || this.#closed) job.reject(error as Error)
      else if (jobs[0] !== job) job.reject(lost())
      else job.reject(new BodiesRefused(messageOf(thread.failure.cause ?? thread.failure)))
    }
    if (thread.failure === undefined) jobs.splice(jobs.indexOf(job), 1)
    this.#assign()
  }
}

function lost(): AlmanacError {
  return new AlmanacError('interrupted', 'The reading thread ended at other work; this is read again.', {
    retryable: true,
  })
}

function closed(): AlmanacError {
  return new AlmanacError('interrupted', 'The reading threads are closed.')
}

/** Bytes in a buffer that holds nothing else, so that it can be given away. */
function ownBytes(body: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = body
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return body as Uint8Array<ArrayBuffer>
  return new Uint8Array(body)
}
