// Citus as an operator meets it: moving a store there and back, stores that are not distributed, workers that die or
// hang, sizes. Stopping workers needs the folder of `scripts/citus-cluster.sh` as CITUS_FOLDER.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { copyStore } from '../src/cli/store/copy.ts'
import type { Address, ChainId, Hash } from '../src/model.ts'
import { serverHashOf, slotOfContract } from '../src/store/core/slots.ts'
import { openStore, openStoreParts } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import { Database } from '../src/store/postgres/database.ts'
import { openPostgresStore } from '../src/store/postgres/postgres-store.ts'
import { databaseOptions } from '../src/store/postgres/store-database.ts'
import { atPort, citusUrl, createSchema, onCitus, onServer } from './citus-schema.ts'
import { fillEveryPart, shownOf } from './filled-store.ts'
import { seeded } from './seed.ts'
import { serveApi } from './served-api.ts'

describe.skipIf(citusUrl === undefined)('a store on Citus', () => {
  test('comes from a file and goes back to one, with every part as it was', { timeout: 300_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'almanac-copy-'))
    const [first, last] = ['first', 'last'].map(name => `file:${join(folder, name)}`) as [string, string]
    const { url, drop } = await createSchema()
    await fillEveryPart(first)
    const there = await copy(first, url)
    expect(await copy(url, last)).toEqual(there)
    for (const { part, rows } of there) expect(rows, part).toBeGreaterThan(0)
    const expected = await shownOf(first)
    expect(await shownOf(url)).toEqual(expected)
    expect(await shownOf(last)).toEqual(expected)
    await rm(folder, { recursive: true })
    await drop()
  })

  test('that was restored as plain tables is distributed at the next start, with its rows', {
    timeout: 300_000,
  }, async () => {
    const { url, drop } = await createSchema()
    await fillEveryPart(url)
    const expected = await shownOf(url)
    const distributed = await distributedTables(url)
    expect(distributed).toContain('packs')
    // What pg_restore makes: the same tables and rows, none of them distributed.
    await onServer(url, async client => {
      for (const table of distributed) await client.query(`SELECT undistribute_table('${table}')`)
    })
    expect(await distributedTables(url)).toEqual([])
    expect(await shownOf(url)).toEqual(expected)
    expect(await distributedTables(url)).toEqual(distributed)
    await onServer(url, async client => {
      const { rows } = await client.query(
        "SELECT count(*)::int AS left FROM pg_class WHERE relname = 'packs' AND relnamespace = current_schema()::regnamespace AND pg_relation_size(oid) > 0",
      )
      expect(rows).toEqual([{ left: 0 }])
    })
    await drop()
  })

  test('takes a second full snapshot of Solana, which removes what it lacks', { timeout: 120_000 }, async () => {
    const { url, drop } = await createSchema()
    const store = await openPostgresStore(url)
    const key = (n: number) => new Uint8Array(32).fill(n)
    const held = (account: number, slot: number) => ({
      ...{ account: key(account), owner: key(account + 100), mint: key(3), amount: 5n, program: 'token' as const },
      ...{ slot, writeVersion: 1n },
    })
    for (const [slot, accounts] of [
      [10, [1, 2, 3]],
      [20, [2, 3]],
    ] as const) {
      const staging = store.solanaStaging('devnet')
      await staging.commit({ holdings: accounts.map(account => held(account, slot)), mints: [] }, 'half')
      expect(await staging.checkpoint()).toBe('half')
      await staging.merge({ slot, whole: true })
    }
    const left = await onServer(url, client => client.query('SELECT count(*)::int AS rows FROM solana_holdings'))
    expect(left.rows).toEqual([{ rows: 2 }])
    await store.close()
    await drop()
  })

  test('has the bound on waiting for locks on its workers too', { timeout: 120_000 }, async () => {
    const { url, drop } = await createSchema()
    const store = await openPostgresStore(url)
    const database = new Database(databaseOptions(url))
    database.distributed = true
    const bounds = await database.transaction(async transaction => {
      const [[coordinator] = []] = await transaction.query("SELECT current_setting('lock_timeout')")
      const read = "SELECT min(current_setting('lock_timeout')), max(current_setting('lock_timeout')) FROM packs"
      await transaction.run("INSERT INTO packs VALUES (0, 1, '', '')")
      return [coordinator, ...((await transaction.query(read))[0] ?? [])]
    })
    expect(bounds).toEqual(['12s', '12s', '12s'])
    await database.close()
    await store.close()
    await drop()
  })

  test('is refused with what to do where no worker was added yet', { timeout: 60_000 }, async () => {
    const name = `almanac_${randomBytes(4).toString('hex')}`
    await onCitus(client => client.query(`CREATE DATABASE ${name}`))
    const url = new URL(citusUrl as string)
    url.pathname = name
    await onServer(url.href, client => client.query('CREATE EXTENSION citus'))
    await expect(openStore(url.href, { role: 'owner' })).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/has the extension Citus and no workers\.$/),
      hint: expect.stringContaining('citus_add_node'),
    })
    await onServer(url.href, async client => {
      const { rows } = await client.query('SELECT nodename FROM pg_dist_node')
      expect(rows).toEqual([])
    })
    await onCitus(client => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
  })
})

