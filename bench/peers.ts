// Almanac and its peers on the same work, on the same simulated node and the same PostgreSQL server, one after the other in one run:
// all NFT transfers of a chain, then those of its busiest contract. Peers are installed here, when they are first run.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { type PostgresServer, startPostgres } from '../test/postgres-server.ts'
import { SimChain } from '../test/sim/chain.ts'
import { expectedTransfers } from '../test/sim/truth.ts'
import { openAnswers } from './evm-answers.ts'
import { benchmarkChain, busiestContract, startNode, startShapedNode } from './evm-node.ts'
import { isInstalled } from './peers/peer-process.ts'
import { ponder } from './peers/ponder.ts'
import { squid } from './peers/squid.ts'
import { type IndexJob, runFloorJob, runIndexJob } from './run-index-job.ts'
import { shapeNameOf } from './shape.ts'
import { median } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    /** Of others than the small one all transfers are indexed, and no single contract. */
    shape: { type: 'string', default: 'small' },
    /** 10,000 of the small shape and 2,000 of others. Shorter runs measure how long V8 compiles: a second and more of processor time. */
    blocks: { type: 'string' },
    /** Floor, Almanac and Squid take turns so many times; the medians count. Ponder, which takes minutes, runs once. */
    rounds: { type: 'string', default: '3' },
    /** What a peer may take for one work; its seconds are a lower bound when it was stopped. */
    'limit-minutes': { type: 'string', default: '10' },
    only: { type: 'string' },
    work: { type: 'string' },
    /** Almanac's node also gives receipts as bytes; peers ask for what they ask for. */
    raw: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
type Work = 'all transfers' | 'one contract'
type Measured = { rows: number; seconds: number; cpuSeconds: number; finished: boolean; bytes: number; rssMb: number }
type Line = Measured & { work: Work; indexer: string; expected: number }

const shape = shapeNameOf(options.shape)
const blocks = Number(options.blocks ?? (shape === 'small' ? 10_000 : 2_000))
const limitSeconds = Number(options['limit-minutes']) * 60
/** Ponder takes the newest 65 blocks as not final and would follow them one by one, so the peers' range ends below them. Almanac indexes all. */
const head = blocks + 70
/** Sepolia has Ethereum's rules and none of the early collections whose events peers would need code of their own for. */
const chain = { name: 'sepolia', id: 0xaa36a7 }
// Plain ERC-721 and ERC-1155 contracts alone: one malformed batch in a chain, and Ponder loses those that follow.
const contracts = Array.from({ length: 500 }, (_, rank) => ({
  kind: rank % 3 === 1 ? ('erc1155' as const) : ('erc721' as const),
  deployedAt: 1 + ((rank * 37) % 100),
  weight: 1 / (rank + 1),
}))
const simulated = {
  ...benchmarkChain({ height: head, chainId: chain.id, hashes: 'real' }),
  contracts: 0,
  addedContracts: contracts,
}
const peers = [squid, ponder].filter(({ name }) => options.only === undefined || name.toLowerCase() === options.only)
const works = (['all transfers', 'one contract'] as const).filter(
  work =>
    (options.work === undefined || work.includes(options.work)) && (shape === 'small' || work === 'all transfers'),
)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
for (const { folder } of peers) install(folder)

const databaseSize = 'SELECT pg_database_size(current_database())'
const loadAtStart = loadavg()
const lines: Line[] = []
const node = await (shape === 'small'
  ? startNode(simulated)
  : startShapedNode(shape, { height: head, chainId: chain.id, hashes: 'real' }))
process.once('exit', () => void node.stop())
try {
  // The same server for everyone, as safe as PostgreSQL comes.
  const server = await startPostgres({ fsync: 'on', full_page_writes: 'on' })
  try {
    const contract = await busiestContract(node.url, head)
    for (const work of works) lines.push(...(await measure(work, server, contract)))
  } finally {
    await server.stop()
  }
} finally {
  await node.stop()
}
report()

async function measure(work: Work, server: PostgresServer, busiest: string): Promise<Line[]> {
  const contract = work === 'one contract' ? busiest : undefined
  const only = contract === undefined ? {} : { contract }
  const expected = expectedRows(only)
  const measured = new Map<string, { expected: number; runs: Measured[] }>()
  const note = async (indexer: string, rows: number, run: () => Promise<Measured>): Promise<void> => {
    const entry = measured.get(indexer) ?? { expected: rows, runs: [] }
    measured.set(indexer, entry)
    const result = await run()
    entry.runs.push(result)
    console.error(`${work}, ${indexer}: ${result.rows} rows in ${result.seconds.toFixed(2)} s`)
  }
  for (let round = 0; round < Number(options.rounds); round++) {
    await note('floor', expected.chain, async () => {
      const floor = await runFloorJob({ url: node.url, head, receipts: true, ...only })
      return {
        rows: expected.chain,
        seconds: floor.seconds,
        cpuSeconds: floor.cpuSeconds,
        finished: true,
        bytes: 0,
        rssMb: 0,
      }
    })
    await note('Almanac, file', expected.chain, () => almanacOnFile(contract))
    await note('Almanac, PostgreSQL', expected.chain, () => almanacOnPostgres(contract, server))
    for (const peer of peers) {
      if (peer === ponder && round > 0) continue
      await note(peer.name, expected.range, () => runPeer(peer, contract, server))
    }
  }
  return [...measured].map(([indexer, { expected: rows, runs }]) => {
    const middle = median(runs.map(run => run.seconds))
    const run = runs.find(({ seconds }) => seconds === middle)!
    return { work, indexer, expected: rows, ...run, rssMb: Math.max(...runs.map(({ rssMb }) => rssMb)) }
  })
}

