// How much serving slows down while history is being filled: the same pages from the same service, first during the backfill of a
// whole chain and then when it is done. Node, service and this process share the machine; the node yields to the service as the
// threads that index do, because what it takes from serving says nothing about the service.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Address } from '../src/model.ts'
import { indexingNiceness } from '../src/threads.ts'
import { busiestContracts, startShapedNode } from './evm-node.ts'
import { Client } from './load.ts'
import { key, transfersRequest } from './page-requests.ts'
import { shapeNameOf } from './shape.ts'
import { percentile } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    shape: { type: 'string', default: 'small' },
    /** 12,000 of the small shape and 2,000 of others, unless told otherwise. */
    blocks: { type: 'string' },
    /** How long each state is measured, at the most. */
    seconds: { type: 'string', default: '20' },
    /** Between two requests: clients that come and go, not a load test. */
    'pause-ms': { type: 'string', default: '5' },
  },
})
const shape = shapeNameOf(options.shape)
const blocks = Number(options.blocks ?? (shape === 'small' ? 12_000 : 2_000))
const durationMs = Number(options.seconds) * 1_000
const newestBlocks = 400

const node = await startShapedNode(shape, { height: blocks, chainId: 1, hashes: 'cheap' })
const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const config = join(folder, 'almanac.yaml')
writeFileSync(
  config,
  `listen: 127.0.0.1:0\nstore: file:${join(folder, 'almanac.db')}\nops_open: true\nchains:\n  eth: { rpc: ['${node.url}'], index: full }\n`,
)
setPriority(node.processId, indexingNiceness)
const contracts = await busiestContracts(node.url, blocks, 8)
const loadAtStart = loadavg()
const service = startService()
try {
  const url = await listeningAt(service)
  const client = await Client.open(url)
  // The pages that are asked for must be there in both states.
  while (await isMissing(url, blocks - newestBlocks)) await delay(20)
  await measure(client, async () => false, 1_000)
  const during = await measure(client, () => isMissing(url, 0))
  while (await isMissing(url, 0)) await delay(200)
  await delay(2_000)
  const idle = await measure(client, async () => true)
  client.close()
  const ratio = (of: 'p50' | 'p99') => Math.round((during[of] / idle[of]) * 100) / 100
  const report = {
    shape,
    blocks,
    during,
    idle,
    p50: ratio('p50'),
    p99: ratio('p99'),
    loadAtStart,
    loadAtEnd: loadavg(),
  }
  const results = fileURLToPath(new URL('results', import.meta.url))
  mkdirSync(results, { recursive: true })
  writeFileSync(join(results, 'evm-serve.json'), `${JSON.stringify(report, null, 2)}\n`)
  console.table({ 'during the backfill': during, idle, ratio: { p50: report.p50, p99: report.p99 } })
  console.log(JSON.stringify(report))
} finally {
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
  await node.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** One request at a time until the time is over, or until `goesOn` says no. */
async function measure(client: Client, goesOn: () => Promise<boolean>, forMs = durationMs) {
  const latencies: number[] = []
  const endAt = performance.now() + forMs
  let next = 0
  while (performance.now() < endAt) {
    const contract = contracts[next % contracts.length] as Address
    // Another page with each request, so that kept answers do not help.
    const request = transfersRequest(
      contract,
      `to_block=${blocks - ((next * 7) % (newestBlocks / 2))}&limit=${50 + (next % 50)}`,
    )
    const startedAt = performance.now()
    await client.count(request)
    latencies.push(performance.now() - startedAt)
    if (++next % 100 === 0 && forMs === durationMs && !(await goesOn())) break
    await delay(Number(options['pause-ms']))
  }
  const round = (part: number) => Math.round(percentile(latencies, part) * 100) / 100
  return { requests: latencies.length, p50: round(0.5), p99: round(0.99), max: round(1) }
}

async function isMissing(url: string, from: number): Promise<boolean> {
  const answer = await fetch(`${url}/status`, { headers: { 'x-api-key': key } })
  const { chains } = (await answer.json()) as { chains: { eth: { covered: { from: number; to: number }[] } } }
  return !chains.eth.covered.some(interval => interval.from <= from && interval.to >= blocks - newestBlocks / 2)
}

function startService(): ChildProcess {
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
  return spawn(process.execPath, [main, 'start', '--config', config, '--log-format', 'json'], {
    env: { ...process.env, ALMANAC_KEY: key },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

async function listeningAt({ stderr }: ChildProcess): Promise<string> {
  let printed = ''
  for await (const chunk of stderr!) {
    printed += String(chunk)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
    if (url === undefined) continue
    stderr!.resume()
    return url
  }
  throw new Error(`almanac start ended. It printed:\n${printed}`)
}
