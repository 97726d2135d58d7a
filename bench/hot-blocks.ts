// What a block at the head costs: 50 transfers and 300 wallets stored, finality with its share of folds and merges, and
// the first page that another process answers after it, in processor time of the process and of the server.
// Run: node bench/hot-blocks.ts [--store file | postgres] [--blocks 2000]
// On a Citus cluster, beside a plain database on the coordinator's server, by the clock, with the servers' parts in a
// commit: scripts/citus-cluster.sh up, then node bench/hot-blocks.ts --citus <the address that it prints>
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Address, Block, ChainId, Hash, TransferRow } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { familyCpuSeconds } from './cpu-time.ts'
import { filled, type GeneratedContract, RowMaker, roomFor, walletAddress } from './made-rows.ts'
import { Random } from './random.ts'
import { shapes } from './shape.ts'
import { median, percentile } from './statistics.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'file' },
    citus: { type: 'string' },
    blocks: { type: 'string' },
  },
})
const chain = 1 as ChainId
const transfersPerBlock = 50
const walletsPerBlock = 300
const finalAfter = 12

const contracts: GeneratedContract[] = Array.from({ length: 400 }, (_, at) => ({
  ...{ contract: walletAddress(1_000_000 + at), standard: 'ERC721', transfers: 0 },
}))

function blockOf(number: number): Block {
  return { number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash, timestamp: 1_700_000_000 + 12 * number }
}

/** Blocks at the head of one store, one after the other. */
class Head {
  readonly #maker = new RowMaker(new Random(1), shapes.ethereum)
  readonly #store: Store
  #next = 1

  constructor(store: Store) {
    this.#store = store
  }

