// Staged Solana rows in a file beside the store: appended without an index, then sorted and merged in one transaction,
// which removes the file.
import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { SolanaNetwork } from '../../model.ts'
import { createPrivate } from '../../private-file.ts'
import type { SolanaStaging, StagedRows } from '../solana-store.ts'
import { type HoldingUpdate, networkNumber } from '../solana-store.ts'
import { storeFailure } from './failures.ts'
import { versionBytes } from './solana-holdings.ts'
import {
  accountValues,
  insertMintAccount,
  insertMintMetadata,
  metadataValues,
  replaceMintAccount,
  replaceMintMetadata,
} from './solana-mints.ts'

const schema = `
CREATE TABLE IF NOT EXISTS checkpoint (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS holdings (account BLOB, owner BLOB, mint BLOB, amount TEXT, program TEXT, slot INTEGER, version BLOB);
CREATE TABLE IF NOT EXISTS mint_accounts (mint BLOB, slot INTEGER, read_at_ms INTEGER, program TEXT, decimals INTEGER,
  supply TEXT, name TEXT, symbol TEXT, amount_rule TEXT);
CREATE TABLE IF NOT EXISTS mint_metadata (mint BLOB, slot INTEGER, read_at_ms INTEGER, name TEXT, symbol TEXT, standard INTEGER);`

// Sorted by key: the merge walks the tables once; older rows of a key come first and are overwritten.
const mergeHoldings = `INSERT INTO main.solana_holdings
  SELECT :network, account, owner, mint, amount, program, slot, version, iif(owner IS NULL, :now, NULL)
  FROM staged.holdings AS h
  WHERE owner IS NULL OR NOT EXISTS (
    SELECT 1 FROM main.solana_accounts AS a WHERE a.network = :network AND a.owner = h.owner AND a.reading_slot > :slot)
  ORDER BY account, slot, version
  ON CONFLICT DO UPDATE SET owner = excluded.owner, mint = excluded.mint, amount = excluded.amount,
    program = excluded.program, slot = excluded.slot, write_version = excluded.write_version,
    closed_at_ms = excluded.closed_at_ms
  WHERE (excluded.slot, excluded.write_version) >= (slot, write_version)`
const dropOlder = 'DELETE FROM main.solana_holdings WHERE network = :network AND slot <= :slot'
// Marks of closed accounts guard against rows that come late: there are none after a merge.
const dropClosed = 'DELETE FROM main.solana_holdings WHERE network = :network AND closed_at_ms = :now'
const mergeMintAccounts = `${insertMintAccount}
  SELECT :network, mint, slot, read_at_ms, program, decimals, supply, name, symbol, amount_rule
  FROM staged.mint_accounts WHERE true ORDER BY mint, slot ${replaceMintAccount}`
const mergeMintMetadata = `${insertMintMetadata}
  SELECT :network, mint, slot, read_at_ms, name, symbol, standard
  FROM staged.mint_metadata WHERE true ORDER BY mint, slot ${replaceMintMetadata}`

export class SqliteSolanaStaging implements SolanaStaging {
  readonly #storePath: string
  readonly #path: string
  readonly #network: number
  #open:
    | ({ database: DatabaseSync } & Record<'holding' | 'manyHoldings' | 'account' | 'metadata', StatementSync>)
    | undefined

  constructor(storePath: string, network: SolanaNetwork) {
    this.#storePath = storePath
    this.#path = `${storePath}-solana-${network}`
    this.#network = networkNumber(network)
  }

