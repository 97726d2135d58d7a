// What only a server has: processes that start at once, write at once, die, and hear of each other.
import { spawn } from 'node:child_process'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { packTransfer } from '../../../test/pack-transfer.ts'
import { type SharedPostgres, sharedPostgres, startPostgres } from '../../../test/postgres-server.ts'
import { AlmanacError } from '../../errors.ts'
import { type Address, type Block, type ChainId, type Hash, zeroAddress } from '../../model.ts'
import { forget } from '../forget.ts'
import { compactStore } from '../open.ts'
import { noActivity } from '../packed-activity.ts'
import { storeFormat } from '../schema.ts'
import type { ColdCommit, Store } from '../store.ts'
import { Database } from './database.ts'
import { openPostgresParts, openPostgresStore } from './postgres-store.ts'
import { databaseOptions } from './store-database.ts'

let server: SharedPostgres
beforeAll(async () => {
  server = await sharedPostgres()
})
afterAll(() => server.stop())

/** Five times as long in a service. */
const stallMsMax = 2_000

const eth = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}` as Hash
const block = (number: number): Block => ({ number, hash: hash(number), timestamp: number * 12 })

/** `perBlock` transfers in each of the blocks. */
function commit(from: number, to: number, perBlock = 3, of: readonly Address[] = [contract]): ColdCommit {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const payload = packTransfer({
    standard: 'ERC721',
    batch: false,
    from: zeroAddress,
    to: contract,
    operator: undefined,
    tokenId: 1n,
    amount: 1n,
    value: 0n,
    transactionHash: hash(1),
    idCount: 1,
  })
  return {
    chain: eth,
    covered: [{ from, to, evidence: 'bloom', scope: 'full' }],
    blocks: numbers.map(block),
    activity: noActivity,
    transfers: numbers.flatMap(number =>
      Array.from({ length: perBlock }, (_, logIndex) => ({
        block: number,
        transactionIndex: 0,
        logIndex,
        batchIndex: 0,
        contract: of[(number + logIndex) % of.length]!,
        payload,
      })),
    ),
  }
}

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

describe('opening', () => {
  test('any number of processes may start on an empty database', async () => {
    const url = await server.createDatabase()
    const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore(url)))
    const secrets = stores.map(store => Buffer.from(store.secret).toString('hex'))
    expect(new Set(secrets).size).toBe(1)
    await Promise.all(stores.map(store => store.close()))
  })

  test('another format and the tables of another program are refused and left alone', async () => {
    const other = await server.createStore()
    for (const [format, code] of [
      [storeFormat + 1, 'store_newer'],
      [storeFormat - 1, 'store_older'],
    ] as const) {
      await query(other, `UPDATE almanac_schema SET version = ${format}`)
      const message = expect.stringMatching(new RegExp(`^The store postgres:.* has format ${format}; this version`))
      await expect(openPostgresStore(other)).rejects.toMatchObject({ code, message })
    }
    const foreign = await server.createDatabase()
    await query(foreign, 'CREATE TABLE keys (x int)')
    const message = expect.stringMatching(/tables of another program, such as keys\.$/)
    await expect(openPostgresStore(foreign)).rejects.toMatchObject({ code: 'store_corrupt', message })
    expect((await query(foreign, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")).rows[0].count).toBe('1')
  })

  test('a store that must exist is not created', async () => {
    const url = await server.createDatabase()
    const failure = { code: 'not_found', message: expect.stringMatching(/^There is no store at postgres:/) }
    await expect(openPostgresStore(url, { mustExist: true })).rejects.toMatchObject(failure)
    await expect(openPostgresParts(url, { mustExist: true })).rejects.toMatchObject(failure)
    expect((await query(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")).rows[0].count).toBe('0')
    await (await openPostgresStore(url)).close()
    await (await openPostgresStore(url, { mustExist: true })).close()
  })

  test('a server that is not there, and a database that is not, get different errors', async () => {
    const absent = openPostgresStore('postgres://almanac@127.0.0.1:1/almanac')
    await expect(absent).rejects.toMatchObject({ code: 'store_failed', retryable: true })
    const missing = openPostgresStore(server.url('missing'))
    await expect(missing).rejects.toMatchObject({ code: 'store_failed', retryable: false })
  })

  test('a store whose rows are gone is smaller after it is compacted', async () => {
    const url = await server.createStore()
    const store = await openPostgresStore(url)
    await store.commitCold(commit(0, 3_999))
    await forget(store, { chain: eth })
    await store.close()
    const { before, after } = await compactStore(url)
    expect(before - after).toBeGreaterThan(1_000_000)
  })

  test('without named statements everything works the same', async () => {
    const store = await openPostgresStore(`${await server.createStore()}?prepare=false&pool=2`)
    await store.commitCold(commit(1, 5))
    expect((await store.transferPage({ chain: eth, contract, order: 'desc', limit: 4 })).blocks).toEqual([5, 5, 5, 4])
    await store.close()
  })
})

describe('writing at once', () => {
  test('commits that overlap are all there once, with right counts and coverage', async () => {
    const url = await server.createStore()
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(url)))
    const contracts = ['1', '2', '3', '4', '5'].map(digit => `0x${digit.repeat(40)}` as Address)
    const starts = Array.from({ length: 60 }, (_, index) => (index * 37) % 300)
    const added = await Promise.all(
      starts.map((from, index) => stores[index % 3]!.commitCold(commit(from, from + 40, 7, contracts))),
    )
    const blocks = new Set(starts.flatMap(from => Array.from({ length: 41 }, (_, index) => from + index)))
    expect(added.reduce((sum, { transfersAdded }) => sum + transfersAdded, 0)).toBe(blocks.size * 7)
    const store: Store = stores[0]!
    let counted = 0
    for (const one of contracts) {
      const whole = await store.transferCount({ chain: eth, contract: one })
      const lower = await store.transferCount({ chain: eth, contract: one, toBlock: 150 })
      const upper = await store.transferCount({ chain: eth, contract: one, fromBlock: 151 })
      expect(lower + upper).toBe(whole)
      counted += whole
    }
    expect(counted).toBe(blocks.size * 7)
    const covered = await store.coverage(eth, 'full')
    expect(covered.reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBe(blocks.size)
    await Promise.all(stores.map(one => one.close()))
    const deadlocks = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'
    expect((await query(url, deadlocks)).rows[0].deadlocks).toBe('0')
  })

  test('whole blocks in bulk and rows of a contract that overlap are counted once', async () => {
    const url = await server.createStore()
    const stores = await Promise.all(
      [1, 2].map(() => openPostgresStore(url, { runsPerMerge: 3, recordsWorthMerging: 1 })),
    )
    const contracts = ['1', '2', '3'].map(digit => `0x${digit.repeat(40)}` as Address)
    const write = (index: number): Promise<unknown> => {
      const from = (index * 37) % 300
      const one = commit(from, from + 40, 7, contracts)
      const isWhole = index % 2 === 0
      const ranges = [{ from, to: from + 40, hash: one.blocks.at(-1)!.hash }]
      return stores[(index >> 1) % 2]!.commitCold(isWhole ? { ...one, ranges } : { ...one, covered: [] })
    }
    await Promise.all(Array.from({ length: 30 }, (_, index) => write(index)))
    for (const contract of contracts) {
      const rows = (await stores[0]!.transferPage({ chain: eth, contract, order: 'asc', limit: 10_000 })).length
      expect(rows).toBeGreaterThan(0)
      expect(await stores[0]!.transferCount({ chain: eth, contract })).toBe(rows)
    }
    await Promise.all(stores.map(one => one.close()))
  })

  test('contracts that take the same waiting ranges back never wait for each other in a circle', async () => {
    const url = await server.createStore()
    const stores = await Promise.all(
      [1, 2].map(() => openPostgresStore(url, { runsPerMerge: 3, recordsWorthMerging: 1 })),
    )
    const contracts = ['1', '2', '3'].map(digit => `0x${digit.repeat(40)}` as Address)
    const one = commit(0, 40, 7, contracts)
    for (let round = 0; round < 3; round++) {
      const ranges = [{ from: 0, to: 40, hash: one.blocks.at(-1)!.hash }]
      await stores[0]!.commitCold({ ...one, ranges, covered: [] })
      const writes = contracts.map((scope, index) =>
        stores[index % 2]!.commitCold({
          ...{ ...one, transfers: one.transfers.filter(row => row.contract === scope) },
          covered: [{ scope, from: 0, to: 40, evidence: 'one-endpoint' }],
        }),
      )
      await Promise.all([...writes, stores[1]!.dropRange(eth, 'full', { from: 100, to: 200 })])
    }
    await Promise.all(stores.map(each => each.close()))
    const deadlocks = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'
    expect((await query(url, deadlocks)).rows[0].deadlocks).toBe('0')
  })

  test('a server that is killed again and again loses and repeats nothing', { timeout: 60_000 }, async () => {
    const mortal = await startPostgres()
    onTestFinished(() => mortal.stop())
    const store = await openPostgresStore(await mortal.createDatabase())
    const attempts: unknown[] = []
    const write = async (): Promise<void> => {
      for (let from = 0; from < 2_000; from += 20)
        for (let done = false; !done; ) {
          try {
            await store.commitCold(commit(from, from + 19))
            done = true
          } catch (error) {
            attempts.push(error)
            await new Promise(resolve => setTimeout(resolve, 50))
          }
        }
    }
    const writing = write()
    for (let round = 0; round < 3; round++) {
      await new Promise(resolve => setTimeout(resolve, 300))
      await mortal.kill()
      await mortal.start()
    }
    await writing
    expect(attempts.length).toBeGreaterThan(0)
    for (const error of attempts) {
      expect(error).toBeInstanceOf(AlmanacError)
      expect(error).toMatchObject({ code: 'store_failed', retryable: true })
    }
    expect(await store.transferCount({ chain: eth, contract })).toBe(6_000)
    expect(await store.transferCount({ chain: eth, contract, fromBlock: 1, toBlock: 1_998 })).toBe(1_998 * 3)
    expect(await store.coverage(eth, 'full')).toEqual([{ scope: 'full', from: 0, to: 1_999, evidence: 'bloom' }])
    await store.close()
  })
})

describe('leases', () => {
  test('an indexer that was paused anywhere cannot write after its successor', { timeout: 120_000 }, async () => {
    const url = await server.createStore()
    const store = await openPostgresStore(url)
    const holderFile = new URL('../../../test/lease-holder.ts', import.meta.url).pathname
    for (let round = 1; round <= 2; round++) {
      const theirs = `0x${String(round).repeat(40)}` as Address
      const child = spawn(process.execPath, [holderFile, url, `holder ${round}`, theirs, `${stallMsMax}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', chunk => {
        said += chunk
      })
      const ended = new Promise(resolve => child.once('exit', resolve))
      try {
        await expect.poll(() => said, { timeout: 20_000 }).toContain('begun')
        await new Promise(resolve => setTimeout(resolve, Math.random() * 100))
        child.kill('SIGSTOP')
        const claim = () => store.claim('follow', 'successor', 60_000)
        await expect.poll(claim, { timeout: 40_000 }).toMatchObject({ token: round * 2 })
        const written = await store.transferCount({ chain: eth, contract: theirs })
        expect(written).toBeGreaterThan(0)
        const lease = await claim()
        await store.fenced(lease!).commitCold(commit(10_000 * round, 10_000 * round))
        child.kill('SIGCONT')
        expect(await ended).toBe(0)
        expect(said).toContain('lost')
        expect(await store.transferCount({ chain: eth, contract: theirs })).toBe(written)
        await store.release(lease!)
      } finally {
        child.kill('SIGKILL')
      }
    }
    await store.close()
  })
})

