// The indexes of a database after any sequence of writes.
import { afterAll, beforeAll, test } from 'vitest'
import { checkIndexSteps } from '../../../../test/index-steps.ts'
import { type PostgresServer, startPostgres } from '../../../../test/postgres-server.ts'
import { openPostgresStore } from '../postgres-store.ts'

let server: PostgresServer
let empty: string
beforeAll(async () => {
  server = await startPostgres()
  empty = await server.createDatabase()
  await (await openPostgresStore(empty)).close()
})
afterAll(() => server.stop())

const runs = Number(process.env.ALMANAC_INDEX_RUNS ?? 4)

test('an index has the records of the stored transfers, after every change', {
  timeout: 60_000 + runs * 3_000,
}, async () => {
  await checkIndexSteps(async form => {
    const store = await openPostgresStore(await server.createDatabase(empty), form)
    return { store, dispose: () => store.close() }
  }, runs)
})