/** Of the whole chain, and of the peers' range. */
function expectedRows(only: { contract?: string }): { chain: number; range: number } {
  if (shape !== 'small') {
    const answers = openAnswers(shape, chain.id, head)
    return { chain: answers.expectedAt(head).transfers, range: answers.expectedAt(blocks).transfers }
  }
  // Transfers do not depend on how blocks are hashed, and drawn hashes need no keccak.
  const truth = expectedTransfers(new SimChain({ ...simulated, hashes: 'cheap' }), { from: 0, to: head, ...only })
  return { chain: truth.length, range: truth.filter(transfer => transfer.block <= blocks).length }
}

async function almanacOnFile(contract: string | undefined): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    const path = join(folder, 'almanac.db')
    const { seconds, cpuSeconds, rssMb } = await runIndexJob(jobOf(`file:${path}`, contract))
    const bytes = statSync(path).size
    return { rows: await storedTransfers(`file:${path}`), seconds, cpuSeconds, finished: true, bytes, rssMb }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function almanacOnPostgres(contract: string | undefined, server: PostgresServer): Promise<Measured> {
  const database = await server.createDatabase()
  const before = await ask(database, databaseSize)
  const { seconds, cpuSeconds, rssMb } = await runIndexJob(jobOf(database, contract))
  const bytes = (await ask(database, databaseSize)) - before
  const rows = await storedTransfers(database)
  return { rows, seconds, cpuSeconds, finished: true, bytes, rssMb }
}

/** In runs and in recent blocks. */
async function storedTransfers(url: string): Promise<number> {
  const store = await openStore(url, { role: 'reader' })
  try {
    const id = chain.id as ChainId
    const contracts = await store.contractsOf(id, undefined, 10_000)
    const counts = await Promise.all(contracts.map(contract => store.transferCount({ chain: id, contract })))
    return counts.reduce((sum, count) => sum + count, 0)
  } finally {
    await store.close()
  }
}

function jobOf(store: string, contract: string | undefined): IndexJob {
  const url = options.raw ? node.rawUrl : node.url
  const job = { url, chain: chain.name, store, head, signed: shape !== 'small' }
  return contract === undefined ? { ...job, index: 'full' } : { ...job, index: 'on-demand', contract }
}

async function runPeer(
  peer: typeof squid | typeof ponder,
  contract: string | undefined,
  server: PostgresServer,
): Promise<Measured> {
  const database = await server.createDatabase()
  const before = await ask(database, databaseSize)
  const job = { url: node.url, chainId: chain.id, database, to: blocks, limitSeconds }
  const run = await peer.run(contract === undefined ? job : { ...job, contract })
  const rows = await ask(database, `SELECT count(*) FROM ${peer.table}`)
  const bytes = (await ask(database, databaseSize)) - before
  return { ...run, rows, bytes }
}

async function ask(database: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    const { rows } = await client.query<string[]>({ text: sql, rowMode: 'array' })
    return Number(rows[0]![0])
  } finally {
    await client.end()
  }
}

function install(folder: string): void {
  if (isInstalled(folder)) return
  console.error(`npm ci in ${folder}`)
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}.`)
}

function report(): void {
  const rateOf = ({ rows, seconds }: Line): number => rows / seconds
  const rows = lines.map(line => {
    const rate = (indexer: string) =>
      rateOf(lines.find(other => other.work === line.work && other.indexer === indexer)!)
    return {
      work: line.work,
      indexer: line.indexer,
      rows: line.rows,
      complete: line.finished && line.rows === line.expected,
      seconds: `${line.finished ? '' : 'at least '}${line.seconds.toFixed(2)}`,
      cpuSeconds: round2(line.cpuSeconds),
      rowsPerSecond: Math.round(rateOf(line)),
      ofFloor: round2(rateOf(line) / rate('floor')),
      almanacFileIsFaster: round2(rate('Almanac, file') / rateOf(line)),
      almanacPostgresIsFaster: round2(rate('Almanac, PostgreSQL') / rateOf(line)),
      bytesPerRow: line.bytes === 0 ? null : Math.round(line.bytes / line.rows),
      rssMb: line.rssMb === 0 ? null : line.rssMb,
    }
  })
  const results = {
    shape,
    raw: options.raw,
    blocks,
    rounds: Number(options.rounds),
    loadAtStart,
    loadAtEnd: loadavg(),
    lines: rows,
  }
  const folder = fileURLToPath(new URL('results', import.meta.url))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'peers.json'), `${JSON.stringify(results, null, 2)}\n`)
  if (options.json) process.stdout.write(`${JSON.stringify(results)}\n`)
  else console.table(rows)
  console.error(
    `load average ${loadAtStart.map(round2).join(' ')} at the start, ${loadavg().map(round2).join(' ')} at the end`,
  )
  const wrong = lines.filter(line => line.finished && line.rows !== line.expected)
  for (const { work, indexer, rows: stored, expected } of wrong)
    console.error(`${indexer} stored ${stored} rows of ${work}, not ${expected}: its figures compare with nothing.`)
  if (wrong.length > 0) process.exitCode = 1
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
