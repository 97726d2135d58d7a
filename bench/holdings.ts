// Who owns what over HTTP: for each list the first and deep pages and the stored rows that were read for each row
// answered, for stats the first time and again. The store stays where `--store` names a file: making one of 10 million
// transfers takes minutes.
// Run: npm run bench:holdings -- --transfers 10000000 --wallets 1000000 --holders 1000000 [--store file]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { type ServedApi, serveApi } from '../test/served-api.ts'
import { drawnWallet, heldStore, heldWallet } from './held-store.ts'
import { Random } from './random.ts'
import { median, percentile } from './statistics.ts'

const { values } = parseArgs({
  options: {
    transfers: { type: 'string', default: '300000' },
    wallets: { type: 'string' },
    holders: { type: 'string' },
    store: { type: 'string' },
    pages: { type: 'string', default: '150' },
  },
})
const bars = { pageMs: 5, readPerRow: 20, statsFirstMs: 1_000, statsAgainMs: 5 }
/** Pages from this one on are deep. */
const deepFrom = 10
const subjects = 100

/** Counts the rows and records that reads of a store return. */
class CountedReads {
  rows = 0
  readonly store: Store

  constructor(store: Store) {
    const counted =
      <Query extends unknown[], Page extends { length: number }>(read: (...query: Query) => Promise<Page>) =>
      async (...query: Query): Promise<Page> => {
        const page = await read(...query)
        this.rows += page.length
        return page
      }
    const { indexes } = store
    this.store = {
      ...store,
      transferPage: counted(store.transferPage),
      indexes: {
        ...indexes,
        indexRecords: counted(indexes.indexRecords),
        transfersAt: counted(indexes.transfersAt),
        oldestOfTokens: async (chain, tokens, rangesOf) => {
          this.rows += tokens.length
          return await indexes.oldestOfTokens(chain, tokens, rangesOf)
        },
      },
    }
  }
}

type Answer = { ms: number; cpuMs: number; read: number; rows: number; cursor: string }

async function ask(api: ServedApi, reads: CountedReads, path: string): Promise<Answer> {
  reads.rows = 0
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const response = await api.get(`/api/v2.2${path}`)
  const text = await response.text()
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  const body = JSON.parse(text) as { cursor?: string | null; result?: unknown[]; walletAddresses?: unknown[] }
  return {
    ms,
    cpuMs: (user + system) / 1_000,
    read: reads.rows,
    rows: (body.result ?? body.walletAddresses ?? []).length,
    cursor: body.cursor ?? '',
  }
}

type Measured = Record<string, string | number>

/** The first page of the first subject apart, those of the others, and one walk by cursors. The processor's time includes the client's. */
async function measureList(api: ServedApi, reads: CountedReads, name: string, paths: string[]): Promise<Measured> {
  const made = await ask(api, reads, paths[0]!)
  const first: Answer[] = []
  for (const path of paths.slice(1)) first.push(await ask(api, reads, path))
  const deep: Answer[] = []
  let { cursor } = made
  for (let page = 1; page < Number(values.pages) && cursor !== ''; page++) {
    const answer = await ask(api, reads, `${paths[0]!.split('?')[0]}?cursor=${cursor}`)
    if (page >= deepFrom) deep.push(answer)
    cursor = answer.cursor
  }
  const times = (answers: readonly Answer[], part: number) =>
    round(
      percentile(
        answers.map(({ ms }) => ms),
        part,
      ),
    )
  const readPerRow = (answers: readonly Answer[]) =>
    round(median(answers.filter(({ rows }) => rows > 0).map(({ read, rows }) => read / rows)))
  return {
    list: name,
    'made once, ms': round(made.ms),
    'rows read then': made.read,
    'first p50': times(first, 0.5),
    'first p99': times(first, 0.99),
    'first cpu': round(median(first.map(({ cpuMs }) => cpuMs))),
    'deep p50': times(deep, 0.5),
    'deep p99': times(deep, 0.99),
    'deep cpu': round(median(deep.map(({ cpuMs }) => cpuMs))),
    'read for a row': readPerRow([...first, ...deep]),
    pages: deep.length,
  }
}