describe.skipIf(citusUrl === undefined || process.env.CITUS_FOLDER === undefined)('a worker that hangs', () => {
  test('delays only its own rows, is named, and is asked again when it answers', { timeout: 300_000 }, async () => {
    const { url, drop } = await createSchema()
    const writer = await openPostgresStore(url)
    const chain = 1 as ChainId
    const contracts = Array.from({ length: 40 }, (_, at) => `0x${(at + 16).toString(16).repeat(20)}` as Address)
    const place = { block: 1, transactionIndex: 0, logIndex: 0, batchIndex: 0, payload: new Uint8Array(40) }
    const block = { number: 1, hash: `0x${'1'.repeat(64)}` as Hash, timestamp: 1 }
    const transfers = contracts.map(contract => ({ ...place, contract }))
    await writer.commitCold({ chain, covered: [], blocks: [block], transfers, activity: noActivity })
    await writer.close()
    const { id, port, there, elsewhere } = await placesOf(url, contracts)
    const store = await openPostgresStore(url)
    const ask = (contract: Address) => store.transferPage({ chain, contract, order: 'desc', limit: 10 })
    for (const contract of contracts) await ask(contract)
    expect((await store.info()).sizeBytes).toBeGreaterThan((await databaseSize()) + 1_000_000)
    expect(await store.problems()).toEqual([])
    const hanging = processesOf(await onServer(atPort(port), postmasterOf))
    let asked: Promise<PromiseSettledResult<unknown>[]>
    try {
      signal(hanging, 'SIGSTOP')
      asked = Promise.allSettled(Array.from({ length: 20 }, (_, at) => ask(there[at % there.length]!)))
      await delay(200)
      const slowest: Record<string, number> = { page: 0, info: 0, problems: 0 }
      for (let turn = 0; turn < 12; turn++) {
        slowest.page = Math.max(slowest.page!, await msOf(() => ask(elsewhere[turn % elsewhere.length]!)))
        slowest.info = Math.max(slowest.info!, await msOf(() => store.info()))
        slowest.problems = Math.max(slowest.problems!, await msOf(() => store.problems()))
      }
      console.error(`beside a worker that hangs, ms: ${JSON.stringify(slowest)}`)
      expect(slowest.page).toBeLessThan(1_500)
      expect(slowest.info).toBeLessThan(1_500)
      expect(slowest.problems).toBeLessThan(3_000)
      const reason = `Worker ${id} of the database does not answer: requests for what it holds fail.`
      expect(await store.problems()).toEqual([{ problem: 'worker_dead', reason }])
      const failures = await asked
      expect(failures.every(({ status }) => status === 'rejected')).toBe(true)
      const refusedMs = await msOf(() => expect(ask(there[0]!)).rejects.toMatchObject({ retryable: true }))
      expect(refusedMs).toBeLessThan(500)
      await expect(ask(there[0]!)).rejects.toThrow(`Worker 127.0.0.1:${port} of the database`)
    } finally {
      signal(hanging, 'SIGCONT')
    }
    await expect
      .poll(
        () =>
          ask(there[0]!).then(
            page => page.length,
            () => -1,
          ),
        { timeout: 20_000 },
      )
      .toBe(1)
    expect(await store.problems()).toEqual([])
    await store.close()
    await drop()
  })
})

