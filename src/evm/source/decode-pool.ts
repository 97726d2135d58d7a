// Parses, checks and decodes what endpoints answered and what files hold: files and large answers in threads beside the
// indexer, small answers in the thread that asks.
import { BodiesRefused, type PoolOptions, ThreadPool } from '../../thread-pool.ts'
import { threadModule } from '../../threads.ts'
import { type FileFailure, type FileResult, type FileTask, OpenFile, readFileRange } from '../files/file-range.ts'
import { type ProofResult, type ProofTask, proveFile } from '../files/prove-file.ts'
import { decodePortalBodies, type PortalResult, type PortalTask } from '../portal/portal-blocks.ts'
import { decodeRangeBodies, type RangeResult, type RangeTask } from './decode-range.ts'
import type { DecodeThread } from './decode-thread.ts'
import { rangeOf } from './range-columns.ts'
import { type FactsTask, type ReadFacts, readFacts } from './read-facts.ts'
import { type LogsTask, type ReadLogs, readLogs } from './read-logs.ts'

/** A task's bodies may be moved to another thread: the caller must not use them again. */
export interface Decoder {
  range(task: RangeTask): Promise<RangeResult>
  portal(task: PortalTask): Promise<PortalResult>
  facts(task: FactsTask): Promise<ReadFacts | string>
  logs(task: LogsTask): Promise<ReadLogs | string>
  file(task: FileTask): Promise<FileResult>
  proof(task: ProofTask): Promise<ProofResult>
}

/** Decodes in the thread that asks, for commands and tests. */
export const inlineDecoder: Decoder = {
  range: async task => decodeRangeBodies(task),
  portal: async task => decodePortalBodies(task),
  facts: async task => readFacts(task),
  logs: async task => readLogs(task),
  async file(task) {
    using opened = new DisposableStack()
    return readFileRange(
      task,
      opened.adopt(new OpenFile(), each => each.close()),
    )
  },
  proof: proveFile,
}

const bytesHereMax = 2_000_000
/** While a commit is written the thread decodes on: with one that waits, whole history takes a tenth longer. */
const jobsPerThread = 8

/** Until a thread is ready, answers of a usual size are decoded here: a request may wait for what is asked first. */
export class DecodePool implements Decoder {
  readonly #threads: ThreadPool<DecodeThread>

  constructor(options: Omit<PoolOptions, 'module'> = {}) {
    const module = threadModule('decode-thread', import.meta.url)
    this.#threads = new ThreadPool({ bytesHereMax, jobsPerThread, ...options, module })
  }

  async range(task: RangeTask): Promise<RangeResult> {
    if (!this.#threads.takes(task.bodies)) return decodeRangeBodies(task)
    try {
      const outcome = await this.#threads.run('range', task)
      return 'columns' in outcome ? { ok: true, range: rangeOf(outcome.columns) } : outcome
    } catch (error) {
      return { ok: false, failure: { check: 'unreadable', block: task.request.interval.from, message: refused(error) } }
    }
  }

  /** Never here: senders take long, and no request waits for them. */
  async portal(task: PortalTask): Promise<PortalResult> {
    try {
      const outcome = await this.#threads.run('portal', task)
      if (!('columns' in outcome)) return outcome
      const { columns, completed, tookMs } = outcome
      return { ok: true, range: rangeOf(columns), completed, tookMs }
    } catch (error) {
      const failure = { check: 'unreadable', block: task.interval.from, message: refused(error) } as const
      return { ok: false, failure, isTooMuch: true }
    }
  }

  async facts(task: FactsTask): Promise<ReadFacts | string> {
    if (!this.#threads.takes(task.bodies)) return readFacts(task)
    return await this.#threads.run('facts', task).catch(refused)
  }

  async logs(task: LogsTask): Promise<ReadLogs | string> {
    if (!this.#threads.takes(task.bodies)) return readLogs(task)
    return await this.#threads.run('logs', task).catch(refused)
  }

  async file(task: FileTask): Promise<FileResult> {
    try {
      const outcome = await this.#threads.run('file', { ...task, bodies: [] })
      if (!('columns' in outcome)) return outcome
      return { ok: true, range: rangeOf(outcome.columns), tookMs: outcome.tookMs }
    } catch (error) {
      return { ok: false, failure: endedThread(error) }
    }
  }

  async proof(task: ProofTask): Promise<ProofResult> {
    try {
      return await this.#threads.run('proof', { ...task, bodies: [] })
    } catch (error) {
      return { ok: false, failure: endedThread(error) }
    }
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}

/** The file, other work of the thread or a machine that is too busy may be at fault; other errors are thrown again. */
function endedThread(error: unknown): FileFailure {
  if (error instanceof BodiesRefused)
    return { message: `could not be read (${error.message})`, isPassing: 'thread ended' }
  throw error
}

/** What to hold against the endpoint; any other error is thrown again. */
function refused(error: unknown): string {
  if (error instanceof BodiesRefused) return `its answer could not be read (${error.message})`
  throw error
}
