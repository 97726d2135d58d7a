// Makes the tables of a new database and, where Citus is installed, has them distributed. Any number of processes may
// start at once: the first one makes them, the others wait.
import { randomBytes } from 'node:crypto'
import { AlmanacError } from '../../errors.ts'
import { noStoreAt, requireFormat, storeFormat } from '../schema.ts'
import { hasCitus, placeTables, useOneConnection } from './citus/place-tables.ts'
import type { Database, Transaction } from './database.ts'
import { tables } from './tables.ts'

/** "ALMN": the advisory lock of who makes them. */
const creationLock = 0x414c4d4e

export async function createTables(database: Database): Promise<void> {
  await database.transaction(async transaction => {
    // A lock of the transaction: PgBouncer does not support those of the session.
    await transaction.query('SELECT pg_advisory_xact_lock($1)::text', creationLock)
    const onCitus = await hasCitus(transaction)
    if (!(await hasTables(transaction, database.location))) {
      if (onCitus) await useOneConnection(transaction)
      // One by one, because Citus passes whole texts on to its workers, which take one statement at a time.
      for (const statement of tables.split(/;\s*\n/)) if (statement.trim() !== '') await transaction.script(statement)
      await transaction.script('CREATE TABLE almanac_schema (version int4 NOT NULL)')
      await transaction.run('INSERT INTO almanac_schema VALUES ($1)', storeFormat)
      await transaction.run('INSERT INTO secrets VALUES ($1, $2)', 'cursor', randomBytes(32))
    }
    // Also where a dump was restored, or the extension came after the tables.
    if (onCitus) await placeTables(transaction, database.location)
  })
}

/** For callers that must not create a store. */
export async function requireStore(database: Database): Promise<void> {
  const [[table] = []] = await database.read("SELECT to_regclass('almanac_schema')::text")
  if (table === null) throw noStoreAt(database.location)
}

/** False for an empty database; throws for one that is not for this version. */
async function hasTables(transaction: Transaction, location: string): Promise<boolean> {
  const [[known, taken] = []] = await transaction.query(
    "SELECT to_regclass('almanac_schema')::text, to_regclass('transfers')::text",
  )
  if (known !== null) {
    const [[format] = []] = await transaction.query('SELECT version FROM almanac_schema')
    requireFormat(Number(format), `The store ${location}`)
    return true
  }
  // A table of another program with one of our names would fail halfway with an unclear message.
  if (taken !== null)
    throw new AlmanacError('store_corrupt', `The database ${location} holds tables of another program.`, {
      hint: 'name an empty database under store; this one was left as it is.',
    })
  return false
}
