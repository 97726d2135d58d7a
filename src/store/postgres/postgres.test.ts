// The PostgreSQL engine against the contract of every engine.
import { afterAll, beforeAll } from 'vitest'
import { type PostgresServer, startPostgres, stepServerClock } from '../../../test/postgres-server.ts'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { type OpenDatabaseOptions, openPostgresStore } from './postgres-store.ts'

let server: PostgresServer
let empty: string
beforeAll(async () => {
  server = await startPostgres()
  empty = await server.createDatabase()
  await (await openPostgresStore(empty)).close()
})
afterAll(() => server.stop())

// Each sequence takes a database of its own, and there are two of each.
const runs = Number(process.env.STORE_RUNS ?? 12)
storeContract('postgres', () => open({}), { runs })
// Small commits of whole blocks go into tables as a rule. Here they are runs too.
storeContract('postgres, in runs', () => open({ bulkRows: 1, runsPerMerge: 3 }), { runs, rowsOnly: true })

async function open(options: OpenDatabaseOptions): Promise<StoreFixture> {
  const url = await server.createDatabase(empty)
  const store = await openPostgresStore(url, options)
  return {
    store,
    beside: () => openPostgresStore(url),
    stepClock: ms => stepServerClock(url, ms),
    dispose: () => store.close(),
  }
}
