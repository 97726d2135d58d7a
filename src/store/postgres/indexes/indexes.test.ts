// The indexes of a database after any sequence of writes.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkIndexSteps } from '../../../../test/index-steps.ts'
import { type SharedPostgres, sharedPostgres } from '../../../../test/postgres-server.ts'
import { seed, seeded } from '../../../../test/seed.ts'
import { openPostgresStore } from '../postgres-store.ts'

let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

const runs = Number(process.env.ALMANAC_INDEX_RUNS ?? 4)

test('an index has the records of the stored transfers, after every change', {
  timeout: 60_000 + runs * 3_000,
}, async () => {
  await checkIndexSteps(async form => {
    const store = await openPostgresStore(await server.createStore(), form)
    return { store, dispose: () => store.close() }
  }, runs)
})

test('an index that another process leaves gets no record any more', { timeout: 60_000 }, async () => {
  const url = await server.createStore()
  const store = await openPostgresStore(url)
  const chain = seeded.chains.eth
  await seed(store)
  await store.keepIndexes(chain, [])
  while (await store.fillIndexes(chain, 10_000));
  await store.keepIndexes(chain, ['by_token'])
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  const waiting = `SELECT count(*)::int AS count FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE NOT granted AND locktype = $1 AND datname = current_database()`
  const locksWaited = async () => (await other.query(waiting, ['advisory'])).rows[0].count
  /** Nothing is changed while another process changes the runs. */
  const meanwhile = async (work: () => Promise<unknown>, change: string): Promise<void> => {
    await other.query('BEGIN')
    await other.query('SELECT pg_advisory_xact_lock($1, ordinal) FROM chains WHERE id = $2', [0x52554e53, chain])
    const done = work()
    await expect.poll(locksWaited, { timeout: 5_000 }).toBe(1)
    await other.query(change)
    await other.query('COMMIT')
    await done
  }
  await meanwhile(() => store.forgetStep({ chain, view: 'by_token' }, 10_000), 'SELECT 1')
  while (!(await store.forgetStep({ chain, view: 'by_token' }, 10_000)).done);
  await store.keepIndexes(chain, ['by_token'])
  await meanwhile(() => store.fillIndexes(chain, 10_000), 'DELETE FROM chain_indexes')
  const left = `SELECT count(*)::int AS count FROM view_records
    WHERE chain = (SELECT ordinal FROM chains WHERE id = $1)`
  expect((await other.query(left, [chain])).rows[0].count).toBe(0)
  await other.end()
  await store.close()
})
