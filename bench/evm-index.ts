// How fast chains are indexed, against the floor: fetching and JSON.parse of the same bytes in one process with no store. Floor
// and indexer take turns on the same machine in the same run, each time in a fresh process; the node is one of its own with
// ready-made answers.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Floor } from './evm-floor.ts'
import { benchmarkChain, busiestContract, startNode } from './evm-node.ts'
import { type IndexJob, type IndexResult, runFloorJob, runIndexJob } from './run-index-job.ts'
import { median } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    blocks: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    /** `real` proves receipts roots; `cheap` chains have none, so that blooms are what is checked. */
    hashes: { type: 'string', default: 'real' },
    json: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
})
const blocks = Number(options.blocks)
const receipts = options.hashes === 'real'

const node = await startNode(
  benchmarkChain({ height: blocks, chainId: 1, hashes: options.hashes === 'real' ? 'real' : 'cheap' }),
)
try {
  const contract = await busiestContract(node.url, blocks)
  const results = {
    full: await compare(node.url, 'full', contract),
    onDemand: await compare(node.url, 'on-demand', contract),
  }
  if (options.json) process.stdout.write(`${JSON.stringify(results)}\n`)
  else console.table(results)
} finally {
  await node.stop()
}

async function compare(url: string, index: IndexJob['index'], contract: string) {
  const floors: Floor[] = []
  const ours: IndexResult[] = []
  let bytesPerTransfer = 0
  let floorBytes = 0
  for (let round = 0; round < Number(options.rounds); round++) {
    const floor = await runFloorJob({ url, head: blocks, receipts, ...(index === 'full' ? {} : { contract }) })
    floors.push(floor)
    floorBytes = floor.bytes
    const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
    try {
      const path = join(folder, 'almanac.db')
      const job: IndexJob = {
        url,
        chain: 'eth',
        store: `file:${path}`,
        index,
        head: blocks,
        ...(index === 'full' ? {} : { contract }),
      }
      const result = await runIndexJob(job, { profile: options.profile })
      ours.push(result)
      bytesPerTransfer = statSync(path).size / result.transfers
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const middle = (results: readonly { seconds: number; cpuSeconds: number }[], of: 'seconds' | 'cpuSeconds') =>
    median(results.map(result => result[of]))
  const floorSeconds = middle(floors, 'seconds')
  const seconds = middle(ours, 'seconds')
  const transfers = ours[0]!.transfers
  return {
    transfers,
    megabytes: Math.round(floorBytes / 1e6),
    floorSeconds: round2(floorSeconds),
    seconds: round2(seconds),
    ofFloor: round2(floorSeconds / seconds),
    floorCpuSeconds: round2(middle(floors, 'cpuSeconds')),
    cpuSeconds: round2(middle(ours, 'cpuSeconds')),
    transfersPerSecond: Math.round(transfers / seconds),
    bytesPerTransfer: Math.round(bytesPerTransfer),
    rssMb: Math.max(...ours.map(result => result.rssMb)),
  }
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
