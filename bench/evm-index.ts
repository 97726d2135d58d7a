// How fast chains are indexed, against the floor: fetching and JSON.parse of the same bytes in one process with no store. Floor
// and indexer take turns on the same machine in the same run, each time in a fresh process; the node is one of its own with
// ready-made answers.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type KeptView, usualViews } from '../src/views.ts'
import { cpuSecondsOf } from './cpu-time.ts'
import type { Floor } from './evm-floor.ts'
import { busiestContract, startShapedNode } from './evm-node.ts'
import { summariseProfile } from './profile.ts'
import { type IndexJob, type IndexResult, runFloorJob, runIndexJob } from './run-index-job.ts'
import { shapeNameOf } from './shape.ts'
import { median } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    shape: { type: 'string', default: 'small' },
    /** 5,000 of the small shape and 2,000 of others, unless told otherwise. */
    blocks: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    /** `real` proves receipts roots; `cheap` chains have none, so that blooms are what is checked. */
    hashes: { type: 'string', default: 'real' },
    /** `full` or `on-demand`; both unless told. */
    only: { type: 'string' },
    /** How the node gives receipts in full mode, each in a column of its own and in turns: `json`, `raw` or `json,raw`. */
    receipts: { type: 'string', default: 'json' },
    /** Views that the chain keeps, such as `transfers,activity`; all unless told. */
    views: { type: 'string' },
    /** A column in which the chain keeps ERC-20 tokens too, in turns with the others. */
    tokens: { type: 'boolean', default: false },
    /** Threads that decode, each number in a column of its own: `1,2,4`. As many as `almanac start` takes unless told. */
    threads: { type: 'string' },
    /** Megabytes that process and page cache of the indexer are held to. */
    memory: { type: 'string' },
    json: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
})
const shape = shapeNameOf(options.shape)
const blocks = Number(options.blocks ?? (shape === 'small' ? 5_000 : 2_000))
const hashes = options.hashes === 'real' ? 'real' : 'cheap'
const receipts = hashes === 'real'
const threadCounts = options.threads?.split(',').map(Number) ?? [undefined]
const profileFolder = options.profile ? mkdtempSync(join(tmpdir(), 'almanac-profile-')) : undefined

const loadAtStart = loadavg()
const node = await startShapedNode(shape, { height: blocks, chainId: 1, hashes })
try {
  const contract = await busiestContract(node.url, blocks)
  const full = (form: string, threads: number | undefined): Column => ({
    name: ['full', ...(form === 'raw' ? ['raw receipts'] : []), ...(threads ? [`threads: ${threads}`] : [])].join(', '),
    ...{ url: form === 'raw' ? node.rawUrl : node.url, index: 'full', only: { threads } },
  })
  const columns: Column[] =
    options.only === 'on-demand'
      ? []
      : threadCounts.flatMap(threads => options.receipts.split(',').map(form => full(form, threads)))
  if (options.tokens)
    for (const column of [...columns])
      columns.push({
        ...column,
        name: `${column.name}, erc20`,
        only: { ...column.only, views: [...usualViews, 'erc20'] },
      })
  if (options.only !== 'full') columns.push({ name: 'onDemand', url: node.url, index: 'on-demand', only: { contract } })
  const runs: Run[][] = columns.map(() => [])
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [at, column] of columns.entries()) runs[at]!.push(await runOnce(column))
  const results: Record<string, Compared> = {}
  for (const [at, { name, index }] of columns.entries()) results[name] = summary(index, runs[at]!)
  if (options.json) process.stdout.write(`${JSON.stringify(results)}\n`)
  else console.table(columnsOf(results))
  console.error(
    `load average ${loadAtStart.map(round2).join(' ')} at the start, ${loadavg().map(round2).join(' ')} now`,
  )
  for (const file of profileFolder === undefined ? [] : readdirSync(profileFolder)) {
    console.log(`\n${join(profileFolder!, file)}\n${summariseProfile(join(profileFolder!, file))}`)
  }
} finally {
  await node.stop()
}

type Run = { floor: Floor; floorOfLogs: Floor | undefined; job: IndexResult; bytes: number; nodeCpuSeconds: number }
type Only = Pick<IndexJob, 'contract' | 'threads' | 'views'>
type Column = { name: string; url: string; index: IndexJob['index']; only: Only }
type Compared = ReturnType<typeof summary>

