// The write side of a store: one transaction at a time, in the order of the calls. It waits for other processes without
// blocking the thread, which also serves requests.
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { isBusy, lockedFailure, storeFailure } from './failures.ts'

const pollMs = 2
/** A pause follows a transaction longer than this: the short writes of other processes get their turn. */
const longTransactionMs = 20
const pauseMs = 3 * pollMs

export type WriteQueueOptions = {
  location: string
  waitMsMax: number
  /** Told how each transaction ended: undefined, or why it failed. */
  onEnd?: (failure: unknown) => void
}

export class WriteQueue {
  readonly #open: () => Connection
  readonly #options: WriteQueueOptions
  #connection: Connection | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #freeFromMs = 0
  #closed = false

  /** The connection is opened with the first write: most readers never write. */
  constructor(open: () => Connection, options: WriteQueueOptions) {
    this.#open = open
    this.#options = options
  }

  /** Runs `work` in one transaction. It must be synchronous, and it is rolled back when it throws. */
  transaction<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#queue(connection => inTransaction(connection, work))
  }

  /** Runs `work`, of statements that each stand alone: without a transaction one takes a tenth less. */
  statements<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#queue(work)
  }

  #queue<T>(work: (connection: Connection) => T): Promise<T> {
    const result = this.#tail.then(() => this.#run(work))
    const { onEnd } = this.#options
    this.#tail = result.then(() => onEnd?.(undefined), onEnd)
    return result
  }

  /** Runs `work` between two transactions. */
  between(work: (connection: Connection) => void): Promise<void> {
    const result = this.#tail.then(() => {
      if (this.#closed) return
      this.#connection ??= this.#open()
      work(this.#connection)
    })
    this.#tail = result.catch(() => {})
    return result
  }

  async settled(): Promise<void> {
    await this.#tail
  }

  close(): void {
    this.#closed = true
    this.#connection?.close()
  }

  async #run<T>(work: (connection: Connection) => T): Promise<T> {
    const { location, waitMsMax } = this.#options
    const pause = this.#freeFromMs - performance.now()
    if (pause > 0) await delay(pause)
    const deadline = performance.now() + waitMsMax
    while (true) {
      if (this.#closed) throw storeFailure(new Error('it was closed'), location)
      const startedAt = performance.now()
      try {
        this.#connection ??= this.#open()
        return work(this.#connection)
      } catch (error) {
        if (!isBusy(error)) throw storeFailure(error, location)
        if (startedAt >= deadline) throw lockedFailure(location, error)
      } finally {
        const endedAt = performance.now()
        if (endedAt - startedAt > longTransactionMs) this.#freeFromMs = endedAt + pauseMs
      }
      await delay(pollMs)
    }
  }
}

function inTransaction<T>(connection: Connection, work: (connection: Connection) => T): T {
  connection.run('BEGIN IMMEDIATE')
  try {
    const result = work(connection)
    connection.run('COMMIT')
    return result
  } catch (error) {
    // SQLite has already rolled back by itself after some failures, a full disk among them.
    if (connection.database.isTransaction) connection.run('ROLLBACK')
    throw error
  }
}
