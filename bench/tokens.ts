// Measures the lists of ERC-20 tokens over HTTP, in one process with the client: pages of transfers of a token and of a
// wallet, and the owners of a token with many. Run: npm run bench:tokens [-- --transfers 10000000 --holders 1000000]
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ledgerId } from '../src/ledgers.ts'
import { type Address, type Block, type ChainId, type Hash, type TransferRow, zeroAddress } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import { noActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { packTransfer } from '../test/pack-transfer.ts'
import { serveApi } from '../test/served-api.ts'
import { Random } from './random.ts'
import { percentile } from './statistics.ts'

const { values } = parseArgs({
  options: {
    transfers: { type: 'string', default: '10000000' },
    holders: { type: 'string', default: '1000000' },
    pages: { type: 'string', default: '400' },
  },
})
const [transfers, holders, pages] = [values.transfers, values.holders, values.pages].map(Number) as [
  number,
  number,
  number,
]
const ledger = ledgerId(1 as ChainId, 'erc20')
const [perBlock, blocksPerCommit] = [250, 100]
const head = Math.ceil(transfers / perBlock)
const wallets = 2_000_000
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
/** The oldest transfers make it, one for each holder. */
const held = addressOf(0xffff_0000)
const tokens = Array.from({ length: 400 }, (_, at) => addressOf(0xffff_0001 + at))

const folder = join(import.meta.dirname, 'data')
mkdirSync(folder, { recursive: true })
const file = join(folder, `tokens-${transfers}-${holders}.db`)
const isMade = existsSync(file)
const store = await openStore(`file:${file}`, { role: 'owner' })
if (!isMade) await fill(store)
const api = await serveApi({ store })

await times('a page of a token', at => `/erc20/${tokens[at % tokens.length]}/transfers`)
await times('one in the middle of it', at => `/erc20/${tokens[0]}/transfers?to_block=${middle(at)}`)
await times('a page of a wallet', at => `/${addressOf(1 + at * 4_999)}/erc20/transfers`)
const before = process.memoryUsage.rss()
let peak = before
const sampling = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 20)
const first = await timed(`/erc20/${held}/owners`)
clearInterval(sampling)
const added = Math.round((peak - before) / 1e6)
console.log(`the first page of ${holders} owners: ${(first.ms / 1_000).toFixed(2)} s, ${added} MB more at most`)
let next = first
await times(
  'a further one',
  () => `/erc20/${held}/owners?cursor=${next.body.cursor}`,
  answer => {
    next = answer
  },
)
const all = await timed(`/erc20/${held}/owners`, { accept: 'application/x-ndjson' })
console.log(`all owners in one answer: ${(all.ms / 1_000).toFixed(2)} s`)
await api.close()
await store.close()

type Timed = { ms: number; body: { cursor?: string } }

async function timed(path: string, headers = {}): Promise<Timed> {
  const began = performance.now()
  const response = await api.get(`/api/v2.2${path}`, headers)
  const text = await response.text()
  const ms = performance.now() - began
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`)
  return { ms, body: text.startsWith('{"page"') ? (JSON.parse(text) as Timed['body']) : {} }
}

async function times(what: string, pathOf: (at: number) => string, seen?: (answer: Timed) => void): Promise<void> {
  const taken: number[] = []
  for (let at = 0; at < pages; at++) {
    const answer = await timed(pathOf(at))
    seen?.(answer)
    // The first ones load what all of them use.
    if (at >= pages / 10) taken.push(answer.ms)
  }
  const [p50, p99] = [0.5, 0.99].map(part => percentile(taken, part).toFixed(2))
  console.log(`${what}: p50 ${p50} ms, p99 ${p99} ms`)
}

function middle(at: number): number {
  const from = Math.ceil(holders / perBlock)
  return from + Math.floor(((head - from) * (at + 1)) / (pages + 1))
}

/** Newest first, as backfill goes. */
async function fill(into: Store): Promise<void> {
  const random = new Random(7)
  const began = performance.now()
  for (let to = head; to > 0; to -= blocksPerCommit) {
    const from = Math.max(1, to - blocksPerCommit + 1)
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
    await into.commitCold({
      ...{ chain: ledger, activity: noActivity, blocks: numbers.map(blockAt) },
      transfers: numbers.toReversed().flatMap(block => rowsOf(block, random)),
      covered: [{ scope: 'transfers', from: from === 1 ? 0 : from, to, evidence: 'receipts-root' }],
    })
  }
  await into.putChainState(ledger, { head: blockAt(head), finalized: head })
  console.log(`${transfers} transfers stored in ${((performance.now() - began) / 1_000).toFixed(0)} s`)
}

function rowsOf(block: number, random: Random): TransferRow[] {
  return Array.from({ length: perBlock }, (_, logIndex) => {
    const at = (block - 1) * perBlock + logIndex
    const isHeld = at < holders
    const payload = packTransfer({
      ...{ standard: 'ERC1155', batch: false, operator: undefined, tokenId: 0n, value: 0n, idCount: 1 },
      from: isHeld ? zeroAddress : addressOf(1 + random.below(wallets)),
      to: isHeld ? addressOf(1 + wallets + at) : addressOf(1 + random.below(wallets)),
      amount: BigInt(1 + random.below(2 ** 31)) * 10n ** 12n,
      transactionHash: hashOf(at),
    })
    // A tenth of all is of one token.
    const contract = isHeld ? held : tokens[random.below(10) === 0 ? 0 : random.below(tokens.length)]!
    return { block, transactionIndex: logIndex >> 1, logIndex, batchIndex: 0, contract, payload }
  })
}

function blockAt(number: number): Block {
  return { number, hash: hashOf(number), timestamp: 1_600_000_000 + number * 12 }
}

function hashOf(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '0')}` as Hash
}
