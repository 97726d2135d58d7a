// Commits whose parts are visible one after another, on one server: a prepared transaction with a name of Citus stands
// for the part of a worker that is not finished. On a real cluster: `test/citus-answers.test.ts`.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SharedPostgres, sharedPostgres } from '../../../../test/postgres-server.ts'
import type { Address, ChainId, Hash } from '../../../model.ts'
import { chainStore } from '../../core/chain-store.ts'
import { Core } from '../../core/core.ts'
import { storeParts } from '../../core/store-parts.ts'
import { byToken } from '../../indexes/by-token.ts'
import { noActivity, packActivity } from '../../packed-activity.ts'
import { PackReader } from '../../runs/pack.ts'
import { blockOfKey, transferView } from '../../runs/transfer-view.ts'
import { Database } from '../database.ts'
import { PostgresEngine } from '../postgres-engine.ts'
import { watchRevision } from '../revision.ts'
import { databaseOptions, StoreDatabase } from '../store-database.ts'
import type { CitusWorkers } from './workers.ts'

let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(40), contract }

function blockOf(number: number, branch = 0) {
  const hash = `0x${branch}${number.toString(16).padStart(63, '0')}` as Hash
  return { number, hash, timestamp: number, transfers: [{ ...place, block: number }], activity: noActivity }
}

