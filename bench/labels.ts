// What labels cost: importing a list of a million by command, and pages over HTTP with labels and flags against the same pages
// without, in one run. Run: npm run bench:labels [-- --labels 1000000 --transfers 1000000 --postgres]
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadPack } from '../src/annotate/pack.ts'
import type { Address, ChainId } from '../src/model.ts'
import { labelledParties } from '../src/query/page-labels.ts'
import { openStore } from '../src/store/open.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { type RunningAlmanac, startAlmanac } from '../test/running-almanac.ts'
import { cpuSecondsOf } from './cpu-time.ts'
import { Client, runLoad } from './load.ts'
import { distinctPages, key } from './page-requests.ts'
import { type FilledStore, filledStore } from './serve-store.ts'
import { median } from './statistics.ts'

const { values: options } = parseArgs({
  options: {
    labels: { type: 'string', default: '1000000' },
    transfers: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    /** Imports into PostgreSQL too. */
    postgres: { type: 'boolean', default: false },
  },
})
const labelCount = Number(options.labels)
const chain = 1 as ChainId
/** One address in twenty of those that the pages show has a label. */
const labelledShare = 20
const connections = 8
const warmUpMs = 3_000
const here = fileURLToPath(new URL('.', import.meta.url))
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

const pinning = availableParallelism() > 1 && existsSync('/usr/bin/taskset')
const runner = pinning ? ['taskset', '-c', '0'] : []

const scratch = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const stops: (() => Promise<void>)[] = []
try {
  const plain = await filledStore(join(here, 'data'), Number(options.transfers))
  const list = join(scratch, 'labels.csv')
  const used = await writeList(plain, list)
  const labelled = { ...plain, file: join(scratch, 'labelled.db') }
  copyFileSync(plain.file, labelled.file)
  const imports = { sqlite: importTimed(list, `file:${labelled.file}`) }
  if (options.postgres) {
    const server = await startPostgres({ fsync: 'on', full_page_writes: 'on' })
    stops.push(() => server.stop())
    Object.assign(imports, { postgres: importTimed(list, await server.createDatabase()) })
  }
  await annotate(labelled)
  console.table(
    Object.fromEntries(
      Object.entries(imports).map(([engine, { seconds, maxRssMegabytes }]) => [
        `${labelCount} labels into ${engine}`,
        { seconds, 'labels/s': Math.round(labelCount / seconds), 'memory MB': maxRssMegabytes, target: '<= 30 s' },
      ]),
    ),
  )
  const pages = await comparePages(plain, labelled)
  console.log(JSON.stringify({ benchmark: 'labels', labels: labelCount, labelledOnPages: used, imports, pages }))
} finally {
  for (const stop of stops.reverse()) await stop()
  rmSync(scratch, { recursive: true, force: true })
}

/** A list with one in twenty of the addresses that the pages show, and others up to the count. Returns how many are shown. */
async function writeList(filled: FilledStore, path: string): Promise<number> {
  const shown = new Set<Address>()
  const store = await openStore(`file:${filled.file}`, { role: 'reader' })
  for (const contract of filled.contracts) {
    const page = await store.transferPage({ chain, contract, order: 'desc', limit: 1_000 })
    for (const address of labelledParties(page, undefined)?.addresses ?? []) shown.add(address)
  }
  await store.close()
  const used = [...shown].filter((_, index) => index % labelledShare === 0)
  const out = createWriteStream(path)
  out.write('address,label,chain\n')
  for (let index = 0; index < labelCount; index++) {
    const address = used[index] ?? `0x${createHash('sha1').update(`label ${index}`).digest('hex')}`
    if (!out.write(`${address},"Wallet ""${index}"" of a list",eth\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return used.length
}

function importTimed(list: string, store: string): { seconds: number; maxRssMegabytes: number } {
  const script = `process.on('exit', () => process.stdout.write('\\n' + process.resourceUsage().maxRSS))`
  const startedAt = performance.now()
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(script)}`,
      main,
      'labels',
      'import',
      list,
      '--store',
      store,
    ],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  const seconds = Math.round((performance.now() - startedAt) / 10) / 100
  return { seconds, maxRssMegabytes: Math.round(Number(stdout.trim().split('\n').at(-1)) / 1024) }
}

/** The pack, with a label for the zero address of every mint, and flags for every contract. */
async function annotate({ file, contracts }: FilledStore): Promise<void> {
  const store = await openStore(`file:${file}`, { role: 'owner' })
  await loadPack(store)
  await store.putMarks(
    contracts.map((contract, index) => ({
      ...{ chain, contract, source: 'bench', rank: 'imported' as const, updatedAt: 1 },
      ...{ verified: index % 2 === 0, spam: index % 3 === 0 },
    })),
  )
  await store.close()
}

async function comparePages(plain: FilledStore, labelled: FilledStore) {
  if (pinning) execFileSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)], { stdio: 'ignore' })
  const servers = { without: await started(plain), with: await started(labelled) }
  const requests = { without: distinctPages(plain), with: distinctPages(labelled) }
  const labelsOnPage = await labelsOf(servers.with, requests.with())
  const rates = { without: [] as number[], with: [] as number[] }
  const cpu = { without: [] as number[], with: [] as number[] }
  for (let round = -1; round < Number(options.rounds); round++)
    for (const name of ['without', 'with'] as const) {
      const { url, processId } = servers[name]
      const before = cpuSecondsOf(processId)
      const durationMs = round === -1 ? warmUpMs : Number(options.seconds) * 1_000
      const { perSecond, answers } = await runLoad({ url, request: requests[name], connections, durationMs })
      if (round === -1) continue
      rates[name].push(perSecond)
      cpu[name].push(((cpuSecondsOf(processId) - before) / answers) * 1e6)
    }
  const ratio = (of: typeof rates) => median(of.with.map((value, round) => value / of.without[round]!))
  const result = {
    labelsOnPage,
    perSecond: { without: Math.round(median(rates.without)), with: Math.round(median(rates.with)) },
    cpuMicros: { without: Math.round(median(cpu.without)), with: Math.round(median(cpu.with)) },
    rateRatio: ratio(rates),
    cpuRatio: ratio(cpu),
  }
  console.table([
    { case: 'distinct pages/s', ...result.perSecond, ratio: result.rateRatio.toFixed(3), target: '>= 0.95' },
    { case: 'cpu µs a page', ...result.cpuMicros, ratio: result.cpuRatio.toFixed(3), target: '<= 1.05' },
  ])
  return result
}

async function started({ file }: FilledStore): Promise<RunningAlmanac> {
  const almanac = await startAlmanac({ storeFile: file, key, runner })
  stops.push(almanac.stop)
  return almanac
}

async function labelsOf({ url }: RunningAlmanac, request: Buffer): Promise<number> {
  const client = await Client.open(url)
  const { body } = await client.get(request)
  client.close()
  const found = body.toString().match(/_address_label":"/g)?.length ?? 0
  if (found === 0) throw new Error('The pages show no label.')
  return found
}
