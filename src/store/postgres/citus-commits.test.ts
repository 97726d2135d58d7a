// Commits whose parts are visible one after another, on one server: a prepared transaction with a name of Citus stands
// for the part of a worker that is not finished. On a real cluster: `test/citus-answers.test.ts`.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/postgres-server.ts'
import type { Address, ChainId, Hash } from '../../model.ts'
import { noActivity } from '../packed-activity.ts'
import { chainReader, chainWriter } from './chain.ts'
import type { CitusWorkers } from './citus-workers.ts'
import { Database } from './database.ts'
import { Dictionary } from './dictionary.ts'
import { migrate } from './migrate.ts'
import { watchRevision } from './revision.ts'
import { databaseOptions, StoreDatabase } from './store-database.ts'
import { transferReader } from './transfer-pages.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ max_prepared_transactions: '10' })
})
afterAll(() => server.stop())

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(40), contract }

function blockOf(number: number, branch = 0) {
  const hash = `0x${branch}${number.toString(16).padStart(63, '0')}` as Hash
  return { number, hash, timestamp: number, transfers: [{ ...place, block: number }], activity: noActivity }
}

async function openWorld() {
  const url = await server.createDatabase()
  const options = databaseOptions(url)
  const database = new Database(options)
  await migrate(database)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE TABLE workers (success bool, result text);
    CREATE FUNCTION run_command_on_workers(command text) RETURNS SETOF workers LANGUAGE sql AS 'SELECT * FROM workers'`)
  const watch = watchRevision(options.connectionString, database)
  // One server has no shards to look up.
  const read: CitusWorkers['read'] = (_key, sql, ...values) => database.read(sql, ...values)
  const workers = { read, close() {} } as CitusWorkers
  const store = new StoreDatabase({ database, watch, dictionary: new Dictionary(database), workers })
  const close = async () => {
    await client.end()
    await store.close()
  }
  return { client, database, ...chainWriter(store), ...chainReader(store), ...transferReader(store), close }
}

const page = { chain, contract, order: 'asc', limit: 10 } as const
const cold = (from: number, to: number) => {
  const blocks = Array.from({ length: to - from + 1 }, (_, at) => blockOf(from + at))
  const covered = [{ scope: 'full', from, to, evidence: 'bloom' }] as const
  return { chain, covered, blocks, transfers: blocks.flatMap(block => block.transfers), activity: noActivity }
}

test('nothing is written or claimed while a commit is unfinished anywhere', async () => {
  const world = await openWorld()
  await world.client.query("BEGIN; CREATE TABLE unfinished (); PREPARE TRANSACTION 'citus_0_1_1_1'")
  const commit = world.commitCold(cold(1, 3))
  await delay(500)
  expect(await world.coverage(chain, 'full')).toEqual([])
  await world.client.query("COMMIT PREPARED 'citus_0_1_1_1'")
  await commit
  expect(await world.coverage(chain, 'full')).toEqual([{ from: 1, to: 3, evidence: 'bloom' }])
  await world.close()
})

test('a worker that does not answer leaves rows without a claim, and the next try claims them', async () => {
  const world = await openWorld()
  await world.putHead(chain, blockOf(9))
  // Lost after the rows were committed: a warning of the commit is all that tells.
  await world.client.query(`INSERT INTO workers VALUES (false, 'connection refused');
    CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'failed to commit'; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON transfers INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()`)
  await expect(world.commitCold(cold(1, 3))).rejects.toMatchObject({ code: 'store_failed', retryable: true })
  expect((await world.transferPage(page)).blocks).toEqual([1, 2, 3])
  expect(await world.coverage(chain, 'full')).toEqual([])
  await world.client.query('DELETE FROM workers')
  await world.commitCold(cold(1, 3))
  expect(await world.coverage(chain, 'full')).toEqual([{ from: 1, to: 3, evidence: 'bloom' }])
  await world.close()
})

test('a reorganisation ends claims before it changes rows, and rows of a commit that was cut off never become final', async () => {
  const world = await openWorld()
  const covered = { scope: 'full', from: 1, evidence: 'bloom' } as const
  const first = [1, 2, 3].map(number => blockOf(number))
  await world.commitHot({ chain, ancestor: 0, blocks: first, covered, head: first[2]! })
  expect(await world.coverage(chain, 'full')).toEqual([{ from: 1, to: 3, evidence: 'bloom' }])
  // The commit ends where it would claim its rows, as in a process that is killed there.
  await world.client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut off'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON hot_blocks FOR EACH ROW EXECUTE FUNCTION refuse()`)
  const second = [2, 3, 4].map(number => blockOf(number, 1))
  const replacing = { chain, ancestor: 1, blocks: second, covered: { ...covered, from: 2 }, head: second[2]! }
  await expect(world.commitHot(replacing)).rejects.toMatchObject({ code: 'store_failed' })
  expect(await world.coverage(chain, 'full')).toEqual([{ from: 1, to: 1, evidence: 'bloom' }])
  expect((await world.hotBlocks(chain)).map(block => block.number)).toEqual([1])
  expect((await world.transferPage(page)).blocks).toEqual([1, 2, 3, 4])
  await world.finalize(chain, 3)
  expect((await world.transferPage(page)).blocks).toEqual([1, 4])
  await world.client.query('DROP TRIGGER refuse ON hot_blocks')
  const third = [4, 5].map(number => blockOf(number, 2))
  await world.commitHot({ chain, ancestor: 3, blocks: third, covered: { ...covered, from: 4 }, head: third[1]! })
  expect((await world.transferPage(page)).blocks).toEqual([1, 4, 5])
  expect(await world.coverage(chain, 'full')).toEqual([
    { from: 1, to: 1, evidence: 'bloom' },
    { from: 4, to: 5, evidence: 'bloom' },
  ])
  await world.close()
})