  async checkpoint(): Promise<string | undefined> {
    if (this.#open === undefined && !existsSync(this.#path)) return undefined
    const row = this.#staged().database.prepare('SELECT value FROM checkpoint').get() as { value: string } | undefined
    return row?.value
  }

  async commit({ holdings, mints }: StagedRows, checkpoint: string): Promise<void> {
    const { database, holding, manyHoldings, account, metadata } = this.#staged()
    this.#guarded(() => {
      database.exec('BEGIN')
      const whole = holdings.length - (holdings.length % holdingsPerRun)
      for (let first = 0; first < whole; first += holdingsPerRun)
        manyHoldings.run(...holdings.slice(first, first + holdingsPerRun).flatMap(holdingValues))
      for (const row of holdings.slice(whole)) holding.run(...holdingValues(row))
      for (const update of mints) {
        if (update.account !== undefined) account.run(...accountValues(update, update.account))
        if (update.metadata !== undefined) metadata.run(...metadataValues(update, update.metadata))
      }
      database.prepare('INSERT OR REPLACE INTO checkpoint VALUES (1, ?)').run(checkpoint)
      database.exec('COMMIT')
    })
  }

  async merge({ slot, whole }: { slot: number; whole: boolean }): Promise<void> {
    await this.close()
    if (!existsSync(this.#path)) return
    const main = new DatabaseSync(this.#storePath, { timeout: 30_000 })
    try {
      this.#guarded(() => {
        main.exec('PRAGMA cache_size = -262144; PRAGMA synchronous = NORMAL')
        main.prepare('ATTACH ? AS staged').run(this.#path)
        main.exec('BEGIN IMMEDIATE')
        const mark = { network: this.#network, now: Date.now() }
        main.prepare(mergeMintAccounts).run({ network: mark.network })
        main.prepare(mergeMintMetadata).run({ network: mark.network })
        if (whole) main.prepare(dropOlder).run({ network: mark.network, slot })
        this.#withoutIndex(main, () => main.prepare(mergeHoldings).run({ ...mark, slot }))
        main.prepare(dropClosed).run(mark)
        main.exec('UPDATE revision SET value = value + 1; COMMIT')
      })
    } finally {
      main.close()
    }
    await this.discard()
  }

  /** Rows go twice as fast into a table that is small beside them when its index is made afterwards. */
  #withoutIndex(main: DatabaseSync, work: () => void): void {
    const count = (table: string) =>
      (main.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows
    const index = main.prepare("SELECT sql FROM main.sqlite_schema WHERE name = 'solana_holdings_by_owner'").get()
    const rebuild = index !== undefined && count('main.solana_holdings') * 4 < count('staged.holdings')
    if (rebuild) main.exec('DROP INDEX main.solana_holdings_by_owner')
    work()
    if (rebuild) main.exec(index.sql as string)
  }

  async discard(): Promise<void> {
    await this.close()
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(this.#path + end, { force: true })
  }

  async close(): Promise<void> {
    this.#open?.database.close()
    this.#open = undefined
  }

  #staged() {
    if (this.#open === undefined) {
      createPrivate(this.#path)
      const database = new DatabaseSync(this.#path)
      // The archive still has what a power cut loses. Appended pages need no journal, so it is smaller than a
      // write-ahead log.
      database.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384')
      database.exec(schema)
      this.#open = {
        database,
        holding: database.prepare(`INSERT INTO holdings VALUES ${holdingPlaces}`),
        manyHoldings: database.prepare(`INSERT INTO holdings VALUES ${Array(holdingsPerRun).fill(holdingPlaces)}`),
        account: database.prepare('INSERT INTO mint_accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
        metadata: database.prepare('INSERT INTO mint_metadata VALUES (?, ?, ?, ?, ?, ?)'),
      }
    }
    return this.#open
  }

  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw storeFailure(error, `file:${this.#storePath}`)
    }
  }
}

/** Sixteen rows at a time cost two thirds of one at a time. */
const holdingsPerRun = 16
const holdingPlaces = '(?, ?, ?, ?, ?, ?, ?)'

function holdingValues(row: HoldingUpdate): SQLInputValue[] {
  const version = versionOf(row.writeVersion)
  if ('closed' in row) return [row.account, null, null, null, null, row.slot, version]
  return [row.account, row.owner, row.mint, row.amount.toString(), row.program, row.slot, version]
}

const zeroVersion = Buffer.alloc(8)

function versionOf(writeVersion: bigint): Buffer {
  return writeVersion === 0n ? zeroVersion : versionBytes(writeVersion)
}
