// A database as parts (`../core/store-parts.ts`), for copying it.
import { storeParts } from '../core/store-parts.ts'
import type { StoreParts } from '../parts.ts'
import { hasCitus } from './citus/place-tables.ts'
import { CitusWorkers } from './citus/workers.ts'
import { Database } from './database.ts'
import { PostgresEngine } from './postgres-engine.ts'
import { watchRevision } from './revision.ts'
import { databaseOptions, StoreDatabase } from './store-database.ts'
import { createTables, requireStore } from './tables.ts'

/** The next numbers follow those that were written. */
const keepNumbersSql = `SELECT setval('chain_ordinals', max(ordinal)), setval('contract_numbers', (SELECT max(id) FROM contracts))
  FROM chains HAVING max(ordinal) IS NOT NULL`

export async function openPostgresParts(url: string, { mustExist = false } = {}): Promise<StoreParts> {
  const options = databaseOptions(url)
  const database = new Database(options)
  try {
    if (mustExist) await requireStore(database)
    await createTables(database)
    database.distributed = await hasCitus(database)
    const workers = database.distributed ? new CitusWorkers(database) : undefined
    const watch = watchRevision(options.connectionString, database)
    const store = new StoreDatabase({ database, watch, workers })
    return storeParts({
      engine: new PostgresEngine(store),
      location: database.location,
      keepNumbers: async () => {
        await database.write(keepNumbersSql)
      },
      close: () => store.close(),
    })
  } catch (error) {
    await database.close()
    throw error
  }
}
