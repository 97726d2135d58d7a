// The database of a store for its tables: its address, what differs where Citus spreads its rows over workers, and
// transactions that count the revision up. It knows no other table.

import { AlmanacError } from '../../errors.ts'
import { redactStore } from '../../redact.ts'
import type { Row, WriteOptions } from '../core/work.ts'
import type { StoreProblem } from '../store.ts'
import { hasCitus, placeBeside, useOneConnection } from './citus/place-tables.ts'
import { CitusWorkers, type ShardKey, visibleEverywhere } from './citus/workers.ts'
import { Database, type DatabaseOptions, requestReadMs, type Transaction, type Value } from './database.ts'
import { type RevisionWatch, watchRevision } from './revision.ts'
import { createTables, requireStore } from './tables.ts'

/** Throws, near the end of a transaction, where another holder has the lease. */
export type Fence = (transaction: Transaction) => Promise<void>

type Step<T> = (transaction: Transaction) => Promise<T>

type TableBeside = { name: string; columns: string; column: string }

type StoreDatabaseParts = {
  database: Database
  watch: RevisionWatch
  /** Where rows are spread over workers. */
  workers?: CitusWorkers | undefined
  fence?: Fence
}

export type StoreDatabaseOptions = { mustExist?: boolean; stallMsMax?: number | undefined }

/** Makes the tables of a database that has none. */
export async function openStoreDatabase(
  url: string,
  { mustExist = false, stallMsMax }: StoreDatabaseOptions = {},
): Promise<StoreDatabase> {
  const options = { ...databaseOptions(url), stallMsMax }
  const database = new Database(options)
  try {
    if (mustExist) await requireStore(database)
    await createTables(database)
    const watch = watchRevision(options.connectionString, database)
    await watch.refresh()
    database.distributed = await hasCitus(database)
    return new StoreDatabase({
      database,
      watch,
      workers: database.distributed ? new CitusWorkers(database) : undefined,
    })
  } catch (error) {
    await database.close()
    throw error
  }
}

export class StoreDatabase {
  readonly database: Database
  readonly watch: RevisionWatch
  readonly #parts: StoreDatabaseParts
  /** The doubts of the database that were looked into. */
  #settledDoubts = 0

  constructor(parts: StoreDatabaseParts) {
    this.#parts = parts
    this.database = parts.database
    this.watch = parts.watch
  }

  get distributed(): boolean {
    return this.#parts.workers !== undefined
  }

  /** A read that a request waits for, of rows with one key. */
  readOf(key: ShardKey, sql: string, ...values: Value[]): Promise<Row[]> {
    const { workers } = this.#parts
    return workers === undefined
      ? this.database.readWithin(requestReadMs, sql, ...values)
      : workers.read(key, sql, ...values)
  }

  /** A read that a request waits for, of tables that stay on the coordinator. */
  readHere(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.database.readWithin(requestReadMs, sql, ...values)
  }

  async problems(): Promise<StoreProblem[]> {
    return (await this.#parts.workers?.problems()) ?? []
  }

  async sizeBytes(): Promise<number> {
    const [[size] = []] = await this.database.read('SELECT pg_database_size(current_database())')
    return Number(size) + ((await this.#parts.workers?.sizeBytes()) ?? 0)
  }

  /** Makes a table whose rows lie where those of the other table with the same value of the column do. */
  async createBeside(other: string, { name, columns, column }: TableBeside): Promise<void> {
    await this.writingUnseen(async transaction => {
      if (this.distributed) await useOneConnection(transaction)
      await transaction.script(`CREATE TABLE ${name} (${columns})`)
      if (this.distributed) await placeBeside(transaction, other, { name, column })
    })
  }

  /** The same database, with the fence at the end of each transaction. */
  fenced(fence: Fence): StoreDatabase {
    return new StoreDatabase({ ...this.#parts, fence })
  }

  /**
   * Waits, where a transaction of this process may not have ended on every worker, until all have. A new store and a
   * new lease begin in doubt: what a process that is gone left open is waited for too. Returns whether there was a
   * doubt.
   */
  async #settle(): Promise<boolean> {
    const { doubts } = this.database
    if (doubts === this.#settledDoubts) return false
    await visibleEverywhere(this.database)
    this.#settledDoubts = doubts
    return true
  }

  /** A part of a change of the core. */
  async writingPart<T>(work: Step<T>, { unseen = false, of }: WriteOptions): Promise<T> {
    if (!this.distributed || of === 'plain') return await (unseen ? this.writingUnseen(work) : this.writing(work))
    if (of === 'spread') return await this.writingSpread(work)
    await this.#settle()
    const inTurn: Step<T> = async transaction => {
      await useOneConnection(transaction)
      return await work(transaction)
    }
    return await (unseen ? this.writingUnseen(inTurn) : this.writingSpread(inTurn))
  }

  async #countAgain(): Promise<void> {
    this.watch.committed(await this.database.transaction(transaction => this.watch.countUp(transaction)))
  }

  /** One transaction; the revision counts up when it changed anything. */
  async writing<T>(work: Step<T>): Promise<T> {
    return (await this.#counting(work)).result
  }

  /** The same for rows that a cluster spreads. */
  async writingSpread<T>(work: Step<T>): Promise<T> {
    const { result, counted } = await this.#counting(work)
    // A reader may have seen the new revision before a worker showed the rows, and kept what it read.
    if (counted && this.distributed) await this.#countAgain()
    return result
  }

  async #counting<T>(work: Step<T>): Promise<{ result: T; counted: boolean }> {
    let counted: number | undefined
    const result = await this.database.transaction(async transaction => {
      counted = undefined
      const done = await work(transaction)
      await this.#parts.fence?.(transaction)
      if (transaction.changed) counted = await this.watch.countUp(transaction)
      return done
    })
    if (counted !== undefined) this.watch.committed(counted)
    return { result, counted: counted !== undefined }
  }

  /** One transaction that changes nothing an answer can show: the revision stays. */
  async writingUnseen<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return await this.database.transaction(async transaction => {
      const done = await work(transaction)
      await this.#parts.fence?.(transaction)
      return done
    })
  }

  async close(): Promise<void> {
    this.#parts.workers?.close()
    this.watch.leave(this.database)
    await this.database.close()
  }
}

// The address of a database carries two settings of ours, which are removed before the driver reads it.

const connectionsDefault = 10
const connectionsMax = 200

/** `postgres://user@host/name?pool=10&prepare=false`, and the driver's own parameters, such as sslmode. */
export function databaseOptions(address: string): DatabaseOptions {
  const url = URL.parse(address)
  if (url === null || url.pathname.length < 2)
    throw new AlmanacError('config_invalid', `The store ${redactStore(address)} does not name a database.`, {
      hint: 'set store to postgres://user:password@host:5432/database.',
    })
  const pool = Number(url.searchParams.get('pool') ?? connectionsDefault)
  const prepare = url.searchParams.get('prepare') ?? 'true'
  if (!Number.isInteger(pool) || pool < 1 || pool > connectionsMax || !/^(true|false)$/.test(prepare))
    throw new AlmanacError('config_invalid', `The store ${redactStore(address)} has a parameter that is not valid.`, {
      hint: `pool is a number from 1 to ${connectionsMax}; prepare is true or false.`,
    })
  url.searchParams.delete('pool')
  url.searchParams.delete('prepare')
  return {
    connectionString: url.href,
    location: redactStore(address),
    connectionsMax: pool,
    namedStatements: prepare === 'true',
  }
}
