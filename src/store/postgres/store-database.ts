// The database of a store for its tables: its address, transactions that count the revision up, and the numbers of
// chains and contracts. It knows no other table.

import { AlmanacError } from '../../errors.ts'
import type { Address, ChainId } from '../../model.ts'
import { redactStore } from '../../redact.ts'
import type { Label } from '../annotation-store.ts'
import { packRanges } from '../label-changes.ts'
import type { Database, DatabaseOptions, Transaction } from './database.ts'
import type { Dictionary } from './dictionary.ts'
import type { RevisionWatch } from './revision.ts'

/** Throws, near the end of a transaction, where another holder has the lease. */
export type Fence = (transaction: Transaction) => Promise<void>

export class StoreDatabase {
  readonly database: Database
  readonly dictionary: Dictionary
  readonly watch: RevisionWatch
  readonly #fence: Fence | undefined
  #closed = false

  constructor(database: Database, watch: RevisionWatch, dictionary: Dictionary, fence?: Fence) {
    this.database = database
    this.watch = watch
    this.dictionary = dictionary
    this.#fence = fence
  }

  get isOpen(): boolean {
    return !this.#closed
  }

  /** The same database, with the fence at the end of each transaction. */
  fenced(fence: Fence): StoreDatabase {
    return new StoreDatabase(this.database, this.watch, this.dictionary, fence)
  }

  async ofChain<T>(chain: ChainId, none: T, work: (ordinal: number) => Promise<T>): Promise<T> {
    const ordinal = await this.dictionary.ordinalOf(chain)
    return ordinal === undefined ? none : await work(ordinal)
  }

  ofContract<T>(
    { chain, contract }: { chain: ChainId; contract: Address },
    none: T,
    work: (number: number) => Promise<T>,
  ): Promise<T> {
    return this.ofChain(chain, none, async ordinal => {
      const number = await this.dictionary.contractOf(ordinal, contract)
      return number === undefined ? none : await work(number)
    })
  }

  /** One transaction; the revision counts up when it changed anything. */
  async writing<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    let counted: number | undefined
    const result = await this.database.transaction(async transaction => {
      counted = undefined
      const done = await work(transaction)
      await this.#fence?.(transaction)
      if (transaction.changed) counted = await this.watch.countUp(transaction)
      return done
    })
    if (counted !== undefined) this.watch.committed(counted)
    return result
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
      await this.#fence?.(transaction)
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
      if (transaction.changed)
        counted = await this.watch.countLabels(transaction, packRanges(changed.map(({ address }) => address)))
      return result
    })
    if (counted !== undefined) this.watch.labelsCommitted(counted)
    return done
  }

  async close(): Promise<void> {
    this.#closed = true
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
