// The file of a store for its tables: reads, and transactions that count the revision up. It knows no other table.
import { FileCondition } from './condition.ts'
import type { Connection, Row } from './connection.ts'
import { storeFailure } from './failures.ts'
import { WriteQueue } from './write-queue.ts'

/** Throws, within the transaction, where another holder has the lease. */
export type Fence = (connection: Connection) => void

export type StoreFileParts = {
  path: string
  read: Connection
  openWrite: () => Connection
  waitMsMax: number
}

type FenceParts = { queue: WriteQueue; condition: FileCondition; fence: Fence }

export class StoreFile {
  readonly path: string
  readonly location: string
  readonly condition: FileCondition
  readonly #read: Connection
  readonly #parts: StoreFileParts
  /** The one writer of a store. */
  readonly #queue: WriteQueue
  readonly #fence: Fence | undefined

  constructor(parts: StoreFileParts, fenced?: FenceParts) {
    const { path, read, openWrite, waitMsMax } = parts
    this.path = path
    this.location = `file:${path}`
    this.#read = read
    this.#parts = parts
    this.condition = fenced?.condition ?? new FileCondition(path)
    const onEnd = (failure: unknown): void => this.condition.wrote('store', failure)
    this.#queue = fenced?.queue ?? new WriteQueue(openWrite, { location: this.location, waitMsMax, onEnd })
    this.#fence = fenced?.fence
  }

  /** The same file, with the fence at the start of each transaction. */
  fenced(fence: Fence): StoreFile {
    return new StoreFile(this.#parts, { queue: this.#queue, condition: this.condition, fence })
  }

  reading<T>(work: (read: Connection) => T): T {
    try {
      return work(this.#read)
    } catch (error) {
      const failure = storeFailure(error, this.location)
      this.condition.failed(failure)
      throw failure
    }
  }

  /** One transaction; the revision counts up when it changed anything. */
  writing<T>(work: (connection: Connection) => T): Promise<T> {
    return this.writingUnseen(connection => {
      const before = totalChanges(connection)
      const result = work(connection)
      if (totalChanges(connection) !== before) connection.run('UPDATE revision SET value = value + 1')
      return result
    })
  }

  /** One transaction that changes nothing an answer can show: the revision stays. */
  writingUnseen<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#queue.transaction(connection => {
      this.#fence?.(connection)
      return work(connection)
    })
  }

  /** As far as readers let it: those that are under way need what it holds. */
  async takeInLog(): Promise<void> {
    await this.#queue.between(connection => connection.get('PRAGMA wal_checkpoint(TRUNCATE)'))
  }

  async close(): Promise<void> {
    // The writer closes last: it moves the log into the file and removes it.
    await this.#queue.settled()
    this.#read.close()
    this.#queue.close()
  }
}

function totalChanges(connection: Connection): number {
  return (connection.get('SELECT total_changes()') as Row)[0] as number
}
