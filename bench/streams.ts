// Whole lists over HTTP: how fast one is sent and in how much memory and, with `--slow-readers`, what readers that take a
// chunk a second cost while blocks are indexed: the write-ahead log, and pages beside them. The server is a process of
// its own. The store stays where `--store` names a file.
// Run: npm run bench:streams -- [--tokens 1000000] [--list owners] [--slow-readers 20 --minutes 10] [--store file]
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Address, Block, ChainId, Hash, TransferRow } from '../src/model.ts'
import { zeroAddress } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from '../test/pack-transfer.ts'
import { serveApi } from '../test/served-api.ts'
import { slowReaders } from './bystanders.ts'
import { Client, requestBytes } from './load.ts'
import { digest } from './made-contracts.ts'
import { walletAddress } from './made-rows.ts'
import { median, percentile } from './statistics.ts'

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '1000000' },
    list: { type: 'string', default: 'owners' },
    'slow-readers': { type: 'string', default: '0' },
    minutes: { type: 'string', default: '10' },
    store: { type: 'string' },
    serve: { type: 'string' },
  },
})
const bars = { rowsPerSecond: 150_000, rssMb: 300, slowerPages: 2 }
const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const tokens = Number(values.tokens)
const tokensPerBlock = 100
const head = Math.ceil(tokens / tokensPerBlock)
const checkpoint = 'bench:streams'
const indexedEveryMs = 1_000
const indexedRows = 500

function blockAt(number: number): Block {
  return {
    number,
    hash: `0x${digest(`block ${number}`).toString('hex')}` as Hash,
    timestamp: 1_438_269_973 + number * 12,
  }
}

/** Of a block: ids that follow those of the block before, each to a wallet of its own. */
function rowsOf(block: number, count: number): TransferRow[] {
  return Array.from({ length: count }, (_, at) => {
    const id = block * tokensPerBlock + at
    const transactionHash = `0x${id.toString(16).padStart(64, '0')}` as Hash
    const payload = packTransfer({
      ...{ standard: 'ERC721', batch: false, operator: undefined, value: 0n, amount: 1n, idCount: 1 },
      ...{ from: zeroAddress, to: walletAddress(id + 1), tokenId: BigInt(id), transactionHash },
    })
    return { contract, block, transactionIndex: at, logIndex: at, batchIndex: 0, payload }
  })
}

async function fill(store: Store): Promise<void> {
  if ((await store.checkpoint(checkpoint)) === `${tokens}`) return
  const blocksPerCommit = 200
  for (let from = 0; from < head; from += blocksPerCommit) {
    const to = Math.min(head, from + blocksPerCommit) - 1
    const blocks = Array.from({ length: to - from + 1 }, (_, at) => blockAt(from + at))
    await store.commitCold({
      ...{
        chain,
        blocks,
        activity: noActivity,
        transfers: blocks.flatMap(({ number }) => rowsOf(number, tokensPerBlock)),
      },
      ...{
        covered: [{ scope: 'full', from, to, evidence: 'receipts-root' }],
        ranges: [{ from, to, hash: blocks.at(-1)!.hash }],
      },
    })
  }
  await store.putChainState(chain, { head: blockAt(head - 1) })
  await store.putCheckpoint(checkpoint, `${tokens}`)
}

/** The server: tells where it is and how much memory it takes, and indexes a block a second once it is told to. */
async function serve(file: string): Promise<void> {
  const store = await openStore(`file:${file}`, { role: 'owner' })
  const api = await serveApi({ store })
  let rssMax = 0
  setInterval(() => {
    rssMax = Math.max(rssMax, process.memoryUsage().rss)
  }, 100)
  const index = async () => {
    for (let number = (await store.chainState(chain))!.head.number + 1; ; number++) {
      const block = { ...blockAt(number), transfers: rowsOf(number, indexedRows), activity: noActivity }
      const covered = { scope: 'full', from: number, evidence: 'receipts-root' } as const
      await store.commitHot({ chain, ancestor: number - 1, blocks: [block], covered, head: blockAt(number) })
      if (number % 8 === 0) await store.putChainState(chain, { finalized: number - 8 })
      await delay(indexedEveryMs)
    }
  }
  process.on('message', message => {
    if (message === 'index') void index()
    else process.send!({ rssMax, cpuMs: cpuMs() })
  })
  process.send!({ url: api.url, key: api.key, rss: process.memoryUsage().rss })
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

type Streamed = { rows: number; seconds: number; firstMs: number; bytes: number; isWhole: boolean }

function stream(url: string, key: string, path: string): Promise<Streamed> {
  const startedAt = performance.now()
  const headers = { accept: 'text/csv', 'x-api-key': key }
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { headers }, response => {
      const firstMs = performance.now() - startedAt
      let [bytes, lines, last] = [0, 0, '']
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++
        last = chunk.toString('latin1', Math.max(0, chunk.length - 100))
      })
      response.on('end', () => {
        const isWhole = last.includes(`# complete rows=${lines - 2} `)
        resolve({ rows: lines - 2, seconds: (performance.now() - startedAt) / 1_000, firstMs, bytes, isWhole })
      })
      response.on('error', reject)
    }).on('error', reject)
  })
}