async function measureStats(api: ServedApi, reads: CountedReads, name: string, path: string): Promise<Measured> {
  const first = await ask(api, reads, path)
  const again: number[] = []
  // Another query each time, so that the answer is not the kept one.
  for (let count = 0; count < 50; count++) again.push((await ask(api, reads, `${path}?again=${count}`)).ms)
  return {
    stats: name,
    'first, ms': round(first.ms),
    'rows read': first.read,
    'again p50': round(median(again)),
    'again p99': round(percentile(again, 0.99)),
  }
}

function round(value: number): number {
  return Number(value.toFixed(2))
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
try {
  const transfers = Number(values.transfers)
  const wallets = Number(values.wallets ?? Math.ceil(transfers / 10))
  const holders = Number(values.holders ?? wallets)
  const store = await openStore(`file:${values.store ?? join(folder, 'holdings.db')}`, { role: 'owner' })
  const held = await heldStore(store, { transfers, wallets, holders })
  console.log(
    `${held.transfers} transfers, ${held.wallets} wallets, ${held.holders} holders; filled in ${held.fillSeconds} s`,
  )
  const reads = new CountedReads(store)
  const api = await serveApi({ store, parts: { store: reads.store } })
  const { largest, editions } = held
  const each = (path: (at: number) => string) => Array.from({ length: subjects }, (_, at) => path(at))
  // Pages are walked for the wallet with the most transfers, the others are drawn.
  const ofWallets = (path: (wallet: string) => string) => {
    const random = new Random(wallets)
    return each(at => path(at === 0 ? heldWallet(0) : drawnWallet(random, held.wallets)))
  }
  // The query is another one each time, so that an answer is not the kept one.
  const same = (path: string) => each(at => `${path}?again=${at}`)
  // First, while nothing is known of the contract.
  const stats = [await measureStats(api, reads, 'collection', `/nft/${largest}/stats`)]
  const lists = [
    await measureList(
      api,
      reads,
      'transfers of a wallet',
      ofWallets(wallet => `/${wallet}/nft/transfers`),
    ),
    await measureList(
      api,
      reads,
      'transfers of a token',
      each(at => `/nft/${editions}/${at}/transfers`),
    ),
    await measureList(
      api,
      reads,
      'transfers of a block',
      each(at => `/block/${20_000_000 - at}/nft/transfers`),
    ),
    await measureList(api, reads, 'all transfers', same('/nft/transfers')),
    await measureList(api, reads, 'owners', same(`/nft/${largest}/owners`)),
    await measureList(
      api,
      reads,
      'owners of a token',
      each(at => `/nft/${editions}/${at}/owners`),
    ),
    await measureList(api, reads, 'unique owners', same(`/nft/${largest}/unique-owners`)),
    await measureList(
      api,
      reads,
      'NFTs of a wallet',
      ofWallets(wallet => `/${wallet}/nft`),
    ),
    await measureList(
      api,
      reads,
      'collections of a wallet',
      ofWallets(wallet => `/${wallet}/nft/collections`),
    ),
    await measureList(api, reads, 'NFTs of a contract', same(`/nft/${largest}`)),
  ]
  stats.push(await measureStats(api, reads, 'token', `/nft/${editions}/7777/stats`))
  stats.push(await measureStats(api, reads, 'block', '/block/19999999/stats'))
  console.log(`pages of 100, ms; bars: p50 ${bars.pageMs} ms, ${bars.readPerRow} stored rows for a row`)
  console.table(lists)
  console.log(`stats, ms; bars: first ${bars.statsFirstMs}, again ${bars.statsAgainMs}`)
  console.table(stats)
  console.log(JSON.stringify({ benchmark: 'holdings', ...held, bars, lists, stats }))
  await api.close()
  await store.close()
} finally {
  rmSync(folder, { recursive: true })
}
