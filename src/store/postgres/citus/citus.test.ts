// The engine on Citus: the same contract, and every read of the three operations on one shard. Needs a coordinator with
// its workers at ALMANAC_TEST_CITUS_URL; each test works in a schema of its own there.
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { citusUrl, createSchema, onCitus, onServer } from '../../../../test/citus-schema.ts'
import { checkIndexSteps } from '../../../../test/index-steps.ts'
import { type StoreFixture, storeContract } from '../../../../test/store-contract.ts'
import type { Address, ChainId, Hash } from '../../../model.ts'
import { noActivity } from '../../packed-activity.ts'
import type { Store } from '../../store.ts'
import { Database } from '../database.ts'
import { type OpenDatabaseOptions, openPostgresStore } from '../postgres-store.ts'

/** `host:port` of a server with the extension that is not a worker yet. */
const spareWorker = process.env.ALMANAC_TEST_CITUS_WORKER

async function createFixture(options: OpenDatabaseOptions = {}): Promise<StoreFixture & { url: string }> {
  const { url, drop } = await createSchema()
  const store = await openPostgresStore(url, options)
  return {
    url,
    store,
    beside: () => openPostgresStore(url),
    dispose: async () => {
      await store.close()
      await drop()
    },
  }
}

if (citusUrl === undefined) {
  console.error('The suite of a Citus cluster is skipped: npm run test:citus makes a cluster and runs it.')
  test.skip('npm run test:citus runs the store on Citus', () => {})
} else {
  // A new set of distributed tables takes seconds.
  const runs = Number(process.env.STORE_RUNS ?? 12)
  storeContract('citus', createFixture, { runs })
  storeContract('citus, in runs', () => createFixture({ foldBlocks: 1, runsPerMerge: 3, recordsWorthMerging: 1 }), {
    runs,
    rowsOnly: true,
  })

  test('an index has the records of the stored transfers, after every change', { timeout: 300_000 }, async () => {
    await checkIndexSteps(createFixture, Math.ceil(runs / 4))
  })

  /** All others are on the coordinator. */
  const spread = {
    ...{ blocks: 'chain', runs: 'slot', packs: 'slot' },
    ...{ solana_accounts: 'owner', solana_holdings: 'owner', solana_closed: 'account', solana_mints: 'everywhere' },
  }

  test('tables are spread by the column that requests ask for', async () => {
    const { url, dispose } = await createFixture()
    expect(await spreadOf(url)).toEqual(spread)
    await dispose()
  })

  describe('every read of the three operations', () => {
    test('is planned for one shard', async () => {
      const { store, url, dispose } = await createFixture()
      const chain = 1 as ChainId
      const contract = `0x${'c'.repeat(40)}` as Address
      const block = { number: 1, hash: `0x${'1'.repeat(64)}` as Hash, timestamp: 1 }
      const row = { block: 1, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload: new Uint8Array(40) }
      await store.commitCold({ chain, covered: [], blocks: [block], transfers: [row], activity: noActivity })
      const reads = vi.spyOn(Database.prototype, 'readWithin')
      for (const order of ['asc', 'desc'] as const) await store.transferPage({ chain, contract, order, limit: 100 })
      await store.transferCount({ chain, contract })
      await store.transferCount({ chain, contract, fromBlock: 1, toBlock: 9_000 })
      await store.chainState(chain)
      await store.contractCoverage(chain, contract)
      await store.annotationsOf(chain, contract)
      await store.labelsOf(chain, [contract])
      await store.blocksAround(chain, 1)
      await store.activityOf(contract)
      await store.portfolioOf('mainnet', new Uint8Array(32))
      // Without what the coordinator alone knows.
      const ofCoordinator = /FROM revisions|pg_dist_|get_shard_id/
      const statements = reads.mock.calls
        .map(([, sql, ...values]) => [sql, ...values] as const)
        .filter(([sql]) => !ofCoordinator.test(sql))
      reads.mockRestore()
      expect(statements.length).toBeGreaterThanOrEqual(11)
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      let onOneShard = 0
      for (const [sql, ...values] of statements) {
        const { rows } = await client.query({ text: `EXPLAIN ${sql}`, values })
        const plan = rows.map(line => line['QUERY PLAN']).join('\n')
        expect(plan, sql).not.toMatch(/Task Count: (?!1$)|Distributed Subplan/m)
        if (plan.includes('Task Count: 1')) onOneShard += 1
      }
      // Pages, counts, moments, wallets and portfolios; all other statements read the coordinator alone.
      expect(onOneShard).toBeGreaterThanOrEqual(7)
      await client.end()
      await dispose()
    })
  })

  describe.skipIf(spareWorker === undefined)('a worker that is added while rows come and go out', () => {
    test('takes its share, and no row is lost or repeated', { timeout: 900_000 }, async () => {
      const { store, url, dispose } = await createFixture()
      const reader = await openPostgresStore(url)
      const contracts = Array.from({ length: 24 }, (_, at) => `0x${(at + 16).toString(16).repeat(20)}` as Address)
      const [host, port] = (spareWorker as string).split(':') as [string, string]
      const work = { done: false, commits: 0, pages: 0, wrong: [] as string[] }
      const writing = ingest(store, contracts, work)
      const reading = readAll(reader, contracts, work)
      // Also after a failure no server is left as a worker: the next run adds it again.
      onTestFinished(async () => {
        await reader.close()
        await dispose()
        await removeWorker(host, port)
      }, 300_000)
      try {
        await onCitus(async client => {
          const before = await placesOf(client)
          await client.query('SELECT citus_add_node($1, $2::int)', [host, port])
          await client.query("SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')")
          const after = await placesOf(client)
          expect(after.get(Number(port)) ?? 0).toBeGreaterThan(before.get(Number(port)) ?? 0)
        })
      } finally {
        work.done = true
        await Promise.all([writing, reading])
      }
      expect(work.wrong).toEqual([])
      expect(work.commits).toBeGreaterThan(3)
      expect(work.pages).toBeGreaterThan(20)
      for (const contract of contracts) {
        const blocks = await blocksOf(reader, contract)
        expect(blocks).toEqual(Array.from({ length: work.commits * blocksPerCommit }, (_, at) => at).reverse())
        expect(await reader.transferCount({ chain, contract })).toBe(work.commits * blocksPerCommit)
      }
    })
  })
}

