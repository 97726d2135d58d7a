// The engine on Citus: the same contract, and every read of the three operations on one shard. Needs a coordinator with its
// workers at ALMANAC_TEST_CITUS_URL; each test works in a schema of its own there.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import type { Address, ChainId, Hash } from '../../model.ts'
import { Database } from './database.ts'
import { openPostgresStore } from './postgres-store.ts'

const citus = process.env.ALMANAC_TEST_CITUS_URL

async function onCitus<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: citus })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function createFixture(): Promise<StoreFixture & { url: string }> {
  const schema = `almanac_${randomBytes(6).toString('hex')}`
  await onCitus(client => client.query(`CREATE SCHEMA ${schema}`))
  const url = new URL(citus as string)
  url.searchParams.set('options', `-c search_path=${schema},public`)
  const store = await openPostgresStore(url.href)
  return {
    url: url.href,
    store,
    beside: () => openPostgresStore(url.href),
    dispose: async () => {
      await store.close()
      await onCitus(client => client.query(`DROP SCHEMA ${schema} CASCADE`))
    },
  }
}

if (citus === undefined) test.skip('set ALMANAC_TEST_CITUS_URL to run the store on Citus', () => {})
else {
  // A new set of distributed tables takes seconds.
  storeContract('citus', createFixture, { runs: Number(process.env.STORE_RUNS ?? 12) })

  describe('every read of the three operations', () => {
    test('is planned for one shard', async () => {
      const { store, url, dispose } = await createFixture()
      const chain = 1 as ChainId
      const contract = `0x${'c'.repeat(40)}` as Address
      const block = { number: 1, hash: `0x${'1'.repeat(64)}` as Hash, timestamp: 1 }
      const row = { block: 1, transactionIndex: 0, logIndex: 0, batchIndex: 0, contract, payload: new Uint8Array(40) }
      await store.commitCold({ chain, covered: [], blocks: [block], transfers: [row], activity: [] })
      const reads = vi.spyOn(Database.prototype, 'read')
      for (const order of ['asc', 'desc'] as const) await store.transferPage({ chain, contract, order, limit: 100 })
      await store.transferCount({ chain, contract })
      await store.transferCount({ chain, contract, fromBlock: 1, toBlock: 9_000 })
      await store.chainState(chain)
      await store.contractCoverage(chain, contract)
      await store.contractFacts(chain, contract)
      await store.labelsOf(chain, [contract])
      await store.blocksAround(chain, 1)
      await store.activityOf(contract)
      await store.portfolioOf('mainnet', new Uint8Array(32))
      const statements = reads.mock.calls.filter(([sql]) => !sql.includes('FROM revisions'))
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
      // Reference tables may be read on the coordinator itself; pages, counts, moments, wallets and portfolios may not.
      expect(onOneShard).toBeGreaterThanOrEqual(7)
      await client.end()
      await dispose()
    })
  })
}
