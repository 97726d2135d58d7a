// Measures what labels cost: importing a list of a million by command, and pages over HTTP with labels and flags against the same pages
// without, in one run. Run: npm run bench:labels [-- --labels 1000000 --transfers 1000000 --postgres]
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadPack } from '../src/annotate/pack.ts'
import { type Address, type ChainId, zeroAddress } from '../src/model.ts'
import { findLabels } from '../src/query/find-labels.ts'
import { emptyBase, prefixCount } from '../src/query/label-base.ts'
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
    /** Processes of one kind differ by a tenth for as long as they live, so several of each are compared. */
    passes: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '2' },
    /** Imports into PostgreSQL too. */
    postgres: { type: 'boolean', default: false },
  },
})
const labelCount = Number(options.labels)
const chain = 1 as ChainId
/** What the pages show of the labels; one in so many of their addresses has one. Every third transfer is a mint. */
const cases = {
  'none shown': { oneIn: undefined, pack: false },
  'zero address and rare ones': { oneIn: 20, pack: true },
  'ten rare ones': { oneIn: 17, pack: false },
  'forty rare ones': { oneIn: 4, pack: false },
} as const
const labelsPerCommit = 20_000
const connections = 8
const warmUpMs = 5_000
const here = fileURLToPath(new URL('.', import.meta.url))
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

const pinning = availableParallelism() > 1 && existsSync('/usr/bin/taskset')
const runner = pinning ? ['taskset', '-c', '0'] : []

const scratch = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const stops: (() => Promise<void>)[] = []
try {
  const plain = await filledStore(join(here, 'data'), Number(options.transfers))
  const list = join(scratch, 'labels.csv')
  await writeList(list)
  const labelled = { ...plain, file: join(scratch, 'labelled.db') }
  copyFileSync(plain.file, labelled.file)
  const imports = { sqlite: importTimed(list, `file:${labelled.file}`) }
  if (options.postgres) {
    const server = await startPostgres({ fsync: 'on', full_page_writes: 'on' })
    stops.push(() => server.stop())
    Object.assign(imports, { postgres: importTimed(list, await server.createDatabase()) })
  }
  console.table(
    Object.fromEntries(
      Object.entries(imports).map(([engine, { seconds, maxRssMegabytes }]) => [
        `${labelCount} labels into ${engine}`,
        { seconds, 'labels/s': Math.round(labelCount / seconds), 'memory MB': maxRssMegabytes, target: '<= 30 s' },
      ]),
    ),
  )
  const shown = await shownAddresses(plain)
  const stores: Record<string, FilledStore> = { without: plain }
  for (const [name, { oneIn, pack }] of Object.entries(cases)) {
    const filled = { ...plain, file: join(scratch, `${name}.db`) }
    copyFileSync(labelled.file, filled.file)
    await annotate(filled, { pack, addresses: oneIn === undefined ? [] : shown.filter((_, n) => n % oneIn === 0) })
    stores[name] = filled
  }
  const lookUpMicros = await lookUps(stores['forty rare ones']!, shown)
  const pages = await comparePages(stores)
  console.log(`A label that no page has shown since the last change is looked up in ${lookUpMicros.toFixed(1)} µs.`)
  console.log(JSON.stringify({ benchmark: 'labels', labels: labelCount, imports, lookUpMicros, pages }))
} finally {
  for (const stop of stops.reverse()) await stop()
  rmSync(scratch, { recursive: true, force: true })
}

