// How fast chains are indexed, against the floor: fetching and JSON.parse of the same bytes in one process with no store. Node, floor
// and indexer run one after the other on the same machine in the same run; the node is a process of its own with ready-made answers.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hexOf } from '../src/evm/node-head.ts'
import { transferTopics } from '../src/evm/token-events.ts'
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
const chain = {
  height: blocks,
  chainId: 1,
  hashes: options.hashes,
  transactionsPerBlock: 20,
  logsPerCall: 3,
  contracts: 500,
  callsPerStretch: 64,
  deploymentSpan: 100,
  finalityDepth: 10,
}

export type IndexJob = { url: string; store: string; index: 'full' | 'on-demand'; contract?: string; head: number }
export type IndexResult = { seconds: number; transfers: number; rssMb: number }

const node = spawn(
  process.execPath,
  [
    fileURLToPath(new URL('../test/sim/main.ts', import.meta.url)),
    '--warm',
    'all',
    '--cache-mb',
    '2000',
    '--chain',
    JSON.stringify(chain),
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  const [line] = (await once(node.stdout!, 'data')) as [Buffer]
  const { urls } = JSON.parse(String(line)) as { urls: string[] }
  const url = urls[0]!
  const contract = await busiestContract(url)
  const results = { full: await compare(url, 'full', contract), onDemand: await compare(url, 'on-demand', contract) }
  if (options.json) process.stdout.write(`${JSON.stringify(results)}\n`)
  else console.table(results)
} finally {
  node.kill()
}

async function compare(url: string, index: IndexJob['index'], contract: string) {
  const floors: number[] = []
  const ours: IndexResult[] = []
  let bytesPerTransfer = 0
  let floorBytes = 0
  for (let round = 0; round < Number(options.rounds); round++) {
    const floor = await (index === 'full' ? fullFloor(url) : contractFloor(url, contract))
    floors.push(floor.seconds)
    floorBytes = floor.bytes
    const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
    try {
      const path = join(folder, 'almanac.db')
      const job: IndexJob = {
        url,
        store: `file:${path}`,
        index,
        head: blocks,
        ...(index === 'full' ? {} : { contract }),
      }
      const result = await runChild(job)
      ours.push(result)
      bytesPerTransfer = statSync(path).size / result.transfers
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const floorSeconds = median(floors)
  const seconds = median(ours.map(result => result.seconds))
  const transfers = ours[0]!.transfers
  return {
    transfers,
    megabytes: Math.round(floorBytes / 1e6),
    floorSeconds: round2(floorSeconds),
    seconds: round2(seconds),
    ofFloor: round2(floorSeconds / seconds),
    transfersPerSecond: Math.round(transfers / seconds),
    bytesPerTransfer: Math.round(bytesPerTransfer),
    rssMb: Math.max(...ours.map(result => result.rssMb)),
  }
}

async function runChild(job: IndexJob): Promise<IndexResult> {
  const child: ChildProcess = fork(
    fileURLToPath(new URL('./evm-index-job.ts', import.meta.url)),
    [JSON.stringify(job)],
    {
      execArgv: options.profile ? ['--cpu-prof', '--cpu-prof-dir', join(tmpdir(), 'almanac-profile')] : [],
    },
  )
  let result: IndexResult | undefined
  child.on('message', message => {
    result = message as IndexResult
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (result === undefined) throw new Error(`The indexing job ended with code ${code} and no result.`)
  return result
}

/** What full mode needs: every block with its transactions, and its receipts (or, without roots, its logs). */
async function fullFloor(url: string): Promise<{ seconds: number; bytes: number }> {
  const size = 20
  const requests: string[] = []
  for (let from = 0; from <= blocks; from += size) {
    const calls = []
    const to = Math.min(blocks, from + size - 1)
    for (let number = from; number <= to; number++) {
      calls.push(call(calls.length, 'eth_getBlockByNumber', [hexOf(number), true]))
      if (options.hashes === 'real') calls.push(call(calls.length, 'eth_getBlockReceipts', [hexOf(number)]))
    }
    if (options.hashes !== 'real')
      calls.push(call(calls.length, 'eth_getLogs', [{ fromBlock: hexOf(from), toBlock: hexOf(to) }]))
    requests.push(JSON.stringify(calls))
  }
  return await fetchAndParse(url, requests)
}

/** What a contract needs: its logs, and the blocks that hold them for value and time. */
async function contractFloor(url: string, contract: string): Promise<{ seconds: number; bytes: number }> {
  const size = 1_000
  const logRequests: string[] = []
  for (let from = 0; from <= blocks; from += size) {
    const filter = {
      fromBlock: hexOf(from),
      toBlock: hexOf(Math.min(blocks, from + size - 1)),
      address: contract,
      topics: [transferTopics],
    }
    logRequests.push(JSON.stringify([call(0, 'eth_getLogs', [filter])]))
  }
  const numbers = new Set<string>()
  const started = performance.now()
  let bytes = 0
  const logs = await fetchAndParse(url, logRequests, answers => {
    for (const { result } of answers as { result: { blockNumber: string }[] }[])
      for (const log of result) numbers.add(log.blockNumber)
  })
  bytes += logs.bytes
  const blockRequests: string[] = []
  const list = [...numbers]
  for (let at = 0; at < list.length; at += 100) {
    const calls = list.slice(at, at + 100).map((number, id) => call(id, 'eth_getBlockByNumber', [number, true]))
    blockRequests.push(JSON.stringify(calls))
  }
  bytes += (await fetchAndParse(url, blockRequests)).bytes
  return { seconds: (performance.now() - started) / 1_000, bytes }
}

async function fetchAndParse(url: string, requests: string[], read?: (answers: unknown) => void) {
  const started = performance.now()
  const waiting = [...requests]
  let bytes = 0
  const next = async (): Promise<void> => {
    for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
      const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      const text = await response.text()
      bytes += text.length
      const answers: unknown = JSON.parse(text)
      read?.(answers)
    }
  }
  await Promise.all([next(), next(), next(), next()])
  return { seconds: (performance.now() - started) / 1_000, bytes }
}

async function busiestContract(url: string): Promise<string> {
  const counts = new Map<string, number>()
  const filter = { fromBlock: hexOf(blocks - 500), toBlock: hexOf(blocks), topics: [transferTopics] }
  await fetchAndParse(url, [JSON.stringify([call(0, 'eth_getLogs', [filter])])], answers => {
    for (const { result } of answers as { result: { address: string; topics: string[] }[] }[]) {
      for (const log of result) if (log.topics.length === 4) counts.set(log.address, (counts.get(log.address) ?? 0) + 1)
    }
  })
  return [...counts].sort((a, b) => b[1] - a[1])[0]![0]
}

function call(id: number, method: string, params: unknown[]) {
  return { jsonrpc: '2.0', id, method, params }
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
