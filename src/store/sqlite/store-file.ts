// The file of a store for its tables: reads, transactions that count the revision up, and the numbers of chains and
// contracts. It knows no other table.
import type { Address, ChainId, Interval } from '../../model.ts'
import type { FileCondition } from './condition.ts'
import type { Connection, Row } from './connection.ts'
import { Dictionary } from './dictionary.ts'
import { storeFailure } from './failures.ts'
import { WriteQueue } from './write-queue.ts'

export type WriteContext = RowContext & { dictionary: Dictionary }

/** What rows are written with. */
export type RowContext = {
  connection: Connection
  bulkRows: number
  /** Runs have no transfers of these blocks any more (runs/take-back.ts). */
  cleared?: readonly Interval[]
}

/** Throws, within the transaction, where another holder has the lease. */
export type Fence = (connection: Connection) => void

export type StoreFileParts = {
  path: string
  read: Connection
  openWrite: () => Connection
  waitMsMax: number
  condition: FileCondition
  bulkRows: number
  runsPerMerge: number
  packsPerStep: number
}

/** The one writer of a store, with the numbers that it knows. */
type Writer = { queue: WriteQueue; dictionary: Dictionary | undefined }

export class StoreFile {
  readonly path: string
  readonly location: string
  /** Of the connection that reads. */
  readonly dictionary: Dictionary
  readonly #read: Connection
  readonly #parts: StoreFileParts
  readonly #writer: Writer
  readonly #fence: Fence | undefined

  constructor(parts: StoreFileParts, fenced?: { writer: Writer; fence: Fence }) {
    this.path = parts.path
    this.location = `file:${parts.path}`
    this.dictionary = new Dictionary(parts.read)
    this.#read = parts.read
    this.#parts = parts
    this.#writer = fenced?.writer ?? newWriter(this.location, parts)
    this.#fence = fenced?.fence
  }

  /** The same file, with the fence at the start of each transaction. */
  fenced(fence: Fence): StoreFile {
    return new StoreFile(this.#parts, { writer: this.#writer, fence })
  }

  get runs(): Pick<StoreFileParts, 'bulkRows' | 'runsPerMerge' | 'packsPerStep'> {
    return this.#parts
  }

  reading<T>(work: (read: Connection) => T): T {
    try {
      return work(this.#read)
    } catch (error) {
      const failure = storeFailure(error, this.location)
      this.#parts.condition.failed(failure)
      throw failure
    }
  }

  ofChain<T>(chain: ChainId, none: T, work: (read: Connection, ordinal: number) => T): T {
    return this.reading(read => {
      const ordinal = this.dictionary.ordinalOf(chain)
      return ordinal === undefined ? none : work(read, ordinal)
    })
  }

  ofContract<T>(
    { chain, contract }: { chain: ChainId; contract: Address },
    none: T,
    work: (read: Connection, ordinal: number, number: number) => T,
  ): T {
    return this.ofChain(chain, none, (read, ordinal) => {
      const number = this.dictionary.contractOf(ordinal, contract)
      return number === undefined ? none : work(read, ordinal, number)
    })
  }

  /** One transaction; the revision counts up when it changed anything. */
  writing<T>(work: (context: WriteContext) => T): Promise<T> {
    return this.writingUnseen(connection => {
      this.#writer.dictionary ??= new Dictionary(connection)
      const { bulkRows } = this.#parts
      const before = totalChanges(connection)
      const result = work({ connection, dictionary: this.#writer.dictionary, bulkRows })
      if (totalChanges(connection) !== before) connection.run('UPDATE revision SET value = value + 1')
      return result
    })
  }

  /** One transaction that changes nothing an answer can show: the revision stays. */
  writingUnseen<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#writer.queue.transaction(connection => {
      this.#fence?.(connection)
      return work(connection)
    })
  }

  /** As far as readers let it: those that are under way need what it holds. */
  async takeInLog(): Promise<void> {
    await this.#writer.queue.between(connection => connection.get('PRAGMA wal_checkpoint(TRUNCATE)'))
  }

  async close(): Promise<void> {
    // The writer closes last: it moves the log into the file and removes it.
    await this.#writer.queue.settled()
    this.#read.close()
    this.#writer.queue.close()
  }
}

function newWriter(location: string, { openWrite, waitMsMax, condition }: StoreFileParts): Writer {
  const onEnd = (failure: unknown): void => condition.wrote('store', failure)
  const writer: Writer = {
    queue: new WriteQueue(openWrite, { location, waitMsMax, onRollback: () => writer.dictionary?.forget(), onEnd }),
    dictionary: undefined,
  }
  return writer
}

function totalChanges(connection: Connection): number {
  return (connection.get('SELECT total_changes()') as Row)[0] as number
}
