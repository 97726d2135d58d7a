// The PostgreSQL engine against the contract of every engine.
import { afterAll, beforeAll } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/postgres-server.ts'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { openPostgresStore } from './postgres-store.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

storeContract('postgres', async (): Promise<StoreFixture> => {
  const url = await server.createDatabase()
  const store = await openPostgresStore(url)
  return { store, beside: () => openPostgresStore(url), dispose: () => store.close() }
})
