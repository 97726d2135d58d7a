// What overload does to the service: ten times as many closed-loop clients as saturate it, slow readers, idle
// connections and would-be listeners, against the same service with the clients that saturate it. See README.md here.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type RunningAlmanac, startAlmanac } from '../test/running-almanac.ts'
import { idleConnections, listeners, slowReaders } from './bystanders.ts'
import { Client } from './load.ts'
import { distinctPages, key } from './page-requests.ts'
import { pinToOwnCores } from './pinning.ts'
import { filledStore } from './serve-store.ts'
import { median, percentile } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    /** How long the overload lasts. */
    seconds: { type: 'string', default: '300' },
    'normal-seconds': { type: 'string', default: '10' },
    /** Closed-loop clients that saturate the service, and how many times as many overload it. */
    clients: { type: 'string', default: '8' },
    times: { type: 'string', default: '10' },
    slow: { type: 'string', default: '100' },
    idle: { type: 'string', default: '5000' },
    listeners: { type: 'string', default: '500' },
    transfers: { type: 'string', default: '1000000' },
  },
})
const clients = Number(options.clients)
const overloadClients = clients * Number(options.times)
const warmUpMs = 3_000
const arrivalMs = 3_000
const arrivalMsMax = 30_000
const recoveryMsMax = 30_000
const recoveryWindowMs = 250

const here = fileURLToPath(new URL('.', import.meta.url))
const { pinning, runner } = pinToOwnCores()
const store = await filledStore(join(here, 'data'), Number(options.transfers))
const page = distinctPages(store)
const almanac = await startAlmanac({ store: `file:${store.file}`, key, runner })
try {
  await closedLoop(almanac.url, clients, warmUpMs)
  const normal = await closedLoop(almanac.url, clients, Number(options['normal-seconds']) * 1_000)
  const overload = await overloaded()
  const recoverySeconds = await recovered(percentile(normal.admittedMs, 0.99))
  report(normal, overload, recoverySeconds)
} finally {
  await almanac.stop()
}

type Load = { admittedMs: number[]; refusedMs: number[]; others: Map<string, number>; perSecond: number }

/** Each client asks for another page as soon as it has an answer, a refusal included: it does not wait as it is told. */
async function closedLoop(url: string, count: number, durationMs: number): Promise<Load> {
  const load: Load = { admittedMs: [], refusedMs: [], others: new Map(), perSecond: 0 }
  const startedMs = performance.now()
  const work = async () => {
    let client = await Client.open(url)
    for (let askedMs = performance.now(); askedMs < startedMs + durationMs; askedMs = performance.now()) {
      const status = await client.statusOf(page()).catch((error: Error) => error.message)
      const tookMs = performance.now() - askedMs
      if (status === 200) load.admittedMs.push(tookMs)
      else if (status === 503) load.refusedMs.push(tookMs)
      else load.others.set(`${status}`, (load.others.get(`${status}`) ?? 0) + 1)
      if (typeof status === 'number') continue
      client.close()
      client = await Client.open(url)
    }
    client.close()
  }
  await Promise.all(Array.from({ length: count }, work))
  load.perSecond = load.admittedMs.length / ((performance.now() - startedMs) / 1_000)
  return load
}

type Overload = Load & {
  arrivalP99Ms: number
  bytesBefore: number
  bytesMost: number
  open: Record<string, number>
  events: string
}

async function overloaded(): Promise<Overload> {
  const bytesBefore = residentBytes(almanac)
  let bytesMost = bytesBefore
  const watch = setInterval(() => {
    bytesMost = Math.max(bytesMost, residentBytes(almanac))
  }, 200)
  const standing = {
    idle: idleConnections(almanac.url, Number(options.idle)),
    slow: slowReaders(almanac.url, Number(options.slow), page),
    listeners: listeners(almanac.url, Number(options.listeners), key),
  }
  // All connections are opened meanwhile, and a burst is not refused: what this does to clients is reported apart.
  const arrival: number[] = []
  const arrivedMs = performance.now() + arrivalMsMax
  do {
    arrival.push(...(await closedLoop(almanac.url, overloadClients, arrivalMs)).admittedMs)
  } while ((standing.idle.statuses.get(200) ?? 0) < Number(options.idle) && performance.now() < arrivedMs)
  const load = await closedLoop(almanac.url, overloadClients, Number(options.seconds) * 1_000)
  clearInterval(watch)
  const open = Object.fromEntries(Object.entries(standing).map(([name, kind]) => [name, kind.open()]))
  const events = [...standing.listeners.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  for (const { close } of Object.values(standing)) close()
  return { ...load, arrivalP99Ms: percentile(arrival, 0.99), bytesBefore, bytesMost, open, events }
}

/** How long after the overload the usual clients are answered as usual again. */
async function recovered(normalP99Ms: number): Promise<number> {
  const startedMs = performance.now()
  while (performance.now() < startedMs + recoveryMsMax) {
    const beganMs = performance.now()
    const { admittedMs, refusedMs, others } = await closedLoop(almanac.url, clients, recoveryWindowMs)
    const isUsual = refusedMs.length === 0 && others.size === 0 && percentile(admittedMs, 0.99) <= 2 * normalP99Ms
    if (isUsual) return (beganMs - startedMs) / 1_000
  }
  return Number.POSITIVE_INFINITY
}

function report(normal: Load, overload: Overload, recoverySeconds: number): void {
  const p99 = (samples: readonly number[]) => rounded(percentile(samples, 0.99))
  const result = {
    date: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    pinned: pinning,
    seconds: Number(options.seconds),
    clients: { normal: clients, overload: overloadClients },
    open: overload.open,
    admittedPerSecond: { normal: Math.round(normal.perSecond), overload: Math.round(overload.perSecond) },
    p99Ms: {
      normal: p99(normal.admittedMs),
      arrival: rounded(overload.arrivalP99Ms),
      overload: p99(overload.admittedMs),
      refusals: p99(overload.refusedMs),
    },
    p50Ms: { normal: rounded(median(normal.admittedMs)), overload: rounded(median(overload.admittedMs)) },
    p99Ratio: rounded(percentile(overload.admittedMs, 0.99) / percentile(normal.admittedMs, 0.99)),
    refusals: overload.refusedMs.length,
    otherOutcomes: Object.fromEntries([...normal.others, ...overload.others]),
    events: overload.events,
    residentMegabytes: { before: megabytes(overload.bytesBefore), most: megabytes(overload.bytesMost) },
    grownMegabytes: megabytes(overload.bytesMost - overload.bytesBefore),
    recoverySeconds: rounded(recoverySeconds),
  }
  console.table({
    'resident memory grows by, MB': { measured: result.grownMegabytes, bound: 200 },
    'p99 of admitted requests, of normal': { measured: result.p99Ratio, bound: 5 },
    'normal again after, s': { measured: result.recoverySeconds, bound: 5 },
    'answers other than 200 and 503': { measured: overload.others.size, bound: 0 },
  })
  mkdirSync(join(here, 'results'), { recursive: true })
  const file = join(here, 'results', `overload-${result.date.replace(/\D/g, '').slice(0, 14)}.json`)
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
  console.log(`\n${JSON.stringify(result)}`)
}

function residentBytes({ processId }: RunningAlmanac): number {
  const text = readFileSync(`/proc/${processId}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(text)![1]) * 1_024
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000)
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
