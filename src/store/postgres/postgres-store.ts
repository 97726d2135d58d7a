// The store on a PostgreSQL server, a replica of it, and the store as parts for copying it. It only joins what has the
// statements, transactions and errors.
import type { SolanaNetwork } from '../../model.ts'
import type { CoreOptions } from '../core/core.ts'
import type { StoreParts } from '../parts.ts'
import { storeFormat } from '../schema.ts'
import type { SolanaStaging } from '../solana-store.ts'
import type { ReadReplica, Store } from '../store.ts'
import { allTables } from '../tables/all-tables.ts'
import { Database } from './database.ts'
import { PostgresEngine } from './postgres-engine.ts'
import { watchRevision } from './revision.ts'
import { solanaStaging } from './solana-staging.ts'
import { databaseOptions, openStoreDatabase, StoreDatabase, type StoreDatabaseOptions } from './store-database.ts'

/**
 * Beside what every engine offers: imports, vacuuming, and for a replica which commits this process knows and when it
 * last asked.
 */
export type PostgresStore = Store & {
  seen(): Seen
  solanaStaging(network: SolanaNetwork): SolanaStaging
  vacuum(): Promise<void>
}
type Seen = { commits: number; atMs: number }

export async function openPostgresStore(
  url: string,
  { mustExist = false, stallMsMax, ...options }: OpenDatabaseOptions = {},
): Promise<PostgresStore> {
  const store = await openStoreDatabase(url, { mustExist, stallMsMax })
  try {
    const [[secret] = []] = await store.database.read("SELECT value FROM secrets WHERE name = 'cursor'")
    return postgresStore(store, secret, options)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** How bulk commits are kept; tests have runs of few rows, and wait less for a process that stalls. */
export type OpenDatabaseOptions = StoreDatabaseOptions & Partial<CoreOptions>

/** A database as parts (`../core/store-parts.ts`), for copying it. */
export async function openPostgresParts(url: string, options: StoreDatabaseOptions = {}): Promise<StoreParts> {
  // Most processes copy no store.
  const { storeParts } = await import('../core/store-parts.ts')
  const store = await openStoreDatabase(url, options)
  return storeParts({
    engine: new PostgresEngine(store),
    location: store.database.location,
    keepNumbers: async () => {
      await store.database.write(keepNumbersSql)
    },
    close: () => store.close(),
  })
}

/** The next numbers follow those that were written. */
const keepNumbersSql = `SELECT setval('chain_ordinals', max(ordinal)), setval('contract_numbers', (SELECT max(id) FROM contracts))
  FROM chains HAVING max(ordinal) IS NOT NULL`

export async function reachDatabase(url: string): Promise<void> {
  const database = new Database(databaseOptions(url))
  try {
    await database.read('SELECT 1')
  } finally {
    await database.close()
  }
}

export function isPostgresStore(store: Store): store is PostgresStore {
  return store.engine === 'postgres' && 'seen' in store
}

function postgresStore(store: StoreDatabase, secret: Uint8Array, options: Partial<CoreOptions> = {}): PostgresStore {
  const { database, watch } = store
  const tables = allTables(new PostgresEngine(store), options)
  return {
    engine: 'postgres',
    location: database.location,
    secret,
    revision: () => watch.value,
    solanaStaging: network => solanaStaging(tables, store, network),
    vacuum: () => database.slow(`VACUUM (ANALYZE) ${largeTables.join()}`),
    seen: () => ({ commits: watch.commits, atMs: watch.seenAtMs }),
    async info() {
      const sizeBytes = await store.sizeBytes()
      const { location } = database
      return {
        engine: 'postgres',
        location,
        schemaVersion: storeFormat,
        sizeBytes,
        usedBytes: sizeBytes,
        disk: undefined,
      }
    },
    problems: () => store.problems(),
    close: () => store.close(),
    ...tables,
  }
}

/** Those that forgetting leaves room in. */
const largeTables = ['runs', 'packs', 'recent_blocks', 'blocks', 'contract_facts', 'token_uris', 'checkpoints']

// A streaming replica of the database that answers may come from while its lag is small. It decides only that, and
// writes nothing.

const lookMs = 100
/** After a read that failed. */
const restMs = 1_000

/**
 * The lag is the age of the primary's first commit that the replica lacks, by this process's clock alone: both count
 * commits in the same rows, which the replica replays like any other.
 */
export function openReadReplica({
  primary,
  url,
  lagMsMax,
}: {
  primary: PostgresStore
  url: string
  lagMsMax: number
}): ReadReplica {
  const options = databaseOptions(url)
  const database = new Database(options)
  const watch = watchRevision(options.connectionString, database)
  const store = postgresStore(new StoreDatabase({ database, watch }), primary.secret)
  /** Commits of the primary that the replica has not shown yet, oldest first. */
  const ahead: Seen[] = []
  let restUntilMs = 0
  let wasCurrent = false
  let changes = 0
  const look = (): void => {
    const now = primary.seen()
    if (now.commits > (ahead.at(-1)?.commits ?? watch.commits)) ahead.push({ commits: now.commits, atMs: now.atMs })
    while (ahead[0] !== undefined && ahead[0].commits <= watch.commits) ahead.shift()
  }
  const isCurrent = (): boolean => {
    const now = performance.now()
    const oldest = Math.min(watch.seenAtMs, primary.seen().atMs, ahead[0]?.atMs ?? Number.POSITIVE_INFINITY)
    return now >= restUntilMs && now - oldest <= lagMsMax
  }
  const timer = setInterval(look, lookMs).unref()
  return {
    current(): Store | undefined {
      const current = isCurrent()
      if (current !== wasCurrent) changes += 1
      wasCurrent = current
      return current ? store : undefined
    },
    failed() {
      restUntilMs = performance.now() + restMs
    },
    revision: () => watch.value + changes,
    async close() {
      clearInterval(timer)
      await store.close()
    },
  }
}
