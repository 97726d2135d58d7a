// A streaming replica of the database that answers may come from while its lag is small. It decides only that, and
// writes nothing.
import type { ReadReplica, Store } from '../store.ts'
import { Database } from './database.ts'
import { Dictionary } from './dictionary.ts'
import { type PostgresStore, postgresStore } from './postgres-store.ts'
import { watchRevision } from './revision.ts'
import { databaseOptions, StoreDatabase } from './store-database.ts'

const lookMs = 100
/** After a read that failed. */
const restMs = 1_000

type Seen = { commits: number; atMs: number }

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
  const store = postgresStore(new StoreDatabase(database, watch, new Dictionary(database)))
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