describe('locks', () => {
  test('of one that stands still in the middle of a COPY are taken from it', { timeout: 60_000 }, async () => {
    const url = await server.createStore()
    const store = await openPostgresStore(url, { stallMsMax })
    await store.commitCold(commit(1, 1))
    const stalled = new pg.Client({ connectionString: url })
    const ended = new Promise(resolve => stalled.once('error', resolve))
    await stalled.connect()
    await stalled.query('BEGIN; SELECT 1 FROM chains FOR UPDATE')
    stalled.query(copyFrom('COPY packs FROM STDIN')).on('error', () => {})
    await store.putChainState(eth, { finalized: 5 })
    expect((await store.chainState(eth))?.finalized ?? 5).toBe(5)
    await ended
    await store.close()
  })
})

describe('the revision', () => {
  test('of another process is known within a second, and stays while nothing changes', async () => {
    const url = await server.createStore()
    const store = await openPostgresStore(url)
    // Another address of the same database has a watch of its own, as another process has.
    const other = await openPostgresStore(`${url}?application_name=other`)
    const before = other.revision()
    await store.commitCold(commit(1, 2))
    await expect.poll(() => other.revision(), { timeout: 1_000 }).not.toBe(before)
    const settled = other.revision()
    await store.commitCold(commit(1, 2))
    await store.putCheckpoint('feed', '1')
    await new Promise(resolve => setTimeout(resolve, 500))
    expect(other.revision()).toBe(settled)
    await Promise.all([store.close(), other.close()])
  })
})