describe.skipIf(citusUrl === undefined || process.env.CITUS_FOLDER === undefined)('a worker that died', () => {
  test('is named by /ready and as a metric, and by the failure of a read', { timeout: 300_000 }, async () => {
    const { url, drop } = await createSchema()
    await fillEveryPart(url)
    const store = await openPostgresStore(url)
    const { id, port, there } = await placesOf(url, [seeded.collection, seeded.editions, seeded.range])
    const page = { chain: seeded.chains.eth, contract: there[0]!, order: 'desc', limit: 10 } as const
    expect((await store.transferPage(page)).length).toBeGreaterThan(0)
    const api = await serveApi({ parts: { store } })
    const ready = async () => await (await fetch(`${api.url}/ready`)).json()
    expect(await ready()).toEqual({ status: 'ready' })
    const postmaster = await onServer(atPort(port), postmasterOf)
    try {
      signal(processesOf(postmaster), 'SIGKILL')
      const reason = `Worker ${id} of the database does not answer: requests for what it holds fail.`
      await expect.poll(ready).toEqual({ status: 'ready', problems: [{ problem: 'worker_dead', reason }] })
      const metrics = await (await api.get('/metrics')).text()
      expect(metrics).toMatch(/^almanac_problem\{problem="worker_dead",chain=""\} 1$/m)
      await expect(store.transferPage(page)).rejects.toThrow(`cannot reach its worker: 127.0.0.1:${port}.`)
    } finally {
      await promisify(execFile)(new URL('../scripts/citus-cluster.sh', import.meta.url).pathname, ['up'])
    }
    await expect.poll(ready, { timeout: 30_000 }).toEqual({ status: 'ready' })
    expect((await store.transferPage(page)).length).toBeGreaterThan(0)
    await api.close()
    await store.close()
    await drop()
  })
})

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

async function postmasterOf(worker: pg.Client): Promise<number> {
  const { rows } = await worker.query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid")
  return Number(rows[0].pid)
}

/** A session may have ended since it was listed. */
function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}

/** The postmaster first: it starts no more. */
function processesOf(postmaster: number): number[] {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').split(' ').filter(Boolean)
  return [postmaster, ...children.map(Number)]
}

async function databaseSize(): Promise<number> {
  return await onCitus(async client => {
    const { rows } = await client.query('SELECT pg_database_size(current_database()) AS bytes')
    return Number(rows[0].bytes)
  })
}

/** One worker, the contracts that it has, and those of the others. */
async function placesOf(url: string, contracts: readonly Address[]) {
  return await onServer(url, async client => {
    const slots = (await client.query('SELECT slot FROM slots')).rows
      .map(({ slot }) => slot as number)
      .sort((one, other) => serverHashOf(one) - serverHashOf(other))
    const known = (await client.query("SELECT id, encode(address, 'hex') AS address FROM contracts ORDER BY id")).rows
    const { rows } = await client.query(
      `SELECT address, nodeid, nodeport FROM unnest($1::text[], $2::int4[]) AS given (address, slot)
       JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column('packs', slot) JOIN pg_dist_node USING (groupid)`,
      [known.map(({ address }) => address), known.map(({ id }) => slotOfContract(slots, id))],
    )
    const [{ nodeid, nodeport }] = rows.filter(({ address }) => contracts.includes(`0x${address}` as Address))
    const names = rows.filter(row => row.nodeid === nodeid).map(({ address }) => `0x${address}`)
    const there = contracts.filter(contract => names.includes(contract))
    return { id: nodeid, port: nodeport, there, elsewhere: contracts.filter(contract => !there.includes(contract)) }
  })
}

async function distributedTables(url: string): Promise<string[]> {
  return await onServer(url, async client => {
    const { rows } = await client.query(
      `SELECT relname FROM pg_dist_partition JOIN pg_class ON oid = logicalrelid
       WHERE relnamespace = current_schema()::regnamespace ORDER BY relname`,
    )
    return rows.map(({ relname }) => relname)
  })
}

async function copy(from: string, to: string) {
  const source = await openStoreParts(from)
  const target = await openStoreParts(to)
  try {
    return await copyStore(source, target, { pageRows: 5 })
  } finally {
    await source.close()
    await target.close()
  }
}