  /** What follows makes no rows: that costs more than storing them. */
  prepare(): { commit: () => Promise<void>; finalize: () => Promise<void>; contract: Address } {
    const store = this.#store
    const block = blockOf(this.#next++)
    const random = new Random(block.number)
    const transfers: TransferRow[] = []
    this.#maker.fillBlock(block, transfersPerBlock, () => contracts[random.below(contracts.length)]!, transfers)
    const room = roomFor(walletsPerBlock)
    const activity = filled(room, this.#maker.activityOf(block, walletsPerBlock, room, 0))
    const covered = { scope: 'full', from: block.number, evidence: 'bloom' } as const
    const blocks = [{ ...block, transfers, activity }]
    return {
      commit: () => store.commitHot({ chain, ancestor: block.number - 1, blocks, covered, head: block }),
      finalize: async () => {
        if (block.number > finalAfter) await store.putChainState(chain, { finalized: block.number - finalAfter })
      },
      contract: contracts[random.below(contracts.length)]!.contract,
    }
  }
}

async function inOneStore(url: string, blocks: number, serverSeconds: () => number): Promise<void> {
  const store = await openStore(url, { role: 'owner' })
  const reader = await openStore(url, { role: 'reader' })
  const head = new Head(store)
  const page = (contract: Address): Promise<unknown> =>
    reader.transferPage({ chain, contract, order: 'desc', limit: 100 })
  const seconds = { stored: 0, firstPage: 0, laterPage: 0 }
  const clock: number[] = []
  const timed = async (name: keyof typeof seconds, work: () => Promise<unknown>): Promise<void> => {
    const [own, server] = [process.cpuUsage(), serverSeconds()]
    await work()
    const { user, system } = process.cpuUsage(own)
    seconds[name] += (user + system) / 1e6 + serverSeconds() - server
  }
  // Some blocks at once: a server's processor time is counted in hundredths of a second.
  const turn = 20
  for (let warm = 0; warm < 200; warm++) {
    const { commit, finalize, contract } = head.prepare()
    await commit()
    await finalize()
    await page(contract)
  }
  for (let done = 0; done < blocks; done += turn) {
    const some = Array.from({ length: turn }, () => head.prepare())
    await timed('stored', async () => {
      for (const { commit, finalize } of some) {
        const startedAt = performance.now()
        await commit()
        await finalize()
        clock.push(performance.now() - startedAt)
      }
    })
    // One block by one, as a process that answers meets them.
    for (let at = 0; at < turn; at++) {
      const { commit, finalize, contract } = head.prepare()
      await commit()
      await finalize()
      await timed('firstPage', () => page(contract))
      await timed('laterPage', () => page(contract))
    }
  }
  const ms = (total: number): number => Number(((1_000 * total) / blocks).toFixed(3))
  const renewMs = ms(seconds.firstPage - seconds.laterPage)
  const result = {
    ...{ benchmark: 'hot-blocks', store: values.store, blocks },
    ...{ storedCpuMs: ms(seconds.stored), renewCpuMs: renewMs, blockCpuMs: ms(seconds.stored) + renewMs },
    pageCpuMs: ms(seconds.laterPage),
    storedP50Ms: Number(median(clock).toFixed(2)),
    storedP99Ms: Number(percentile(clock, 0.99).toFixed(2)),
  }
  console.table([result])
  console.log(JSON.stringify(result))
  await reader.close()
  await store.close()
}

async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Parts of commits in two phases so far: each writes one row. Statistics arrive a second late. */
async function partsSoFar(url: string): Promise<number> {
  await new Promise(resolve => setTimeout(resolve, 2_000))
  const find = "SELECT n_tup_ins FROM pg_stat_all_tables WHERE relname = 'pg_dist_transaction'"
  return await onServer(url, async client => Number((await client.query(find)).rows[0]?.n_tup_ins ?? 0))
}

type Times = Record<'hot' | 'final' | 'page' | 'count', number[]>
type Subject = { store: Store; head: Head; times: Times }

async function follow({ store, head, times }: Subject): Promise<void> {
  const { commit, finalize, contract } = head.prepare()
  const timed = async (samples: number[], work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now()
    await work()
    samples.push(performance.now() - startedAt)
  }
  await timed(times.hot, commit)
  await timed(times.final, finalize)
  await timed(times.page, () => store.transferPage({ chain, contract, order: 'desc', limit: 100 }))
  await timed(times.count, () => store.transferCount({ chain, contract }))
}

async function onCluster(citus: string, blocks: number): Promise<void> {
  const turn = 5
  const name = `almanac_bench_${process.pid}`
  const plainUrl = new URL(citus)
  plainUrl.pathname = `/${name}`
  const citusUrl = new URL(citus)
  citusUrl.searchParams.set('options', `-csearch_path=${name}`)
  await onServer(citus, async client => {
    await client.query(`CREATE DATABASE ${name}`)
    await client.query(`CREATE SCHEMA ${name}`)
  })
  const subjects: Record<string, Subject> = {}
  try {
    for (const [engine, url] of Object.entries({ postgres: plainUrl, citus: citusUrl })) {
      const store = await openStore(url.href, { role: 'owner' })
      subjects[engine] = { store, head: new Head(store), times: { hot: [], final: [], page: [], count: [] } }
      // Every contract has its number, and every statement its plan, before the clock runs.
      for (let warm = 0; warm < 20; warm++) await follow(subjects[engine])
      for (const samples of Object.values(subjects[engine].times)) samples.length = 0
    }
    const before = await partsSoFar(citus)
    for (let done = 0; done < blocks; done += turn)
      for (const subject of Object.values(subjects)) for (let block = 0; block < turn; block++) await follow(subject)
    const parts = (await partsSoFar(citus)) - before
    const rows = (['hot', 'final', 'page', 'count'] as const).map(step => {
      const [plain, spread] = ['postgres', 'citus'].map(engine => subjects[engine]!.times[step]) as [number[], number[]]
      const tenth = (ms: number): number => Number(ms.toFixed(2))
      return {
        ...{ step, postgresP50Ms: tenth(median(plain)), citusP50Ms: tenth(median(spread)) },
        ...{ postgresP99Ms: tenth(percentile(plain, 0.99)), citusP99Ms: tenth(percentile(spread, 0.99)) },
        times: tenth(median(spread) / median(plain)),
      }
    })
    console.table(rows)
    console.log(
      JSON.stringify({ benchmark: 'hot-blocks', blocks, rows, partsPerBlock: Number((parts / blocks).toFixed(1)) }),
    )
  } finally {
    for (const { store } of Object.values(subjects)) await store.close()
    await onServer(citus, async client => {
      await client.query(`DROP SCHEMA ${name} CASCADE`)
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
    })
  }
}

const blocks = values.blocks === undefined ? undefined : Number(values.blocks)
if (values.citus !== undefined) await onCluster(values.citus, blocks ?? 100)
else if (values.store === 'file') {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    await inOneStore(`file:${join(directory, 'almanac.db')}`, blocks ?? 2_000, () => 0)
  } finally {
    rmSync(directory, { recursive: true })
  }
} else {
  const server = await startPostgres({ fsync: 'on', full_page_writes: 'on', shared_buffers: '256MB' })
  try {
    await inOneStore(await server.createDatabase(), blocks ?? 2_000, () => familyCpuSeconds(server.processId()!))
  } finally {
    await server.stop()
  }
}
