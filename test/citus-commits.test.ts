// A commit that a worker refuses at its end, or is lost at, is one that never was. Citus promises it only for workers
// of which it knows that the transaction changed something there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address, ChainId, Hash } from '../src/model.ts'
import { noActivity, packActivity } from '../src/store/packed-activity.ts'
import { openPostgresStore, type PostgresStore } from '../src/store/postgres/postgres-store.ts'
import { atPort, citusUrl, createSchema, onCitus, onServer } from './citus-schema.ts'

const chain = 1 as ChainId
/** Spread over every worker. */
const contracts = Array.from({ length: 12 }, (_, at) => `0x${(at + 16).toString(16).repeat(20)}` as Address)
const place = { transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(40) }

function blockOf(number: number) {
  const hash = `0x${number.toString(16).padStart(64, '0')}` as Hash
  return { number, hash, timestamp: number }
}

function hotBlock(number: number) {
  const transaction = { block: number, transactionIndex: 0, timestamp: number, hash: blockOf(number).hash }
  const activity = packActivity(contracts.map(address => ({ address, first: transaction, last: transaction })))
  return { ...blockOf(number), transfers: contracts.map(contract => ({ ...place, block: number, contract })), activity }
}

function cold(from: number, to: number) {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const covered = [{ scope: 'full', from, to, evidence: 'bloom' }] as const
  const transfers = numbers.flatMap(number => hotBlock(number).transfers)
  return { chain, covered, ranges: [], blocks: numbers.map(blockOf), transfers, activity: noActivity }
}

const key = (n: number) => new Uint8Array(32).fill(n)
const solanaAccounts = Array.from({ length: 30 }, (_, at) => at + 1)
const held = (account: number, slot: number) => ({
  ...{ account: key(account), owner: key(account + 100), mint: key(3), amount: 5n, program: 'token' as const },
  ...{ slot, writeVersion: 1n },
})
const closed = (account: number, slot: number) => ({
  account: key(account),
  closed: true as const,
  slot,
  writeVersion: 1n,
})

/** Has the worker refuse each transaction that changes one of its shards, at the end; or no more. */
async function setRefusing(port: number, url: string, isRefusing: boolean): Promise<void> {
  await onServer(atPort(port, url), async client => {
    await client.query('SET citus.enable_ddl_propagation = off')
    await client.query('SET citus.enable_manual_changes_to_shards = on')
    await client.query('SET citus.override_table_visibility = off')
    if (!isRefusing) {
      await client.query('DROP FUNCTION refuse_end CASCADE')
      return
    }
    await client.query(
      "CREATE FUNCTION refuse_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the end is refused'; END $$",
    )
    const { rows } = await client.query(
      "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '_[0-9]{6}$'",
    )
    for (const { relname } of rows)
      await client.query(`CREATE CONSTRAINT TRIGGER refuse_end AFTER INSERT OR UPDATE OR DELETE ON ${relname}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_end()`)
  })
}

describe.skipIf(citusUrl === undefined)(
  'a commit on Citus that one worker refuses at its end',
  { timeout: 120_000 },
  () => {
    let schema: { url: string; drop: () => Promise<unknown> }
    let store: PostgresStore
    let ports: number[]

    beforeAll(async () => {
      schema = await createSchema()
      store = await openPostgresStore(schema.url, { foldBlocks: 1, runsPerMerge: 2, recordsWorthMerging: 1 })
      const { rows } = await onCitus(client =>
        client.query("SELECT nodeport FROM pg_dist_node WHERE noderole = 'primary' AND groupid > 0"),
      )
      ports = rows.map(({ nodeport }) => Number(nodeport))
      await store.commitCold(cold(0, 9))
      await store.updateAccounts('devnet', { holdings: solanaAccounts.map(account => held(account, 10)) })
    })
    afterAll(async () => {
      await store.close()
      await schema.drop()
    })

    const rows = async (): Promise<number[]> => {
      const tables = ['runs', 'packs', 'blocks', 'solana_holdings', 'solana_closed']
      const counts = tables.map(table => `(SELECT count(*)::int FROM ${table})`)
      return await onServer(schema.url, async client => {
        const found = await client.query({ text: `SELECT ${counts.join()}`, rowMode: 'array' })
        return found.rows[0]!
      })
    }

    /** Each worker refuses in turn; then none does, and the same call succeeds. */
    async function expectUndone(commit: () => Promise<unknown>): Promise<void> {
      const before = await rows()
      for (const port of ports) {
        await setRefusing(port, schema.url, true)
        try {
          await expect(commit(), `worker at ${port}`).rejects.toThrow('the end is refused')
          expect(await rows()).toEqual(before)
        } finally {
          await setRefusing(port, schema.url, false)
        }
      }
      await commit()
      expect(await rows()).not.toEqual(before)
    }

    test('of rows beside others', async () => {
      await expectUndone(() => store.commitCold(cold(10, 19)))
    })

    test('of whole blocks that replace others', async () => {
      const ranges = [{ from: 5, to: 24, hash: blockOf(24).hash }]
      await expectUndone(() => store.commitCold({ ...cold(5, 24), ranges }))
    })

    test('of recent blocks that become final', async () => {
      const blocks = [25, 26, 27].map(hotBlock)
      const covered = { scope: 'full', from: 25, evidence: 'bloom' } as const
      await store.commitHot({ chain, ancestor: 24, blocks, covered, head: blocks[2]! })
      await expectUndone(() => store.putChainState(chain, { finalized: 26 }))
    })

    test('of rows that are dropped', async () => {
      await expectUndone(() => store.dropRange(chain, 'full', { from: 0, to: 4 }))
    })

    test('of Solana accounts that are closed and opened', async () => {
      const closes = solanaAccounts.map(account => closed(account, 20))
      await expectUndone(() => store.updateAccounts('devnet', { holdings: closes }))
      const opens = solanaAccounts.map(account => held(account, 30))
      await expectUndone(() => store.updateAccounts('devnet', { holdings: opens }))
    })

    test('of a snapshot of Solana', async () => {
      const staging = store.solanaStaging('devnet')
      const accounts = solanaAccounts.map(account => held(account + 40, 40))
      await expectUndone(() => staging.commit({ holdings: accounts, mints: [] }, 'half'))
      await staging.discard()
    })
  },
)
