// What one page, one count and one wallet take: warm, from cold, and while another process writes and merges.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Connection } from '../src/store/sqlite/connection.ts'
import { readOptions, writeOptions } from '../src/store/sqlite/open-file.ts'
import { sqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store, TransferPageQuery } from '../src/store/store.ts'
import { walletAddress } from './made-rows.ts'
import { Random } from './random.ts'
import { type Place, type ScaleStore, scaleChain } from './scale-store.ts'
import { median, percentile } from './statistics.ts'

const pageRows = 100
const pageBytes = 4_096
const coldSamples = 200
/** In short turns, so that both stores meet the same moments of the machine. */
const turn = 50

export type Order = TransferPageQuery['order']
export type Ask = (store: Store) => Promise<unknown>
export type Times = { p50: number; p99: number }

export function pageQuery({ contract, after }: Place, order: Order): TransferPageQuery {
  return { chain: scaleChain, contract, after, order, limit: pageRows }
}

export function asksOfPages(places: readonly Place[], order: Order): Ask[] {
  return places.map(place => store => store.transferPage(pageQuery(place, order)))
}

/** Of a whole contract, and from the place to the newest block by turns. */
export function asksOfCounts(places: readonly Place[]): Ask[] {
  return places.map(({ contract, after }, at) => {
    const range =
      at % 2 === 0 ? { chain: scaleChain, contract } : { chain: scaleChain, contract, fromBlock: after.block }
    return store => store.transferCount(range)
  })
}

/** Some of them have no transaction. */
export function asksOfWallets({ wallets, byRow }: ScaleStore): Ask[] {
  const random = new Random(wallets)
  return byRow.map(() => {
    const address = walletAddress(random.below(wallets))
    return store => store.activityOf(address)
  })
}

/** Those of which a page is full, so that pages of both stores are of one length. */
export async function fullPages(store: Store, places: readonly Place[], order: Order): Promise<Place[]> {
  const full: Place[] = []
  for (const place of places)
    if ((await store.transferPage(pageQuery(place, order))).length === pageRows) full.push(place)
  return full
}

export type Subject = { store: Store; asks: readonly Ask[] }

/** Microseconds. The first round warms up. */
export async function timeWarm(subjects: readonly Subject[], rounds = 4): Promise<Times[]> {
  const times: number[][] = subjects.map(() => [])
  const most = Math.max(...subjects.map(({ asks }) => asks.length))
  for (let round = 0; round <= rounds; round++)
    for (let done = 0; done < most; done += turn)
      for (const [index, { store, asks }] of subjects.entries())
        for (let at = done; at < done + turn; at++) {
          const lastedMs = await timeOf(store, asks[at % asks.length]!)
          if (round > 0) times[index]!.push(lastedMs * 1000)
        }
  return times.map(timesOf)
}

export async function timeOf(store: Store, ask: Ask): Promise<number> {
  const startedAt = performance.now()
  await ask(store)
  return performance.now() - startedAt
}

export function timesOf(samples: readonly number[]): Times {
  return { p50: Math.round(median(samples)), p99: Math.round(percentile(samples, 0.99)) }
}

export type ColdReads = { reads: Times; p50Ms: number; p99Ms: number }

/**
 * Nothing of the file is in memory, but the process knows its runs. Without a mapping each page that SQLite reads is one
 * read of the process, so that the system counts them exactly.
 */
export async function timeCold(file: string, asks: readonly Ask[]): Promise<ColdReads> {
  const read = new Connection(file, readOptions)
  const openWrite = (): Connection => new Connection(file, writeOptions)
  const store = sqliteStore({ path: file, read, openWrite, waitMsMax: 1_000, ownership: undefined })
  const samples = asks.slice(0, coldSamples)
  for (const ask of samples.slice(0, 20)) await ask(store)
  const reads: number[] = []
  const times: number[] = []
  for (const ask of samples) {
    read.database.exec('PRAGMA shrink_memory')
    forget(file)
    const before = bytesRead()
    times.push(await timeOf(store, ask))
    reads.push(Math.floor((bytesRead() - before) / pageBytes))
  }
  await store.close()
  return { reads: timesOf(reads), p50Ms: round(median(times)), p99Ms: round(percentile(times, 0.99)) }
}

/** Lets the system drop what it keeps of the file; nobody may have it mapped. */
export function forget(file: string): void {
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
}

/** By this process, from its beginning, whether from the disk or from memory. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

export function round(ms: number): number {
  return Number(ms.toFixed(2))
}
