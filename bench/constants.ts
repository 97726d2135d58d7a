// Measures the constants of `src/tools/plan/measured-costs.ts`: what rows take on the disk, what blocks are as JSON, and how
// much of it is indexed in a second. Run: npm run bench:constants [-- --store postgres://…] [--blocks 1000] [--transfers 500000]
// Making the answers of the simulated node takes some minutes the first time; a database must be empty.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { unpackActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { answersOf } from '../test/history-blocks.ts'
import { writeEre } from '../test/history-writer.ts'
import { mainnetBlocks } from '../test/recordings.ts'
import { call, quantity } from './evm-floor.ts'
import { startShapedNode } from './evm-node.ts'
import { generateTransfers } from './generate.ts'
import { runIndexJob } from './run-index-job.ts'
import { type Shape, shapes } from './shape.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    blocks: { type: 'string', default: '1000' },
    transfers: { type: 'string', default: '500000' },
  },
})
const blocks = Number(values.blocks)
const transfers = Number(values.transfers)
const directory = mkdtempSync(join(tmpdir(), 'almanac-constants-'))
let stores = 0

/** A file of its own, or the given database under another chain: what a step adds is measured. */
function nextStore(): { url: string; chain: ChainId } {
  stores++
  return { url: values.store ?? `file:${join(directory, `${stores}.db`)}`, chain: (1_000_000 + stores) as ChainId }
}

type Filled = { bytes: number; wallets: number }

async function fill(shape: Shape, { activity }: { activity: boolean }): Promise<Filled> {
  const { url, chain } = nextStore()
  const store = await openStore(url, { role: 'owner' })
  const wallets = new Set<string>()
  const counting: Store = {
    ...store,
    commitCold: commit => {
      for (const { address } of unpackActivity(commit.activity)) wallets.add(address)
      return store.commitCold(commit)
    },
  }
  const before = (await store.info()).usedBytes
  await generateTransfers(counting, { chain, transfers, shape, activity })
  // Closing takes the write-ahead log in.
  await store.close()
  return { bytes: (await usedBytes(url)) - before, wallets: wallets.size }
}

async function usedBytes(url: string): Promise<number> {
  const store = await openStore(url, { role: 'reader' })
  const { usedBytes } = await store.info()
  await store.close()
  return usedBytes
}

/** Three unknown costs from three stores: many transfers a block, one a block, and with wallets. */
async function diskCosts() {
  const shape: Shape = shapes.ethereum
  const many = await fill(shape, { activity: false })
  const single = await fill({ ...shape, transfersPerBlock: 1 }, { activity: false })
  const full = await fill(shape, { activity: true })
  const block = (single.bytes - many.bytes) / (transfers - transfers / shape.transfersPerBlock)
  const transfer = (single.bytes - transfers * block) / transfers
  const address = (full.bytes - many.bytes) / full.wallets
  return { transfer: Math.round(transfer), address: Math.round(address), block: Math.round(block) }
}

type Counted = { transactions: object[] }
type Receipt = { logs: object[] }

async function ask<Result>(url: string, method: string, parameters: readonly unknown[]): Promise<Result> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(call(0, method, [...parameters])) })
  return ((await answer.json()) as { result: Result }).result
}

/** Of some blocks spread over the chain. */
async function jsonCosts(url: string) {
  const sizes = { block: 0, transaction: 0, log: 0 }
  const counts = { block: 0, transaction: 0, log: 0 }
  for (let at = 1; at <= 20; at++) {
    const number = quantity(Math.floor((blocks * at) / 20))
    const { transactions, ...header } = await ask<Counted>(url, 'eth_getBlockByNumber', [number, true])
    const receipts = await ask<Receipt[]>(url, 'eth_getBlockReceipts', [number])
    const logs = receipts.flatMap(receipt => receipt.logs)
    const bare = receipts.map(receipt => ({ ...receipt, logs: [] }))
    sizes.block += JSON.stringify(header).length
    sizes.transaction += JSON.stringify(transactions).length + JSON.stringify(bare).length
    sizes.log += JSON.stringify(logs).length
    counts.block++
    counts.transaction += transactions.length
    counts.log += logs.length
  }
  const average = (of: keyof typeof sizes) => Math.round(sizes[of] / Math.max(1, counts[of]))
  return { block: average('block'), transaction: average('transaction'), log: average('log') }
}

/** What recorded blocks of Ethereum take as files, of what they take as JSON; the one with ten thousand mints aside. */
function fileShare(): number {
  let [json, files] = [0, 0]
  for (const recorded of mainnetBlocks()) {
    const { block, receipts } = answersOf(recorded)
    if (receipts.some(({ logs }) => logs.length > 1_000)) continue
    json += JSON.stringify(block).length + JSON.stringify(receipts).length
    files += writeEre(0, [recorded]).length
  }
  return Math.round((files / json) * 100) / 100
}

const node = await startShapedNode('ethereum', { height: blocks, chainId: 1, hashes: 'real' })
try {
  const json = await jsonCosts(node.url)
  const { url: store } = nextStore()
  const job = await runIndexJob({ url: node.url, chain: 'eth', store, index: 'full', head: blocks, signed: true })
  await node.stop()
  const jsonPerSecond = Math.round(job.bytesFetched / job.seconds / 1e5) * 1e5
  const engine = values.store === undefined ? 'file' : 'postgres or citus'
  console.log(`engineCosts.${engine}:`, { ...(await diskCosts()), jsonPerSecond })
  console.log('jsonBytes:', json)
  console.log('fromFiles.bytesOfJson:', fileShare())
  const seconds = Math.round(job.seconds * 10) / 10
  console.log(JSON.stringify({ benchmark: 'constants', engine, blocks, seconds, bytesFetched: job.bytesFetched }))
} finally {
  await node.stop()
  rmSync(directory, { recursive: true, force: true })
}
