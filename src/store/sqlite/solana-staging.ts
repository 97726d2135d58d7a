// Staged Solana rows in a file beside the store: appended without an index, then sorted and merged in one transaction,
// which removes the file.
import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { SolanaNetwork } from '../../model.ts'
import { type Cells, onConflict } from '../core/work.ts'
import { createPrivate } from '../private-file.ts'
import type { SolanaStaging, StagedRows } from '../solana-store.ts'
import { type HoldingUpdate, networkNumber } from '../solana-store.ts'
import { accountCells, metadataCells, mintParts } from '../tables/solana-mints.ts'
import { Connection } from './connection.ts'
import { storeFailure } from './failures.ts'
import { removeDatabase, writeOptions } from './open-file.ts'

const mintColumns = {
  account: 'mint, account_slot, account_read_at_ms, program, decimals, supply, name, symbol, amount_rule',
  metadata: 'mint, metadata_slot, metadata_read_at_ms, metadata_name, metadata_symbol, token_standard',
}
const schema = `
CREATE TABLE IF NOT EXISTS checkpoint (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS holdings (account BLOB, owner BLOB, mint BLOB, amount TEXT, program TEXT, slot INTEGER, place BLOB);
CREATE TABLE IF NOT EXISTS mint_account (${mintColumns.account});
CREATE TABLE IF NOT EXISTS mint_metadata (${mintColumns.metadata});`

// place: slot and write version, 8 bytes each. What an owner held before its last reading is out of date.
const staged = `staged.holdings AS new WHERE (owner IS NULL OR NOT EXISTS (
  SELECT 1 FROM main.solana_accounts AS a WHERE a.network = :network AND a.owner = new.owner AND a.reading_slot > :slot))`
const stored = (table: string): string =>
  `main.${table} AS known ON known.account = new.account AND known.network = :network`
const dropReplaced = [
  ['solana_holdings', 'owner'],
  ['solana_closed', 'account'],
].map(
  ([table, owner]) => `DELETE FROM main.${table} WHERE (${owner}, account, network) IN (
    SELECT known.${owner}, known.account, known.network FROM (SELECT * FROM ${staged}) AS new CROSS JOIN ${stored(table!)}
    WHERE (known.slot, known.write_version) <= (new.slot, substr(new.place, 9)))`,
)
/** What is stored then is newer. */
const findKept = `CREATE TEMP TABLE kept AS
  SELECT known.account FROM staged.holdings AS new CROSS JOIN ${stored('solana_holdings')}
  UNION SELECT known.account FROM staged.holdings AS new CROSS JOIN ${stored('solana_closed')}`
const noneKept = 'CREATE TEMP TABLE kept (account BLOB)'
// Sorted by key: the merge walks the table once. Marks of closed accounts guard against rows that come late: there are
// none after a merge.
const addNewest = `INSERT INTO main.solana_holdings (network, owner, account, mint, program, amount, slot, write_version)
  SELECT :network, owner, account, mint, program, amount, slot, substr(newest, 9)
  FROM (SELECT *, max(place) AS newest FROM ${staged} GROUP BY account)
  WHERE owner IS NOT NULL AND account NOT IN (SELECT account FROM kept) ORDER BY owner, account`
const dropOlder = ['solana_holdings', 'solana_closed'].map(
  table => `DELETE FROM main.${table} WHERE network = :network AND slot <= :slot`,
)
const mergeMints = (['account', 'metadata'] as const).map(part => {
  const columns = mintColumns[part]
  return `INSERT INTO main.solana_mints (network, ${columns}) SELECT :network, ${columns} FROM staged.mint_${part}
    WHERE true ORDER BY mint, ${part}_slot ON CONFLICT ${onConflict('solana_mints', columns.split(', '), mintParts[part])}`
})
const [insertAccount, insertMetadata] = [
  `INSERT INTO mint_account VALUES (${mintColumns.account.replace(/\w+/g, '?')})`,
  `INSERT INTO mint_metadata VALUES (${mintColumns.metadata.replace(/\w+/g, '?')})`,
]

/** In the order of `mintColumns`. */
const valuesOf = (cells: Cells): SQLInputValue[] => Object.values(cells).map(value => value ?? null)

export class SqliteSolanaStaging implements SolanaStaging {
  readonly #storePath: string
  readonly #path: string
  readonly #network: number
  #open: Connection | undefined

