// The store on a PostgreSQL server. It only joins the parts, which have the statements, transactions and errors.
import type { Store } from '../store.ts'
import { activityReader } from './activity.ts'
import { annotationStore } from './annotations.ts'
import { bytesOf } from './arrays.ts'
import { chainReader, chainWriter } from './chain.ts'
import { Database } from './database.ts'
import { Dictionary } from './dictionary.ts'
import { keyStore } from './keys.ts'
import { migrate } from './migrate.ts'
import { schemaVersion } from './migrations.ts'
import { watchRevision } from './revision.ts'
import { solanaStore } from './solana-holdings.ts'
import { databaseOptions, StoreDatabase } from './store-database.ts'
import { transferReader } from './transfer-pages.ts'
import { checkpointStore, leases, requireLease, workStore } from './work.ts'

/** Beside what every engine offers: which commits this process knows and when it last asked, for a replica. */
export type PostgresStore = Store & { seen(): { commits: number; atMs: number } }

export async function openPostgresStore(url: string): Promise<PostgresStore> {
  const options = databaseOptions(url)
  const database = new Database(options)
  try {
    await migrate(database)
    const watch = watchRevision(options.connectionString, database)
    await watch.refresh()
    return postgresStore(new StoreDatabase(database, watch, new Dictionary(database)))
  } catch (error) {
    await database.close()
    throw error
  }
}

export function isPostgresStore(store: Store): store is PostgresStore {
  return store.engine === 'postgres' && 'seen' in store
}

export function postgresStore(store: StoreDatabase): PostgresStore {
  const { database, watch } = store
  return {
    engine: 'postgres',
    location: database.location,
    revision: () => watch.value,
    seen: () => ({ commits: watch.commits, atMs: watch.seenAtMs }),
    async secret() {
      const [[value] = []] = await database.read("SELECT value FROM secrets WHERE name = 'cursor'")
      return bytesOf(value)
    },
    async info() {
      const [[size] = []] = await database.read('SELECT pg_database_size(current_database())')
      return { engine: 'postgres', location: database.location, schemaVersion, sizeBytes: Number(size) }
    },
    close: () => store.close(),
    ...chainReader(store),
    ...chainWriter(store),
    ...transferReader(store),
    ...activityReader(store),
    ...solanaStore(store),
    ...keyStore(store),
    ...annotationStore(store),
    ...leases(store),
    fenced(lease) {
      const fenced = store.fenced(transaction => requireLease(transaction, lease))
      return { ...chainWriter(fenced), putCheckpoint: checkpointStore(fenced).putCheckpoint }
    },
    ...workStore(database),
    ...checkpointStore(store),
  }
}
