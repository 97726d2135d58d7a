// The database of a store for its tables: its address, transactions that count the revision up, and the numbers of
// chains and contracts. It knows no other table.

import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId } from '../../model.ts'
import { redactStore } from '../../redact.ts'
import type { Label } from '../annotation-store.ts'
import { packRanges } from '../label-changes.ts'
import { bulkRows, runsPerMerge } from '../runs/levels.ts'
import { visibleEverywhere } from './citus/commits.ts'
import { useOneConnection } from './citus/place-tables.ts'
import type { CitusWorkers, ShardKey } from './citus/workers.ts'
import {
  type Database,
  type DatabaseOptions,
  type Row,
  requestReadMs,
  type Transaction,
  type Value,
} from './database.ts'
import type { Dictionary } from './dictionary.ts'
import type { RevisionWatch } from './revision.ts'
import { KnownSlots, type Slots } from './runs/slots.ts'

/** Throws, near the end of a transaction, where another holder has the lease. */
export type Fence = (transaction: Transaction) => Promise<void>

type Step<T> = (transaction: Transaction) => Promise<T>

/**
 * A change of rows and of what is claimed about them. An answer must never claim rows that it cannot show, so where a
 * commit is not visible at one moment the parts are committed one after another: first what is no longer claimed, then
 * rows, then what is claimed of them.
 */
export type Commit<T> = {
  /** Locks and checks, at the start of each transaction. */
  check?: Step<unknown>
  unclaim?: Step<unknown>
  rows: Step<T>
  claim?: Step<unknown>
  /**
   * On Citus each worker gets one connection: the several that it would get for deletes of whole tables exclude each
   * other, and with one it shows its part at one moment.
   */
  oneConnection?: true
  /** All that it changes is on the coordinator: one transaction also on Citus. */
  here?: true
}

type StoreDatabaseParts = {
  database: Database
  watch: RevisionWatch
  dictionary: Dictionary
  /** Where rows are spread over workers by Citus. */
  workers?: CitusWorkers | undefined
  fence?: Fence
} & Partial<Merging>

export type Merging = { bulkRows: number; runsPerMerge: number }

export class StoreDatabase {
  readonly database: Database
  readonly dictionary: Dictionary
  readonly watch: RevisionWatch
  readonly #parts: StoreDatabaseParts
  readonly #slots: KnownSlots
  /** The doubts of the database that were looked into. */
  #settledDoubts = 0
  #closed = false
  /** By the number of a chain, as last read. */
  readonly #coldEnds = new Map<number, number>()

  constructor(parts: StoreDatabaseParts) {
    this.#parts = parts
    this.database = parts.database
    this.watch = parts.watch
    this.dictionary = parts.dictionary
    this.#slots = new KnownSlots(parts.database)
  }

  slots(): Promise<Slots> {
    return this.#slots.all()
  }

  get merging(): Merging {
    return { bulkRows, runsPerMerge, ...this.#parts }
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

  /**
   * On Citus a read of hot rows, which are on the coordinator, and of cold ones, which are on a worker: two snapshots,
   * and rows move from the first to the second meanwhile. Hot rows are read with the highest block whose rows are only
   * cold at that moment, and cold rows up to it: what becomes final in between is neither missed nor read twice.
   *
   * Both reads are under way at once. The block seldom changes, so the cold one begins with the last that was known,
   * which is right if it is still the same: rows up to it were cold before either read began.
   */
  async readHalves<T>(
    ordinal: number,
    readHot: () => Promise<{ rows: T; coldEnd: number }>,
    readCold: (coldEnd: number) => Promise<T>,
  ): Promise<{ hot: T; cold: T }> {
    const known = this.#coldEnds.get(ordinal)
    const early = known === undefined ? undefined : readCold(known)
    // Where it is not used it may fail.
    early?.catch(() => {})
    const { rows: hot, coldEnd } = await readHot()
    this.#coldEnds.set(ordinal, coldEnd)
    return { hot, cold: await (early !== undefined && known === coldEnd ? early : readCold(coldEnd)) }
  }

  get isOpen(): boolean {
    return !this.#closed
  }

  /** The same database, with the fence at the end of each transaction. */
  fenced(fence: Fence): StoreDatabase {
    return new StoreDatabase({ ...this.#parts, fence })
  }

  async ofChain<T>(chain: ChainId, none: T, work: (ordinal: number) => Promise<T>): Promise<T> {
    const ordinal = await this.dictionary.ordinalOf(chain)
    return ordinal === undefined ? none : await work(ordinal)
  }

  ofContract<T>(
    { chain, contract }: { chain: ChainId; contract: Address },
    none: T,
    work: (numbers: { contract: number; ordinal: number }) => Promise<T>,
  ): Promise<T> {
    return this.ofChain(chain, none, async ordinal => {
      const number = await this.dictionary.contractOf(ordinal, contract)
      return number === undefined ? none : await work({ contract: number, ordinal })
    })
  }

  /** One transaction, or on Citus several: see `Commit`. */
  async committing<T>({ check, unclaim, rows, claim, oneConnection, here }: Commit<T>): Promise<T> {
    if (!this.distributed || here)
      return await this.writing(async transaction => {
        await check?.(transaction)
        const done = await rows(transaction)
        await unclaim?.(transaction)
        await claim?.(transaction)
        return done
      })
    const inTurn = async <R>(step: Step<R>, isSpread = false): Promise<R> => {
      await this.#settle()
      const work: Step<R> = async transaction => {
        if (oneConnection) await useOneConnection(transaction)
        await check?.(transaction)
        return await step(transaction)
      }
      return await (isSpread ? this.writingSpread(work) : this.writing(work))
    }
    if (unclaim !== undefined) await inTurn(unclaim)
    const done = await inTurn(rows, true)
    if (claim !== undefined) await inTurn(claim)
    if (await this.#settle()) await this.#countAgain()
    return done
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

  /** For changes outside of `committing`. */
  async settled(): Promise<void> {
    if (this.distributed) await this.#settle()
  }

  async #countAgain(): Promise<void> {
    this.watch.committed(await this.database.transaction(transaction => this.watch.countUp(transaction)))
  }

  /** One transaction; the revision counts up when it changed anything. */
  async writing<T>(work: Step<T>): Promise<T> {
    return (await this.#counting(work)).result
  }

  /** The same for rows that Citus spreads. */
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

  /** The same with the number of a chain, which gets one where it has none. */
  async writingChain<T>(chain: ChainId, work: (transaction: Transaction, ordinal: number) => Promise<T>): Promise<T> {
    const ordinal = await this.dictionary.addOrdinal(chain)
    return await this.writing(transaction => work(transaction, ordinal))
  }

  /** One transaction that changes nothing an answer can show: the revision stays. */
  async writingUnseen<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return await this.database.transaction(async transaction => {
      const done = await work(transaction)
      await this.#parts.fence?.(transaction)
      return done
    })
  }

  /** One transaction that records, where it changed anything, whose labels changed. */
  async writingLabels<T>(
    work: (transaction: Transaction) => Promise<{ result: T; changed: readonly Pick<Label, 'address'>[] }>,
  ): Promise<T> {
    let counted: number | undefined
    const done = await this.writing(async transaction => {
      counted = undefined
      const { result, changed } = await work(transaction)
      if (!transaction.changed) return result
      counted = await this.watch.countLabels(transaction, packRanges(changed.map(({ address }) => address)))
      return result
    })
    if (counted !== undefined) this.watch.labelsCommitted(counted)
    return done
  }

  async close(): Promise<void> {
    this.#closed = true
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