  constructor(storePath: string, network: SolanaNetwork) {
    this.#storePath = storePath
    this.#path = `${storePath}-solana-${network}`
    this.#network = networkNumber(network)
  }

  async checkpoint(): Promise<string | undefined> {
    if (this.#open === undefined && !existsSync(this.#path)) return undefined
    return this.#staged().get('SELECT value FROM checkpoint')?.[0] as string | undefined
  }

  async commit({ holdings, mints }: StagedRows, checkpoint: string): Promise<void> {
    const staging = this.#staged()
    this.#guarded(() => {
      staging.run('BEGIN')
      const whole = holdings.length - (holdings.length % holdingsPerRun)
      for (let first = 0; first < whole; first += holdingsPerRun)
        staging.run(insertHoldings, ...holdings.slice(first, first + holdingsPerRun).flatMap(holdingValues))
      for (const row of holdings.slice(whole)) staging.run(insertHolding, ...holdingValues(row))
      for (const update of mints) {
        if (update.account !== undefined) staging.run(insertAccount, ...valuesOf(accountCells(update, update.account)))
        if (update.metadata !== undefined)
          staging.run(insertMetadata, ...valuesOf(metadataCells(update, update.metadata)))
      }
      staging.run('INSERT OR REPLACE INTO checkpoint VALUES (1, ?)', checkpoint)
      staging.run('COMMIT')
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
        const network = { network: this.#network }
        const state = { ...network, slot }
        for (const merge of mergeMints) main.prepare(merge).run(network)
        if (whole) for (const drop of dropOlder) main.prepare(drop).run(state)
        if (isEmpty(main)) main.exec(noneKept)
        else {
          for (const drop of dropReplaced) main.prepare(drop).run(state)
          main.prepare(findKept).run(network)
        }
        this.#withoutIndex(main, () => main.prepare(addNewest).run(state))
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
    const index = main.prepare("SELECT sql FROM main.sqlite_schema WHERE name = 'solana_holdings_by_account'").get()
    const rebuild = index !== undefined && count('main.solana_holdings') * 4 < count('staged.holdings')
    if (rebuild) main.exec('DROP INDEX main.solana_holdings_by_account')
    work()
    if (rebuild) main.exec(index.sql as string)
  }

  async discard(): Promise<void> {
    await this.close()
    removeDatabase(this.#path)
  }

  async close(): Promise<void> {
    this.#open?.close()
    this.#open = undefined
  }

  #staged(): Connection {
    if (this.#open === undefined) {
      createPrivate(this.#path)
      this.#open = new Connection(this.#path, { ...writeOptions, cacheMegabytes: 16 })
      // The archive still has what a power cut loses. Appended pages need no journal, so it is smaller than a
      // write-ahead log.
      this.#open.database.exec(`PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; ${schema}`)
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

/** Most imports are the first. */
function isEmpty(main: DatabaseSync): boolean {
  const some = ['solana_holdings', 'solana_closed'].map(table => `EXISTS (SELECT 1 FROM main.${table})`)
  return (main.prepare(`SELECT ${some.join(' OR ')} AS some`).get() as { some: number }).some === 0
}

/** Sixteen rows at a time cost two thirds of one at a time. */
const holdingsPerRun = 16
const insertHolding = 'INSERT INTO holdings VALUES (?, ?, ?, ?, ?, ?, ?)'
const insertHoldings = insertHolding + ', (?, ?, ?, ?, ?, ?, ?)'.repeat(holdingsPerRun - 1)

function holdingValues(row: HoldingUpdate): SQLInputValue[] {
  const place = placeOf(row)
  if ('closed' in row) return [row.account, null, null, null, null, row.slot, place]
  return [row.account, row.owner, row.mint, row.amount.toString(), row.program, row.slot, place]
}

/** By hand, because going through bigint takes several times as long, and most write versions are 0. */
function placeOf({ slot, writeVersion }: HoldingUpdate): Buffer {
  const place = Buffer.alloc(16)
  place.writeUInt32BE(Math.floor(slot / 2 ** 32), 0)
  place.writeUInt32BE(slot % 2 ** 32, 4)
  if (writeVersion !== 0n) place.writeBigUInt64BE(writeVersion, 8)
  return place
}
