// Sends hostile requests to a service in a process of its own and watches its memory:
//
//   npm run soak:requests -- --count 1000000 --seed 1
//
// Ends with exit code 1 where an answer was an error of the service other than 503, 505 and a documented 501, where the
// service stopped answering, or where its memory grew with the number of requests.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStore } from '../src/store/open.ts'
import { type OpenApi, sendHostile } from '../test/hostile-requests.ts'
import { startAlmanac } from '../test/running-almanac.ts'
import { seed as fill } from '../test/seed.ts'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    /** The same seed sends the same requests. */
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    connections: { type: 'string', default: '8' },
  },
})
const count = Number(options.count)
const seed = Number(options.seed)
/** Of a long run: in a short one the process still grows to its working size. */
const growthBytesMax = 64_000_000
const longRun = 100_000
const key = 'a-key-for-the-soak'

const folder = await mkdtemp(join(tmpdir(), 'almanac-requests-'))
const url = `file:${join(folder, 'store.db')}`
const store = await openStore(url, { role: 'owner' })
await fill(store)
await store.close()
const almanac = await startAlmanac({ store: url, key })
try {
  const document = (await (await fetch(`${almanac.url}/openapi.json`)).json()) as OpenApi
  const connections = Number(options.connections)
  const part = { url: almanac.url, key, document, connections }
  say(`seed ${seed}`)
  // Caches fill during the first quarter; afterwards memory may not grow with the number of requests.
  const first = await sendHostile({ ...part, count: Math.floor(count / 4), seed, onProgress: say })
  const before = residentBytes()
  const rest = await sendHostile({ ...part, count: count - Math.floor(count / 4), seed: seed + 1, onProgress: say })
  const grown = residentBytes() - before
  const answers = new Map(first.answers)
  for (const [status, times] of rest.answers) answers.set(status, (answers.get(status) ?? 0) + times)
  const failures = [...first.failures, ...rest.failures]
  const health = await fetch(`${almanac.url}/health`).then(answer => answer.status)
  say(`${count} requests, ${first.silent + rest.silent} without an answer; by status:`)
  for (const [status, times] of [...answers].sort(([a], [b]) => a - b)) say(`  ${status}: ${times}`)
  say(`memory: ${megabytes(before)} MB after a quarter, ${megabytes(before + grown)} MB at the end`)
  for (const failure of failures) say(`failed: ${failure}`)
  process.exitCode = failures.length > 0 || health !== 200 || (count >= longRun && grown > growthBytesMax) ? 1 : 0
} finally {
  await almanac.stop()
  await rm(folder, { recursive: true })
}

function say(line: string | number): void {
  process.stdout.write(`${line}\n`)
}

function residentBytes(): number {
  const text = readFileSync(`/proc/${almanac.processId}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(text)![1]) * 1_024
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000)
}
