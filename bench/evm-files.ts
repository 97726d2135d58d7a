// How fast history is indexed from files, beside the same blocks over JSON-RPC from the simulated node in the same run: full
// mode, each time from an empty store in a fresh process. Files give transfers first; what their senders take after that is measured
// on its own, for each core.
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { exportBlocks } from '../test/sim/export-files.ts'
import { digestOfMakers } from './evm-answers.ts'
import { makeBlocks } from './evm-chain.ts'
import { startShapedNode } from './evm-node.ts'
import { type IndexJob, type IndexResult, runIndexJob } from './run-index-job.ts'
import { type ShapeName, shapes } from './shape.ts'
import { median } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    blocks: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    /** How long senders are recovered for, in each round. */
    seconds: { type: 'string', default: '15' },
    json: { type: 'boolean', default: false },
  },
})
const blocks = Number(options.blocks)
const shape: ShapeName = 'ethereum'
const ratioMin = 1.3
const residentMbMax = 400

const history = historyFolder()
const fileBytes = readdirSync(history).reduce((sum, name) => sum + statSync(join(history, name)).size, 0)
const loadAtStart = loadavg()
const node = await startShapedNode(shape, { height: blocks, chainId: 1, hashes: 'real' })
try {
  const runs: Record<'files' | 'node' | 'nodeWithoutWallets', IndexResult[]> = {
    files: [],
    node: [],
    nodeWithoutWallets: [],
  }
  for (let round = 0; round < Number(options.rounds); round++) {
    runs.node.push(await indexOnce({ url: node.url }))
    runs.files.push(await indexOnce({ history, scope: 'transfers', sendersMs: 1_000 * Number(options.seconds) }))
    runs.nodeWithoutWallets.push(await indexOnce({ url: node.url, scope: 'transfers' }))
  }
  const found = new Set(Object.values(runs).flatMap(each => each.map(({ transfers }) => transfers)))
  if (found.size !== 1)
    throw new Error(`${[...found].join(' and ')} transfers were stored: the figures compare with nothing.`)
  const rate = (of: readonly IndexResult[]): number => blocks / median(of.map(({ seconds }) => seconds))
  const cpu = (of: readonly IndexResult[]): number => (1_000 * median(of.map(({ cpuSeconds }) => cpuSeconds))) / blocks
  const senders = runs.files.flatMap(each => each.senders ?? [])
  const sendersIn = (time: 'seconds' | 'cpuSeconds'): number =>
    Math.round(shapes[shape].transactionsPerBlock * median(senders.map(each => each.blocks / each[time])))
  const residentMb = Math.max(...runs.files.map(({ rssMb }) => rssMb))
  const result = {
    blocks,
    transfers: [...found][0]!,
    fileKilobytesPerBlock: round2(fileBytes / 1_000 / blocks),
    blocksPerSecond: round2(rate(runs.files)),
    nodeBlocksPerSecond: round2(rate(runs.node)),
    nodeWithoutWalletsBlocksPerSecond: round2(rate(runs.nodeWithoutWallets)),
    timesOfNode: round2(rate(runs.files) / rate(runs.node)),
    timesOfNodeWithoutWallets: round2(rate(runs.files) / rate(runs.nodeWithoutWallets)),
    cpuMsPerBlock: round2(cpu(runs.files)),
    nodeCpuMsPerBlock: round2(cpu(runs.node)),
    nodeWithoutWalletsCpuMsPerBlock: round2(cpu(runs.nodeWithoutWallets)),
    timesOfNodeInCpu: round2(cpu(runs.node) / cpu(runs.files)),
    residentMb,
    nodeResidentMb: Math.max(...runs.node.map(({ rssMb }) => rssMb)),
    sendersPerSecond: sendersIn('seconds'),
    // Hardly depends on what else the machine does.
    sendersPerSecondOfCore: sendersIn('cpuSeconds'),
    evidence: runs.files[0]!.evidence.join(),
  }
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  else console.table(Object.fromEntries(Object.entries(result).map(([figure, value]) => [figure, { value }])))
  console.error(
    `load average ${loadAtStart.map(round2).join(' ')} at the start, ${loadavg().map(round2).join(' ')} now`,
  )
  const misses = [
    ...(result.timesOfNode < ratioMin
      ? [`files are ${result.timesOfNode} times as fast as the node, not ${ratioMin}`]
      : []),
    ...(residentMb > residentMbMax ? [`${residentMb} MB are resident, not ${residentMbMax}`] : []),
  ]
  for (const miss of misses) console.error(miss)
  if (misses.length > 0) process.exitCode = 1
} finally {
  await node.stop()
}

/** Made once for the code that makes the blocks. Block 0 is left out: it is not that of Ethereum, and files are checked for that. */
function historyFolder(): string {
  const data = fileURLToPath(new URL('data', import.meta.url))
  const folder = join(data, `files-${shape}-${digestOfMakers()}-${blocks}`)
  if (existsSync(folder)) return folder
  console.error(`writing ${blocks} blocks as files`)
  const made = makeBlocks(shapes[shape], 1, blocks).drop(1)
  rmSync(`${folder}.part`, { recursive: true, force: true })
  exportBlocks(made, { folder: `${folder}.part`, format: 'ere', chainId: 1, network: 'mainnet' })
  renameSync(`${folder}.part`, folder)
  return folder
}

async function indexOnce(of: Partial<IndexJob>): Promise<IndexResult> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  try {
    const store = `file:${join(folder, 'almanac.db')}`
    return await runIndexJob({ chain: 'eth', store, index: 'full', from: 1, head: blocks, signed: true, ...of })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
