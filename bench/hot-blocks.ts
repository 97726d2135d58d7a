// How long a block at the head takes to store on a Citus cluster, beside a plain database on the coordinator's server:
// the same machine, settings and moments. Counts the servers' parts in a commit as well.
// Run: scripts/citus-cluster.sh up, then node bench/hot-blocks.ts --citus <the address that it prints> [--blocks 100]
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Block, ChainId, Hash, TransferRow } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { filled, type GeneratedContract, RowMaker, roomFor, walletAddress } from './made-rows.ts'
import { Random } from './random.ts'
import { shapes } from './shape.ts'
import { median, percentile } from './statistics.ts'

const { values } = parseArgs({ options: { citus: { type: 'string' }, blocks: { type: 'string', default: '100' } } })
if (values.citus === undefined) throw new Error('--citus names the address of a coordinator')
const blocks = Number(values.blocks)
const chain = 1 as ChainId
const transfersPerBlock = 50
const walletsPerBlock = 300
const finalAfter = 12
const turn = 5
const name = `almanac_bench_${process.pid}`

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

function blockOf(number: number): Block {
  return { number, hash: `0x${number.toString(16).padStart(64, '0')}` as Hash, timestamp: 1_700_000_000 + 12 * number }
}

type Times = Record<'hot' | 'final' | 'page' | 'count', number[]>
type Subject = { store: Store; maker: RowMaker; next: number; times: Times }

const contracts: GeneratedContract[] = Array.from({ length: 400 }, (_, at) => ({
  ...{ contract: walletAddress(1_000_000 + at), standard: 'ERC721', transfers: 0 },
}))

async function timed(times: number[], work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now()
  await work()
  times.push(performance.now() - startedAt)
}

async function follow({ store, maker, times, ...subject }: Subject): Promise<void> {
  const random = new Random(subject.next)
  const block = blockOf(subject.next)
  const transfers: TransferRow[] = []
  maker.fillBlock(block, transfersPerBlock, () => contracts[random.below(contracts.length)]!, transfers)
  const room = roomFor(walletsPerBlock)
  const activity = filled(room, maker.activityOf(block, walletsPerBlock, room, 0))
  const covered = { scope: 'full', from: block.number, evidence: 'bloom' } as const
  const commit = {
    chain,
    ancestor: block.number - 1,
    blocks: [{ ...block, transfers, activity }],
    covered,
    head: block,
  }
  await timed(times.hot, () => store.commitHot(commit))
  if (block.number > finalAfter) await timed(times.final, () => store.finalize(chain, block.number - finalAfter))
  const { contract } = contracts[random.below(contracts.length)]!
  await timed(times.page, () => store.transferPage({ chain, contract, order: 'desc', limit: 100 }))
  await timed(times.count, () => store.transferCount({ chain, contract }))
}

const plainUrl = new URL(values.citus)
plainUrl.pathname = `/${name}`
const citusUrl = new URL(values.citus)
citusUrl.searchParams.set('options', `-csearch_path=${name}`)
await onServer(values.citus, async client => {
  await client.query(`CREATE DATABASE ${name}`)
  await client.query(`CREATE SCHEMA ${name}`)
})
const subjects: Record<string, Subject> = {}
try {
  for (const [engine, url] of Object.entries({ postgres: plainUrl, citus: citusUrl })) {
    const store = await openStore(url.href, { role: 'owner' })
    const times = { hot: [], final: [], page: [], count: [] }
    subjects[engine] = { store, maker: new RowMaker(new Random(1), shapes.ethereum), next: 1, times }
    // Every contract has its number, and every statement its plan, before the clock runs.
    for (let warm = 0; warm < 20; warm++, subjects[engine].next++) await follow(subjects[engine])
    for (const samples of Object.values(times)) samples.length = 0
  }
  const before = await partsSoFar(values.citus)
  for (let done = 0; done < blocks; done += turn)
    for (const subject of Object.values(subjects))
      for (let block = 0; block < turn; block++, subject.next++) await follow(subject)
  const parts = (await partsSoFar(values.citus)) - before
  const rows = (['hot', 'final', 'page', 'count'] as const).map(step => {
    const [plain, citus] = ['postgres', 'citus'].map(engine => subjects[engine]!.times[step]) as [number[], number[]]
    const tenth = (ms: number): number => Number(ms.toFixed(2))
    return {
      ...{ step, postgresP50Ms: tenth(median(plain)), citusP50Ms: tenth(median(citus)) },
      ...{ postgresP99Ms: tenth(percentile(plain, 0.99)), citusP99Ms: tenth(percentile(citus, 0.99)) },
      times: tenth(median(citus) / median(plain)),
    }
  })
  console.table(rows)
  console.log(
    JSON.stringify({ benchmark: 'hot-blocks', blocks, rows, partsPerBlock: Number((parts / blocks).toFixed(1)) }),
  )
} finally {
  for (const { store } of Object.values(subjects)) await store.close()
  await onServer(values.citus, async client => {
    await client.query(`DROP SCHEMA ${name} CASCADE`)
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
  })
}