describe('a read that takes too long', () => {
  test('is given up once, and ends on the server too', async () => {
    const url = await server.createStore()
    const database = new Database(databaseOptions(`${url}?pool=1`))
    const startedMs = performance.now()
    const read = database.readWithin(300, 'SELECT pg_sleep(60)')
    await expect(read).rejects.toMatchObject({ code: 'store_failed', retryable: true })
    expect(await database.read('SELECT 1')).toEqual([[1]])
    expect(performance.now() - startedMs).toBeLessThan(30_000)
    const sleeping =
      "SELECT count(*)::int AS left FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%'"
    await expect.poll(async () => (await query(url, sleeping)).rows[0].left, { timeout: 10_000 }).toBe(0)
    await database.close()
  })
})

describe('pages', () => {
  test('are walks along the index that end with the page, whatever the statistics say', async () => {
    const url = await server.createStore()
    const store = await openPostgresStore(`${url}?pool=1`)
    await store.commitCold(commit(1, 3_000, 10, [contract, `0x${'d'.repeat(40)}` as Address]))
    await query(url, 'VACUUM ANALYZE packs, runs')
    const rowsBefore = await rowsRead(url)
    const rounds = 20
    for (let round = 0; round < rounds; round++)
      for (const order of ['asc', 'desc'] as const)
        expect((await store.transferPage({ chain: eth, contract, order, limit: 100, fromBlock: 5 })).length).toBe(100)
    await store.close()
    await expect.poll(() => rowsRead(url)).toBeGreaterThan(rowsBefore)
    const read = (await rowsRead(url)) - rowsBefore
    // Of several hundred: a page reads six at most, and the first is looked for more than once.
    expect(read).toBeLessThanOrEqual(rounds * 2 * 10)
  })

  async function rowsRead(url: string): Promise<number> {
    const sql =
      "SELECT idx_tup_read + seq_tup_read AS read FROM pg_stat_user_tables t JOIN pg_stat_user_indexes USING (relid) WHERE t.relname = 'packs'"
    return Number((await query(url, sql)).rows[0].read)
  }
})