/** Pages that differ, so that none is a kept one. */
async function pages(url: string, key: string, seconds: number): Promise<{ p50: number; p99: number }> {
  const client = await Client.open(url)
  const times: number[] = []
  for (const endAt = performance.now() + seconds * 1_000; performance.now() < endAt; await delay(5)) {
    const path = `/api/v2/nft/${contract}/transfers?to_block=${Math.floor(Math.random() * head)}`
    const startedAt = performance.now()
    await client.count(requestBytes(path, { 'x-api-key': key }))
    times.push(performance.now() - startedAt)
  }
  client.close()
  return { p50: round(median(times)), p99: round(percentile(times, 0.99)) }
}

function round(value: number): number {
  return Number(value.toFixed(2))
}

function heard<Message>(child: ChildProcess): Promise<Message> {
  return new Promise(resolve => child.once('message', message => resolve(message as Message)))
}

async function measure(file: string): Promise<void> {
  const child = fork(new URL(import.meta.url), ['--serve', file, '--tokens', values.tokens])
  try {
    const { url, key, rss } = await heard<{ url: string; key: string; rss: number }>(child)
    const path = `/api/v2.2/nft/${contract}/${values.list}`
    const mb = (bytes: number) => Math.round(bytes / 2 ** 20)
    const asked = (): Promise<{ rssMax: number; cpuMs: number }> => {
      const answer = heard<{ rssMax: number; cpuMs: number }>(child)
      child.send('used')
      return answer
    }
    for (const name of ['first', 'again']) {
      const before = await asked()
      const { rows, seconds, firstMs, bytes, isWhole } = await stream(url, key, path)
      const cpuSeconds = ((await asked()).cpuMs - before.cpuMs) / 1_000
      console.log(
        `${name}: ${rows} rows, ${mb(bytes)} MB in ${round(seconds)} s, first byte after ${Math.round(firstMs)} ms, whole: ${isWhole}: ` +
          `${Math.round(rows / seconds)} rows/s (bar ${bars.rowsPerSecond}), ${Math.round(rows / cpuSeconds)} in a second of the processor`,
      )
    }
    console.log(`memory: ${mb((await asked()).rssMax)} MB at most (bar ${bars.rssMb}), ${mb(rss)} MB before`)
    const readers = Number(values['slow-readers'])
    if (readers === 0) return
    const seconds = Number(values.minutes) * 60
    const atRest = await pages(url, key, Math.min(30, seconds))
    child.send('index')
    const indexing = await pages(url, key, Math.min(30, seconds))
    const request = requestBytes(path, { accept: 'text/csv', 'x-api-key': key })
    const slow = slowReaders(url, readers, () => request, { pages: 1 })
    let logBytes = 0
    const watch = setInterval(() => {
      logBytes = Math.max(logBytes, statSync(`${file}-wal`).size)
    }, 200)
    // Until the system takes no more for any of them, the streams go as fast as they are made.
    const starting = await pages(url, key, Math.min(30, seconds))
    const beside = await pages(url, key, seconds)
    clearInterval(watch)
    console.table({
      'at rest': atRest,
      'while indexing': indexing,
      'while they start': starting,
      'beside slow readers': beside,
    })
    console.log(
      `readers: ${slow.open()} open, answers ${JSON.stringify([...slow.statuses])}; write-ahead log: ${mb(logBytes)} MB at most`,
    )
    console.log(
      JSON.stringify({
        benchmark: 'streams',
        bars,
        tokens,
        readers,
        seconds,
        atRest,
        indexing,
        starting,
        beside,
        logBytes,
      }),
    )
    slow.close()
  } finally {
    child.kill()
  }
}

if (values.serve !== undefined) await serve(values.serve)
else {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
  const file = values.store ?? join(folder, 'streams.db')
  try {
    const store = await openStore(`file:${file}`, { role: 'owner' })
    await fill(store)
    await store.close()
    await measure(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
