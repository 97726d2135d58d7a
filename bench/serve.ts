// How fast pages of 100 transfers are served over HTTP, measured from a second process against a bare `node:http` server
// that sends the same bytes in the same run. See README.md here.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { serialize } from 'node:v8'
import { type RunningAlmanac, startAlmanac } from '../test/running-almanac.ts'
import { cpuSecondsOf } from './cpu-time.ts'
import { Client, requestBytes, runLoad } from './load.ts'
import { distinctPages, key } from './page-requests.ts'
import { pinToOwnCores } from './pinning.ts'
import { summariseProfile } from './profile.ts'
import { measureLatency } from './serve-latency.ts'
import { type FilledStore, filledStore } from './serve-store.ts'
import { median } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    transfers: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '8' },
    /** Writes CPU profiles of the server and prints where its time went. */
    profile: { type: 'boolean', default: false },
    /** `throughput` or `latency`; both if not given. */
    only: { type: 'string' },
  },
})
const large = Number(options.transfers)
const small = large / 100
const rounds = Number(options.rounds)
const durationMs = Number(options.seconds) * 1_000
const connections = Number(options.connections)

const here = fileURLToPath(new URL('.', import.meta.url))
const distinctBodies = 512
const repeatedPages = 16
const warmUpMs = 1_500

const { pinning, runner } = pinToOwnCores()

const largeStore = await filledStore(join(here, 'data'), large)
const scratch = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const stops: (() => Promise<void>)[] = []
try {
  const report = {
    ...machine(),
    transfers: large,
    ...(options.only === 'latency' ? {} : await throughput()),
    ...(options.only === 'throughput' ? {} : await latency()),
  }
  mkdirSync(join(here, 'results'), { recursive: true })
  const file = join(here, 'results', `serve-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}.json`)
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  console.log(`\n${JSON.stringify(report)}`)
} finally {
  for (const stop of stops) await stop()
  rmSync(scratch, { recursive: true, force: true })
}

