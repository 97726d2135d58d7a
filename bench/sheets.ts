// Measures who owns what of a large collection from records in memory, without a store: the first sheet, what follows
// from it, and what a new block costs. Run: npm run bench:sheets [-- --holders 1000000 --erc1155]
import { parseArgs } from 'node:util'
import { type Address, type ChainId, type Hash, zeroAddress } from '../src/model.ts'
import { Holdings } from '../src/query/holdings/holdings.ts'
import type { HoldingsOptions } from '../src/query/holdings/questions.ts'
import { emptyPage, type IndexRecords, noRecords, type TransferPage } from '../src/store/index-reader.ts'
import { byToken } from '../src/store/indexes/by-token.ts'
import { recordsOf } from '../test/memory-store.ts'
import { packTransfer } from '../test/pack-transfer.ts'
import { median } from './statistics.ts'

const { values: settings } = parseArgs({
  options: { holders: { type: 'string', default: '1000000' }, erc1155: { type: 'boolean', default: false } },
})
const holders = Number(settings.holders)
/** As `query/holdings/subject.ts` reads. */
const recordsPerRead = 8_000
const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const final = 20_000_000
const options: HoldingsOptions = {
  key: { id: 'bench' } as HoldingsOptions['key'],
  freshen: undefined,
  freshenWaitMs: 0,
}

let revision = 0
let newest: TransferPage = emptyPage
const chunks = madeChunks()
const tokens = new Holdings({
  revision: () => revision,
  chainState: async () => ({ head: blockOf(final + 1), finalized: final }),
  contractCoverage: async () => [{ from: 0, to: final + 1, evidence: 'receipts-root' }],
  hotBlocks: async () => [],
  lowestBlock: async () => undefined,
  annotationsOf: async () => ({ facts: undefined, marks: [] }),
  transferPage: async () => newest,
  transferCount: async () => holders,
  indexes: {
    indexRecords: async ({ after, from, to }) => {
      if (Buffer.compare(from.subarray(0, 33), to.subarray(0, 33)) === 0) return noRecords
      return chunks.get(after === undefined ? '' : Buffer.from(after).toString('hex')) ?? noRecords
    },
    oldestOfTokens: async (_, tokens) => ({ records: tokens.map(() => undefined), withRanges: new Set() }),
    transfersAt: () => Promise.reject(new Error('not asked for')),
    rowState: async () => ({ takenBack: 0, filled: 0, indexes: [{ index: 'by_token', filled: true }] }),
  },
})

const page = { chain, contract, tokenId: undefined, atBlock: undefined, limit: 100, countTotal: true }
const stats = () => tokens.collectionStats({ chain, contract, atBlock: undefined }, options)
const first = await timed(stats)
console.log(`first stats: ${first.ms.toFixed(0)} ms, the longest step ${first.longestMs.toFixed(0)} ms`, first.value)
console.log(`stats again: ${(await repeated(200, stats)).toFixed(3)} ms`)
console.log(
  `a page of 100 owners: ${(await repeated(200, () => tokens.owners({ ...page, after: undefined }, options))).toFixed(3)} ms`,
)
let after = (await tokens.owners({ ...page, after: undefined }, options)).next
for (let pages = 0; pages < 500; pages++)
  after = (await tokens.owners({ ...page, ...after!, limit: 100 }, options)).next
const deep = { ...page, ...after!, limit: 100 }
console.log(`the 500th: ${(await repeated(200, () => tokens.owners(deep, options))).toFixed(3)} ms`)
const unique = await timed(() => tokens.uniqueOwners({ ...page, after: undefined }, options))
console.log(`first unique owners: ${unique.ms.toFixed(0)} ms`)
const nfts = () => tokens.contractNfts({ ...page, part: undefined, after: undefined }, options)
const hashed = await timed(nfts)
console.log(`first page by hash: ${hashed.ms.toFixed(0)} ms, the longest step ${hashed.longestMs.toFixed(0)} ms`)
console.log(`a page by hash: ${(await repeated(100, nfts)).toFixed(3)} ms`)
newest = onePage()
revision++
const patched = await timed(stats)
console.log(`after a transfer: ${patched.ms.toFixed(0)} ms, the longest step ${patched.longestMs.toFixed(0)} ms`)
console.log(`stats again: ${(await repeated(200, stats)).toFixed(3)} ms`)
console.log(`a page by hash: ${(await repeated(100, nfts)).toFixed(3)} ms`)
console.log(`memory: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`)

/** In time of the processor: other processes do not count. */
async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number; longestMs: number }> {
  let longestMs = 0
  let last = cpuMs()
  const step = (): void => {
    longestMs = Math.max(longestMs, cpuMs() - last)
    last = cpuMs()
  }
  const watch = setInterval(step, 1)
  const start = cpuMs()
  const value = await work()
  step()
  clearInterval(watch)
  return { value, ms: cpuMs() - start, longestMs }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

async function repeated(times: number, work: () => Promise<unknown>): Promise<number> {
  const samples: number[] = []
  for (let time = 0; time < times; time++) {
    const start = performance.now()
    await work()
    samples.push(performance.now() - start)
  }
  return median(samples)
}

/** A mint for each holder, in pieces of the size that is read at once, by the key that each follows. */
function madeChunks(): Map<string, IndexRecords> {
  const records: { key: Buffer; value: Buffer }[] = []
  for (let holder = 1; holder <= holders; holder++) {
    const block = 10_000_000 + ((holder * 7919) % 4_000_000)
    const place = { contract: 1, block, transactionIndex: holder % 200, logIndex: holder % 500, batchIndex: 0 }
    const payload = payloadOf(holder, settings.erc1155 ? 1n : BigInt(holder))
    byToken.recordsOf({ ...place, payload }, (key, value) => {
      records.push({ key: Buffer.from(key.subarray(4)), value: Buffer.from(value) })
    })
  }
  records.sort((a, b) => Buffer.compare(a.key, b.key))
  const made = new Map<string, IndexRecords>()
  for (let from = 0; from < records.length; from += recordsPerRead)
    made.set(
      from === 0 ? '' : records[from - 1]!.key.toString('hex'),
      recordsOf(records.slice(from, from + recordsPerRead)),
    )
  return made
}

function payloadOf(holder: number, tokenId: bigint): Uint8Array {
  const to = `0x${Math.imul(holder, 0x9e3779b1).toString(16).replace('-', 'f').padStart(8, '0')}${holder.toString(16).padStart(32, '0')}`
  return packTransfer({
    standard: settings.erc1155 ? 'ERC1155' : 'ERC721',
    ...{ batch: false, from: zeroAddress, to: to.slice(0, 42) as Address, operator: undefined, tokenId, amount: 1n },
    ...{ value: 0n, transactionHash: `0x${'1'.repeat(64)}` as Hash, idCount: 1, sentBy: 'recipient' },
  })
}

function onePage(): TransferPage {
  const payloads = payloadOf(holders + 1, settings.erc1155 ? 1n : 5n)
  const place = { blocks: [final + 1], transactionIndexes: [0], logIndexes: [0], batchIndexes: [0], timestamps: [0] }
  return { length: 1, ...place, blockHashes: new Uint8Array(32), payloads }
}

function blockOf(number: number) {
  return { number, hash: `0x${'0'.repeat(64)}` as Hash, timestamp: 0 }
}