/** A list of addresses that no page shows. */
async function writeList(path: string): Promise<void> {
  const out = createWriteStream(path)
  out.write('address,label,chain\n')
  for (let index = 0; index < labelCount; index++) {
    const address = `0x${createHash('sha1').update(`label ${index}`).digest('hex')}`
    if (!out.write(`${address},"Wallet ""${index}"" of a list",eth\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

/** The addresses of the newest pages of each contract, each once, without the zero address. */
async function shownAddresses({ file, contracts }: FilledStore): Promise<Address[]> {
  const shown = new Set<Address>()
  const nothingRead = { base: emptyBase, changed: new Uint8Array(prefixCount).fill(1) }
  const store = await openStore(`file:${file}`, { role: 'reader' })
  for (const contract of contracts) {
    const page = await store.transferPage({ chain, contract, order: 'desc', limit: 1_000 })
    for (const address of findLabels(page, chain, nothingRead).unknown.keys()) shown.add(address)
  }
  await store.close()
  shown.delete(zeroAddress)
  return [...shown]
}

/** µs for each address of forty that are asked for together. */
async function lookUps({ file }: FilledStore, shown: readonly Address[]): Promise<number> {
  const [rounds, together] = [500, 40]
  const store = await openStore(`file:${file}`, { role: 'reader' })
  const oneIn = cases['forty rare ones'].oneIn
  const labelled = shown.filter((_, n) => n % oneIn === 0)
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    // Spread over the table, as the parties of a page are.
    const addresses = Array.from({ length: together }, (_, n) => labelled[(round * together + n) % labelled.length]!)
    const startedAt = performance.now()
    await store.labelsOf(chain, addresses)
    times.push(((performance.now() - startedAt) * 1_000) / together)
  }
  await store.close()
  return median(times)
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

/** Flags for every contract, labels for the addresses, and the pack with its label for the zero address of every mint. */
async function annotate(
  { file, contracts }: FilledStore,
  { addresses, pack }: { addresses: readonly Address[]; pack: boolean },
): Promise<void> {
  const store = await openStore(`file:${file}`, { role: 'owner' })
  const said = { chain, source: 'bench', rank: 'imported' as const, updatedAt: 1 }
  if (pack) await loadPack(store)
  await store.annotate({
    marks: contracts.map((contract, index) => ({
      ...said,
      contract,
      verified: index % 2 === 0,
      spam: index % 3 === 0,
    })),
  })
  for (let at = 0; at < addresses.length; at += labelsPerCommit)
    await store.annotate({
      labels: addresses
        .slice(at, at + labelsPerCommit)
        .map((address, index) => ({ ...said, address, label: `Shown "${at + index}" of a list` })),
    })
  await store.close()
}

type Measured = { labels: number; rates: number[]; cpu: number[] }

async function comparePages(stores: Record<string, FilledStore>) {
  if (pinning) execFileSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)], { stdio: 'ignore' })
  const passes: Record<string, Measured>[] = []
  for (let pass = 1; pass <= Number(options.passes); pass++) {
    passes.push(await measureOnce(stores))
    process.stderr.write(`pass ${pass} of ${options.passes}\n`)
  }
  const of = (name: string) => passes.map(measured => measured[name]!)
  /** Of each pass the median of its rounds, which are a moment apart; then that of the passes. */
  const ratio = (name: string, which: 'rates' | 'cpu') =>
    passes.map(({ [name]: these, without: those }) =>
      median(these![which].map((value, round) => value / those![which][round]!)),
    )
  const result = Object.fromEntries(
    Object.keys(stores).map(name => {
      const cpuRatios = ratio(name, 'cpu')
      return [
        name,
        {
          'labels a page': of(name)[0]!.labels,
          'pages/s': Math.round(median(of(name).flatMap(({ rates }) => rates))),
          'ratio (>= 0.95)': Number(median(ratio(name, 'rates')).toFixed(3)),
          'cpu µs a page': Math.round(median(of(name).flatMap(({ cpu }) => cpu))),
          'ratio (<= 1.08)': Number(median(cpuRatios).toFixed(3)),
          'of the passes': cpuRatios.map(value => value.toFixed(2)).join(' '),
        },
      ]
    }),
  )
  console.table(result)
  return result
}

/** A new process for each kind of page, then rounds in which each takes its turn. */
async function measureOnce(stores: Record<string, FilledStore>): Promise<Record<string, Measured>> {
  const stopsBefore = stops.length
  const measured: Record<string, Measured & { almanac: RunningAlmanac; request: () => Buffer }> = {}
  for (const [name, filled] of Object.entries(stores)) {
    const almanac = await started(filled)
    const request = distinctPages(filled)
    measured[name] = { almanac, request, labels: await labelsOf(almanac.url, request), rates: [], cpu: [] }
    await rests(almanac.processId)
  }
  for (let round = -1; round < Number(options.rounds); round++)
    for (const { almanac, request, rates, cpu } of Object.values(measured)) {
      const { url, processId } = almanac
      const before = cpuSecondsOf(processId)
      const durationMs = round === -1 ? warmUpMs : Number(options.seconds) * 1_000
      const { perSecond, answers } = await runLoad({ url, request, connections, durationMs })
      if (round === -1) continue
      rates.push(perSecond)
      cpu.push(((cpuSecondsOf(processId) - before) / answers) * 1e6)
    }
  while (stops.length > stopsBefore) await stops.pop()!()
  return measured
}

async function started({ file }: FilledStore): Promise<RunningAlmanac> {
  const almanac = await startAlmanac({ store: `file:${file}`, key, runner })
  stops.push(almanac.stop)
  return almanac
}

/** The first page makes a service read all labels, once and in the background: the pages after that are what is compared. */
async function rests(processId: number): Promise<void> {
  for (let before = -1, now = cpuSecondsOf(processId); now - before > 0.02; now = cpuSecondsOf(processId)) {
    before = now
    await delay(500)
  }
}

/** On average over some pages. */
async function labelsOf(url: string, request: () => Buffer): Promise<number> {
  const pages = 400
  const client = await Client.open(url)
  let found = 0
  for (let page = 0; page < pages; page++)
    found += (await client.get(request())).body.toString().match(/_address_label":"/g)?.length ?? 0
  client.close()
  return Math.round(found / pages)
}