async function throughput() {
  const nodeFlags = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${scratch}`] : []
  const almanac = await started(largeStore, nodeFlags)
  const client = await Client.open(almanac.url)
  const pages = distinctPages(largeStore)
  const bodies: Buffer[] = []
  for (let index = 0; index < distinctBodies; index++) bodies.push(await bodyOf(client, pages()))
  client.close()
  const repeated = Array.from({ length: repeatedPages }, pages)
  const bareDistinct = await bareServer('distinct', bodies)
  const bareRepeated = await bareServer('repeated', bodies.slice(0, repeatedPages))

  const counter = () => {
    let next = 0
    return () => next++
  }
  const [bareNext, pageNext] = [counter(), counter()]
  const bareRequests = Array.from({ length: distinctBodies }, (_, index) => requestBytes(`/${index}`))
  const bareRequest = () => bareRequests[bareNext() % distinctBodies]!
  const scenarios = {
    'bare, distinct': { server: bareDistinct, request: bareRequest },
    'almanac, distinct': { server: almanac, request: pages },
    'bare, repeated': { server: bareRepeated, request: bareRequest },
    'almanac, repeated': { server: almanac, request: () => repeated[pageNext() % repeatedPages]! },
  }
  const perSecond = new Map<string, number[]>(Object.keys(scenarios).map(name => [name, []]))
  const cpuMicros = new Map<string, number[]>(Object.keys(scenarios).map(name => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, { server, request }] of Object.entries(scenarios)) {
      const cpuBefore = cpuSecondsOf(server.processId)
      const { url } = server
      const result = await runLoad({ url, request, connections, durationMs: round === -1 ? warmUpMs : durationMs })
      if (round === -1) continue
      perSecond.get(name)!.push(result.perSecond)
      cpuMicros.get(name)!.push(((cpuSecondsOf(server.processId) - cpuBefore) / result.answers) * 1e6)
    }
  }
  const ratios = (kind: string) =>
    perSecond.get(`almanac, ${kind}`)!.map((rate, round) => rate / perSecond.get(`bare, ${kind}`)![round]!)
  const cpuRatios = (kind: string) =>
    cpuMicros.get(`almanac, ${kind}`)!.map((micros, round) => cpuMicros.get(`bare, ${kind}`)![round]! / micros)
  console.log(`\npages of 100, ${Math.round(bodies[0]!.length / 100) / 10} kB, ${connections} connections`)
  console.table(
    Object.fromEntries(
      [...perSecond].map(([name, rates]) => {
        const micros = median(cpuMicros.get(name)!)
        return [name, { 'median/s': Math.round(median(rates)), ...spread(rates), 'cpu µs': Math.round(micros) }]
      }),
    ),
  )
  const result = {
    connections,
    rounds,
    durationMs,
    pageBytes: bodies[0]!.length,
    perSecond: Object.fromEntries(perSecond),
    cpuMicrosPerPage: Object.fromEntries(cpuMicros),
    distinctRatio: median(ratios('distinct')),
    repeatedRatio: median(ratios('repeated')),
    distinctCpuRatio: median(cpuRatios('distinct')),
    repeatedCpuRatio: median(cpuRatios('repeated')),
  }
  const { distinctRatio, repeatedRatio, distinctCpuRatio, repeatedCpuRatio } = result
  console.log(`ratio to bare in pages/s: distinct ${distinctRatio.toFixed(3)}, repeated ${repeatedRatio.toFixed(3)}`)
  console.log(
    `        in cpu per page: distinct ${distinctCpuRatio.toFixed(3)}, repeated ${repeatedCpuRatio.toFixed(3)}`,
  )
  if (options.profile) {
    await almanac.stop()
    for (const file of readdirSync(scratch).filter(name => name.endsWith('.cpuprofile'))) {
      console.log(summariseProfile(join(scratch, file)))
    }
  }
  return result
}

async function latency() {
  const smallStore = await filledStore(join(here, 'data'), small)
  const results = await measureLatency([smallStore, largeStore], store => started(store))
  console.log(`\nlatency over one connection, ms; the largest contract has a tenth of all transfers`)
  console.table(
    Object.fromEntries(
      Object.entries(results).map(([kind, row]) => [
        kind,
        {
          [`p50 at ${small}`]: rounded(row.small.p50Ms),
          [`p99 at ${small}`]: rounded(row.small.p99Ms),
          [`p50 at ${large}`]: rounded(row.large.p50Ms),
          [`p99 at ${large}`]: rounded(row.large.p99Ms),
          'p50 ratio': rounded(row.p50Ratio),
          'cpu ratio': rounded(row.cpuRatio),
        },
      ]),
    ),
  )
  return { latency: results }
}

async function bodyOf(client: Client, request: Buffer): Promise<Buffer> {
  const { status, body, header } = await client.get(request)
  const page = JSON.parse(body.toString()) as { result?: unknown[] }
  if (status !== 200 || page.result?.length !== 100) throw new Error(`Not a page of 100: ${header}\n${body}`)
  return body
}

async function started({ file }: FilledStore, nodeFlags: readonly string[] = []): Promise<RunningAlmanac> {
  const almanac = await startAlmanac({ store: `file:${file}`, key, nodeFlags, runner })
  stops.push(almanac.stop)
  return almanac
}

async function bareServer(name: string, bodies: readonly Buffer[]): Promise<{ url: string; processId: number }> {
  const file = join(scratch, `${name}.bodies`)
  writeFileSync(file, serialize(bodies.map(body => new Uint8Array(body))))
  const command = [...runner, process.execPath, join(here, 'bare-server.ts'), file]
  const child: ChildProcess = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  stops.push(async () => {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: line.toString().trim(), processId: child.pid! }
}

function machine() {
  return { date: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model ?? 'unknown', pinned: pinning }
}

function spread(rates: readonly number[]) {
  return { 'lowest/s': Math.round(Math.min(...rates)), 'highest/s': Math.round(Math.max(...rates)) }
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