/** `stallMsMax`: how long a worker may be silent. What is final is folded at once, and two runs are merged. */
async function openWorld(stallMsMax?: number) {
  const url = await server.createStore()
  const settings = databaseOptions(url)
  const database = new Database({ ...settings, stallMsMax })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE TABLE workers (success bool, result text);
    CREATE FUNCTION run_command_on_workers(command text) RETURNS SETOF workers LANGUAGE sql AS 'SELECT * FROM workers'`)
  const watch = watchRevision(settings.connectionString, database)
  const hooks: { beforeCold: () => Promise<void> } = { beforeCold: async () => {} }
  // One server has no shards to look up.
  const read: CitusWorkers['read'] = async (_key, sql, ...values) => {
    await hooks.beforeCold()
    return await database.read(sql, ...values)
  }
  const workers = { read, close() {} } as CitusWorkers
  const store = new StoreDatabase({ database, watch, workers })
  const close = async () => {
    await client.end()
    await store.close()
  }
  const options = { foldBlocks: 1, runsPerMerge: 2, recordsWorthMerging: 1 }
  const engine = new PostgresEngine(store)
  const parts = storeParts({ engine, location: url, keepNumbers: async () => {}, close: async () => {} })
  return { client, hooks, parts, ...chainStore(new Core(engine, options)), close }
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
  expect(await world.coverage(chain, 'full')).toEqual([{ scope: 'full', from: 1, to: 3, evidence: 'bloom' }])
  await world.close()
})

test('a worker that does not answer leaves rows without a claim, and the next try claims them', async () => {
  const world = await openWorld(2_000)
  await world.commitCold(cold(0, 0))
  // Lost after the rows were committed: a warning of the commit is all that tells.
  await world.client.query(`INSERT INTO workers VALUES (false, 'connection refused');
    CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'failed to commit'; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON packs INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()`)
  await expect(world.commitCold(cold(1, 3))).rejects.toMatchObject({ code: 'store_failed', retryable: true })
  expect((await world.transferPage(page)).blocks).toEqual([0, 1, 2, 3])
  expect(await world.coverage(chain, 'full')).toEqual([{ scope: 'full', from: 0, to: 0, evidence: 'bloom' }])
  await world.client.query('DELETE FROM workers')
  await world.commitCold(cold(1, 3))
  expect(await world.coverage(chain, 'full')).toEqual([{ scope: 'full', from: 0, to: 3, evidence: 'bloom' }])
  await world.close()
})

const covered = { scope: 'full', from: 1, evidence: 'bloom' } as const
const refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut off'; END $$"

/** Three recent blocks, with a wallet in each. */
async function openFollowed() {
  const world = await openWorld()
  const blocks = [1, 2, 3].map(number => ({ ...blockOf(number), activity: activityOf(number) }))
  await world.commitHot({ chain, ancestor: 0, blocks, covered, head: blocks[2]! })
  await world.client.query(refuse)
  /** The blocks of transfers that are stored as recent ones, and in runs. */
  const stored = async () => {
    const recent = await world.client.query('SELECT number::int FROM recent_blocks ORDER BY number')
    const packs = await world.client.query(
      'SELECT bytes FROM packs JOIN runs USING (slot) WHERE run = id AND view = $1',
      [transferView.id],
    )
    const reader = new PackReader(transferView.keyBytes)
    const inRuns: number[] = []
    for (const { bytes } of packs.rows) {
      reader.open(bytes)
      while (reader.next()) inRuns.push(blockOfKey(reader.key))
    }
    return { recent: recent.rows.map(({ number }) => number), inRuns: inRuns.sort((one, other) => one - other) }
  }
  /** Expects one row in each of these blocks. */
  const expectRows = async (numbers: readonly number[]): Promise<void> => {
    expect((await world.transferPage(page)).blocks).toEqual(numbers)
    expect((await world.transferPage({ ...page, order: 'desc' })).blocks).toEqual(numbers.toReversed())
    expect(await world.transferCount({ chain, contract })).toBe(numbers.length)
    expect(await world.transferCount({ chain, contract, fromBlock: 0, toBlock: 9 })).toBe(numbers.length)
  }
  return { ...world, stored, expectRows }
}

function activityOf(block: number) {
  const hash = blockOf(block).hash
  const transaction = { block, transactionIndex: 0, timestamp: block, hash }
  return packActivity([{ address: contract, first: transaction, last: transaction }])
}

test('a block at the head is one transaction, whatever a worker does', async () => {
  const world = await openFollowed()
  await world.client.query("INSERT INTO workers VALUES (false, 'connection refused')")
  const fourth = [blockOf(4)]
  await world.commitHot({ chain, ancestor: 3, blocks: fourth, covered: { ...covered, from: 4 }, head: fourth[0]! })
  await world.expectRows([1, 2, 3, 4])
  await world.client.query(
    'CREATE TRIGGER refuse BEFORE INSERT ON recent_blocks FOR EACH ROW EXECUTE FUNCTION refuse()',
  )
  const second = [2, 3].map(number => blockOf(number, 1))
  const replacing = { chain, ancestor: 1, blocks: second, covered: { ...covered, from: 2 }, head: second[1]! }
  await expect(world.commitHot(replacing)).rejects.toMatchObject({ code: 'store_failed' })
  await world.expectRows([1, 2, 3, 4])
  expect(await world.coverage(chain, 'full')).toEqual([{ scope: 'full', from: 1, to: 4, evidence: 'bloom' }])
  await world.close()
})

test('a finalization that is cut off before rows are in runs changes nothing', async () => {
  const world = await openFollowed()
  await world.client.query('CREATE TRIGGER refuse BEFORE INSERT ON packs FOR EACH ROW EXECUTE FUNCTION refuse()')
  const before = await world.chainState(chain)
  await expect(world.putChainState(chain, { finalized: 2 })).rejects.toMatchObject({ code: 'store_failed' })
  expect(await world.chainState(chain)).toEqual(before)
  expect(await world.stored()).toEqual({ recent: [1, 2, 3], inRuns: [] })
  await world.expectRows([1, 2, 3])
  await world.client.query('DROP TRIGGER refuse ON packs')
  await world.putChainState(chain, { finalized: 2 })
  expect(await world.stored()).toEqual({ recent: [3], inRuns: [1, 2] })
  await world.expectRows([1, 2, 3])
  await world.close()
})

test('a finalization that is cut off before rows are no longer recent is final, shows each row once and is ended by the next commit', async () => {
  const world = await openFollowed()
  await world.client.query(
    'CREATE TRIGGER refuse BEFORE DELETE ON recent_blocks FOR EACH ROW EXECUTE FUNCTION refuse()',
  )
  await expect(world.putChainState(chain, { finalized: 2 })).rejects.toMatchObject({ code: 'store_failed' })
  expect(await world.stored()).toEqual({ recent: [1, 2, 3], inRuns: [1, 2] })
  await world.expectRows([1, 2, 3])
  expect((await world.activityOf(contract)).get(chain)).toMatchObject({ first: { block: 1 }, last: { block: 3 } })
  expect((await world.chainState(chain))?.finalized).toBe(2)
  expect((await world.hotBlocks(chain)).map(block => block.number)).toEqual([3])
  expect((await world.parts.readPart('transfers', undefined, 10)).rows).toEqual([])
  expect((await world.parts.readPart('recent_blocks', undefined, 10)).rows.map(([, number]) => number)).toEqual([
    1, 2, 3,
  ])
  const second = [blockOf(2, 1)]
  const replacing = { chain, ancestor: 1, blocks: second, covered: { ...covered, from: 2 }, head: second[0]! }
  await expect(world.commitHot(replacing)).rejects.toMatchObject({ code: 'conflict' })
  const late = [{ ...blockOf(2), transfers: [] }]
  await expect(world.addToHot(chain, late, [])).rejects.toMatchObject({ code: 'conflict' })
  await world.client.query('DROP TRIGGER refuse ON recent_blocks')
  await world.commitCold(cold(0, 0))
  expect(await world.stored()).toEqual({ recent: [3], inRuns: [0, 1, 2] })
  await world.expectRows([0, 1, 2, 3])
  await world.close()
})

test('what a finalization that was cut off left in runs is merged with nothing', async () => {
  const world = await openFollowed()
  await world.putChainState(chain, { finalized: 1 })
  await world.client.query(
    'CREATE TRIGGER refuse BEFORE DELETE ON recent_blocks FOR EACH ROW EXECUTE FUNCTION refuse()',
  )
  await expect(world.putChainState(chain, { finalized: 2 })).rejects.toMatchObject({ code: 'store_failed' })
  // Below the fold: these merge all that they find, and fold nothing.
  const rows = Array.from({ length: 12 }, (_, logIndex) => ({ ...place, block: 0, logIndex }))
  for (const row of rows) await world.commitCold({ ...cold(0, 0), transfers: [row] })
  await world.keepIndexes(chain, [], 1)
  while (await world.keepIndexes(chain, undefined, 100));
  await world.keepIndexes(chain, ['by_token'], 1)
  while (await world.keepIndexes(chain, undefined, 100));
  const inIndex = await world.client.query('SELECT sum(records) FROM runs WHERE view = $1', [byToken.id])
  expect(Number(inIndex.rows[0].sum)).toBe(rows.length + 1)
  await world.client.query('DROP TRIGGER refuse ON recent_blocks')
  await world.putChainState(chain, { finalized: 2 })
  expect((await world.stored()).recent).toEqual([3])
  expect(await world.transferCount({ chain, contract })).toBe(rows.length + 3)
  expect(await world.transferCount({ chain, contract, fromBlock: 0, toBlock: 9 })).toBe(rows.length + 3)
  const all = { ...page, limit: 100 }
  expect((await world.transferPage(all)).blocks).toEqual([...rows.map(({ block }) => block), 1, 2, 3])
  await world.close()
})

test('what becomes final, or is replaced, between the two reads of an answer is read anew, once', async () => {
  const world = await openFollowed()
  const meanwhile = async (step: () => Promise<void>): Promise<void> => {
    // The next answer reads cold rows with what this one knows.
    await world.transferCount({ chain, contract })
    world.hooks.beforeCold = async () => {
      world.hooks.beforeCold = async () => {}
      // Both reads begin at once.
      await delay(50)
      await step()
    }
  }
  await world.commitCold(cold(0, 0))
  await meanwhile(() => world.putChainState(chain, { finalized: 1 }))
  expect((await world.transferPage(page)).blocks).toEqual([0, 1, 2, 3])
  await meanwhile(() => world.putChainState(chain, { finalized: 2 }))
  expect(await world.transferCount({ chain, contract })).toBe(4)
  await meanwhile(async () => {
    const blocks = [blockOf(3, 1), blockOf(4, 1)]
    await world.commitHot({ chain, ancestor: 2, blocks, covered: { ...covered, from: 3 }, head: blocks[1]! })
    await world.putChainState(chain, { finalized: 3 })
  })
  const { blocks, blockHashes } = await world.transferPage({ ...page, order: 'desc' })
  expect(blocks).toEqual([4, 3, 2, 1, 0])
  expect(Buffer.from(blockHashes.subarray(32, 64)).toString('hex')).toBe(blockOf(3, 1).hash.slice(2))
  await meanwhile(() => world.putChainState(chain, { finalized: 4 }))
  expect(await world.blocksAround(chain, 4)).toEqual({ before: known(3, 1), after: known(4, 1) })
  expect((await world.activityOf(contract)).get(chain)).toMatchObject({ first: { block: 1 }, last: { block: 2 } })
  await world.expectRows([0, 1, 2, 3, 4])
  await world.close()
})

function known(number: number, branch: number) {
  const { hash, timestamp } = blockOf(number, branch)
  return { number, hash, timestamp }
}