async function runOnce({ url, index, only }: Column): Promise<Run> {
  const floor = await runFloorJob({ url, head: blocks, receipts, contract: only.contract })
  const nodeCpuBefore = cpuSecondsOf(node.processId)
  const { job, bytes } = await indexOnce(url, index, only)
  const nodeCpuSeconds = cpuSecondsOf(node.processId) - nodeCpuBefore
  // What somebody who proves nothing has to fetch: blocks and logs without receipts.
  const withoutReceipts = index === 'full' && receipts
  const floorOfLogs = withoutReceipts ? await runFloorJob({ url, head: blocks, receipts: false }) : undefined
  return { floor, floorOfLogs, job, bytes, nodeCpuSeconds }
}

function summary(index: IndexJob['index'], runs: readonly Run[]) {
  const middle = (of: (run: Run) => number | undefined) => round2(median(runs.map(run => of(run) ?? Number.NaN)))
  const { job, bytes, floor, floorOfLogs } = runs.at(-1)!
  const floorSeconds = middle(run => run.floor.seconds)
  const seconds = middle(run => run.job.seconds)
  const floorCpuSeconds = middle(run => run.floor.cpuSeconds)
  const cpuSeconds = middle(run => run.job.cpuSeconds)
  const { transfers } = job
  const { expected } = node
  const isWhole = index === 'full' && expected !== undefined
  if (isWhole && transfers !== expected.transfers) {
    throw new Error(`${transfers} transfers were stored, not ${expected.transfers}: the figures compare with nothing.`)
  }
  return {
    blocks,
    transfers,
    ...(job.tokenTransfers === 0 ? {} : { tokenTransfers: job.tokenTransfers }),
    ...(isWhole ? { wallets: expected.wallets } : {}),
    evidence: job.evidence.join(),
    bound: job.bound,
    megabytes: Math.round(floor.bytes / 1e6),
    fetchedMegabytes: Math.round(job.bytesFetched / 1e6),
    floorSeconds,
    seconds,
    ofFloor: round2(floorSeconds / seconds),
    floorCpuSeconds,
    cpuSeconds,
    // Of the threads that parse, check and decode.
    decodeCpuSeconds: middle(run => run.job.decodeCpuSeconds),
    // Hardly depends on what else the machine does.
    ofFloorInCpu: round2(floorCpuSeconds / cpuSeconds),
    nodeCpuSeconds: middle(run => run.nodeCpuSeconds),
    ...(floorOfLogs === undefined
      ? {}
      : {
          megabytesWithoutReceipts: Math.round(floorOfLogs.bytes / 1e6),
          floorSecondsWithoutReceipts: middle(run => run.floorOfLogs?.seconds),
          floorCpuSecondsWithoutReceipts: middle(run => run.floorOfLogs?.cpuSeconds),
        }),
    transfersPerSecond: Math.round(transfers / seconds),
    blocksPerSecond: Math.round(blocks / seconds),
    blocksPerSecondByTenth: job.tenths.join(' '),
    storedMegabytes: round2(bytes / 1e6),
    writtenPerStoredByte: round2(job.bytesWritten / bytes),
    bytesPerTransfer: Math.round(bytes / transfers),
    ...(isWhole ? { bytesPerRow: Math.round(bytes / (transfers + expected.wallets)) } : {}),
    rssMb: Math.max(...runs.map(run => run.job.rssMb)),
  }
}

async function indexOnce(url: string, index: IndexJob['index'], only: Only) {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    const store = `file:${join(folder, 'almanac.db')}`
    const bounds = options.memory === undefined ? {} : { memoryMb: Number(options.memory) }
    const views = options.views === undefined ? {} : { views: options.views.split(',') as KeptView[] }
    const job = await runIndexJob(
      { url, chain: 'eth', store, index, head: blocks, signed: shape !== 'small', ...views, ...only, ...bounds },
      profileFolder,
    )
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    return { job, bytes }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A line for each figure: there are too many for columns. */
function columnsOf(results: Readonly<Record<string, Compared>>): Record<string, Record<string, unknown>> {
  const lines: Record<string, Record<string, unknown>> = {}
  for (const [index, result] of Object.entries(results)) {
    for (const [figure, value] of Object.entries(result)) lines[figure] = { ...lines[figure], [index]: value }
  }
  return lines
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