async function spreadOf(url: string): Promise<Record<string, string>> {
  const { rows } = await onServer(url, client =>
    client.query(
      `SELECT logicalrelid::text AS name, coalesce(column_to_column_name(logicalrelid, partkey), 'everywhere') AS by
       FROM pg_dist_partition WHERE logicalrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)`,
    ),
  )
  return Object.fromEntries(rows.map(({ name, by }) => [name, by]))
}

async function removeWorker(host: string, port: string): Promise<void> {
  await onCitus(async client => {
    const { rows } = await client.query('SELECT 1 FROM pg_dist_node WHERE nodeport = $1', [port])
    if (rows.length === 0) return
    await client.query('SELECT citus_drain_node($1, $2::int)', [host, port])
    await client.query('SELECT citus_remove_node($1, $2::int)', [host, port])
  })
}

const chain = 1 as ChainId
const blocksPerCommit = 40
type Work = { done: boolean; commits: number; pages: number; wrong: string[] }

/** One row of every contract in every block, ascending without a gap. */
async function ingest(store: Store, contracts: readonly Address[], work: Work): Promise<void> {
  while (!work.done || work.commits < 4) {
    const numbers = Array.from({ length: blocksPerCommit }, (_, at) => work.commits * blocksPerCommit + at)
    const blocks = numbers.map(number => ({
      number,
      hash: `0x${number.toString(16).padStart(64, '0')}` as Hash,
      timestamp: number,
    }))
    const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(40) }
    const transfers = numbers.flatMap(block => contracts.map(contract => ({ ...place, block, contract })))
    try {
      await store.commitCold({ chain, covered: [], blocks, transfers, activity: noActivity })
      work.commits += 1
    } catch (error) {
      // As indexers do: what may succeed later is tried again.
      if (!(error as { retryable?: boolean }).retryable) work.wrong.push(String((error as Error).cause ?? error))
      if (work.wrong.length > 5) return
    }
  }
}

async function readAll(store: Store, contracts: readonly Address[], work: Work): Promise<void> {
  for (let turn = 0; !work.done; turn++) {
    const least = work.commits * blocksPerCommit
    try {
      const blocks = await blocksOf(store, contracts[turn % contracts.length]!)
      work.pages += 1
      const isWhole = blocks.every((block, at) => block === blocks.length - 1 - at)
      if (!isWhole || blocks.length < least) work.wrong.push(`${blocks.length} of at least ${least} rows`)
    } catch (error) {
      work.wrong.push(`reading: ${(error as Error).cause ?? error}`)
    }
  }
}

async function blocksOf(store: Store, contract: Address): Promise<readonly number[]> {
  return (await store.transferPage({ chain, contract, order: 'desc', limit: 1_000_000 })).blocks
}

/** How many shards each worker has. */
async function placesOf(client: pg.Client): Promise<Map<number, number>> {
  const { rows } = await client.query('SELECT nodeport, count(*) FROM citus_shards GROUP BY nodeport')
  return new Map(rows.map(({ nodeport, count }) => [Number(nodeport), Number(count)]))
}
