// How long pages, counts and wallets take at the size of a real chain: warm against a small store of the same shape, from
// cold, and while another process writes and merges. The store stays where `--store` names a file: making one of 20
// million takes minutes. Each run then adds to it what it writes meanwhile.
// Run: npm run bench:scale -- --transfers 20000000 --wallets 40000000 --touches 2 --memory 1024 [--store file]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { boundMemory } from './memory-bound.ts'
import {
  type Ask,
  asksOfCounts,
  asksOfPages,
  asksOfWallets,
  type ColdReads,
  forget,
  fullPages,
  type Order,
  round,
  type Times,
  timeCold,
  timeOf,
  timesOf,
  timeWarm,
} from './scale-reads.ts'
import { inSmall, type Place, type ScaleStore, scaleStore } from './scale-store.ts'
import { type Shape, shapeOf } from './shape.ts'

const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: 'ethereum' },
    transfers: { type: 'string', default: '2000000' },
    wallets: { type: 'string' },
    touches: { type: 'string' },
    memory: { type: 'string' },
    store: { type: 'string' },
    /** How many transfers are written while pages are read. */
    meanwhile: { type: 'string', default: '600000' },
  },
})
const smallTransfers = 100_000
const orders: Order[] = ['desc', 'asc']
const draws: { name: string; places: (store: ScaleStore) => Place[] }[] = [
  { name: 'by row', places: ({ byRow }) => byRow },
  { name: 'by contract', places: ({ byContract }) => byContract },
]

async function coldRows(large: ScaleStore): Promise<({ from: string } & ColdReads)[]> {
  const rows = []
  for (const { name, places } of draws)
    for (const order of orders)
      rows.push({ from: `page ${name}, ${order}`, ...(await timeCold(large.file, asksOfPages(places(large), order))) })
  rows.push({ from: 'wallet', ...(await timeCold(large.file, asksOfWallets(large))) })
  return rows
}

/** As served: the store has just been opened, and nothing of it is in memory. */
async function firstPageMs({ file, byRow }: ScaleStore): Promise<Times> {
  const times: number[] = []
  for (const ask of asksOfPages(byRow.slice(0, 20), 'desc')) {
    forget(file)
    const store = await openStore(`file:${file}`, { role: 'reader' })
    times.push(await timeOf(store, ask))
    await store.close()
  }
  return timesOf(times)
}

type WarmRow = { case: string; small?: number; large: number; ratio?: number; p99: number }

async function warmRows(small: ScaleStore, large: ScaleStore, stores: { small: Store; large: Store }) {
  const rows: WarmRow[] = []
  const compare = async (name: string, asks: { small: readonly Ask[]; large: readonly Ask[] }): Promise<void> => {
    const subjects = [
      { store: stores.small, asks: asks.small },
      { store: stores.large, asks: asks.large },
    ]
    const [before, after] = (await timeWarm(subjects)) as [Times, Times]
    const ratio = round(after.p50 / before.p50)
    rows.push({ case: name, small: before.p50, large: after.p50, ratio, p99: after.p99 })
  }
  for (const { name, places } of draws)
    for (const order of orders) {
      const full = {
        small: asksOfPages(await fullPages(stores.small, places(small), order), order),
        large: asksOfPages(await fullPages(stores.large, places(large), order), order),
      }
      const counted = `${full.small.length} and ${full.large.length}`
      if (full.small.length > 0 && full.large.length > 0)
        await compare(`full page ${name}, ${order} (${counted})`, full)
      const all = { small: asksOfPages(places(small), order), large: asksOfPages(places(large), order) }
      await compare(`any page ${name}, ${order}`, all)
    }
  await compare('count', { small: asksOfCounts(small.byRow), large: asksOfCounts(large.byRow) })
  await compare('wallet', { small: asksOfWallets(small), large: asksOfWallets(large) })
  return rows
}

/** Pages and wallets by turns, at rest and then while a process writes as fast as it can. */
async function whileMerging(large: ScaleStore, store: Store, shape: Shape) {
  const asks = { page: asksOfPages(large.byRow, 'desc'), wallet: asksOfWallets(large) }
  const atRest = await readOn(store, asks, samples => samples >= 4 * large.byRow.length)
  const { file, from } = large
  const job = { file, from, transfers: Number(values.meanwhile), shape }
  const writer = fork(join(import.meta.dirname, 'scale-writer.ts'), [JSON.stringify(job)])
  let isDone = false
  const ended = once(writer, 'exit').then(([code]) => {
    isDone = true
    if (code !== 0) throw new Error(`The writer ended with ${code}.`)
  })
  const during = await readOn(store, asks, () => isDone)
  await ended
  return (['page', 'wallet'] as const).map(of => ({
    of,
    samples: during[of].length,
    atRest: timesOf(atRest[of]),
    during: timesOf(during[of]),
    ratioOfP99: round(timesOf(during[of]).p99 / timesOf(atRest[of]).p99),
  }))
}

type Readings = { page: number[]; wallet: number[] }

async function readOn(store: Store, asks: Record<keyof Readings, Ask[]>, isDone: (samples: number) => boolean) {
  const times: Readings = { page: [], wallet: [] }
  for (let at = 0; !isDone(at); at++) {
    for (const kind of ['page', 'wallet'] as const)
      times[kind].push((await timeOf(store, asks[kind][at % asks[kind].length]!)) * 1000)
    // Lets the writer's end be heard.
    if (at % 20 === 0) await new Promise(setImmediate)
  }
  return times
}

const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
try {
  console.log(values.memory === undefined ? 'memory is not bounded' : boundMemory(Number(values.memory)))
  const shape = shapeOf(values)
  const transfers = Number(values.transfers)
  const small = await scaleStore(
    join(directory, 'small.db'),
    smallTransfers,
    inSmall(shape, smallTransfers / transfers),
  )
  const large = await scaleStore(values.store ?? join(directory, 'large.db'), transfers, shape)
  const cold = await coldRows(large)
  const firstMs = await firstPageMs(large)
  const stores = {
    small: await openStore(`file:${small.file}`, { role: 'reader' }),
    large: await openStore(`file:${large.file}`, { role: 'reader' }),
  }
  console.log(`pages read from cold (bound 40), and the time; first page of a store just opened: ${firstMs.p50} ms`)
  console.table(cold.map(({ from, reads, p50Ms, p99Ms }) => ({ from, p50: reads.p50, p99: reads.p99, p50Ms, p99Ms })))
  const warm = await warmRows(small, large, stores)
  console.log(`warm, µs: ${smallTransfers} transfers against ${large.transfers}, bound 1.5; a wallet at most 1,000`)
  console.table(warm)
  const merging = await whileMerging(large, stores.large, shape)
  console.log('while another process writes and merges, µs; bound of p99: 3')
  console.table(
    merging.map(({ of, samples, atRest, during, ratioOfP99 }) => ({
      of,
      samples,
      'p50 at rest': atRest.p50,
      'p99 at rest': atRest.p99,
      'p50 during': during.p50,
      'p99 during': during.p99,
      ratioOfP99,
    })),
  )
  await stores.small.close()
  await stores.large.close()
  const shown = { transfers: large.transfers, wallets: large.wallets, shape: values.shape, memory: values.memory }
  console.log(JSON.stringify({ benchmark: 'store-scale', ...shown, cold, firstMs, warm, merging }))
} finally {
  rmSync(directory, { recursive: true })
}
