// Both engines side by side in one run: how fast transfers go in, how much disk they take, how long a page and a count take, in the
// store and over HTTP.
// The server is a throwaway one with its safety settings on. Run: npm run bench:engines [-- --transfers 500000]
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ChainId } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { startAlmanac } from '../test/running-almanac.ts'
import { type Generated, generateTransfers } from './generate.ts'
import { Client } from './load.ts'
import { key, transfersRequest } from './page-requests.ts'
import { median, percentile } from './statistics.ts'

const { values } = parseArgs({
  options: { transfers: { type: 'string', default: '500000' }, samples: { type: 'string', default: '2000' } },
})
const transfers = Number(values.transfers)
const samples = Number(values.samples)
const chain = 1 as ChainId
const turn = 50
const directory = mkdtempSync(join(tmpdir(), 'almanac-bench-'))
const server = await startPostgres({ fsync: 'on', full_page_writes: 'on', max_wal_size: '4GB', shared_buffers: '1GB' })

type Subject = { engine: string; url: string; store: Store; generated: Generated; bytesPerTransfer: number }

async function fill(engine: string, url: string, bytes: (store: Store) => Promise<number>): Promise<Subject> {
  const store = await openStore(url, { role: 'owner' })
  const before = await bytes(store)
  const generated = await generateTransfers(store, { chain, transfers, largestShare: 0.12 })
  return { engine, url, store, generated, bytesPerTransfer: ((await bytes(store)) - before) / transfers }
}

/** Alternating in short turns, so that both meet the same moments of the machine. */
async function alternate(
  subjects: readonly Subject[],
  call: (subject: Subject, sample: number) => Promise<unknown>,
): Promise<number[][]> {
  const times: number[][] = subjects.map(() => [])
  for (let done = 0; done < samples; done += turn)
    for (const [index, subject] of subjects.entries())
      for (let sample = done; sample < done + turn; sample++) {
        const startedAt = performance.now()
        await call(subject, sample)
        times[index]!.push((performance.now() - startedAt) * 1000)
      }
  return times
}

/** The same service for each, `almanac start --only api`. */
async function overHttp(
  subjects: readonly Subject[],
  request: (subject: Subject, sample: number) => Buffer,
): Promise<number[][]> {
  const services = await Promise.all(subjects.map(({ url }) => startAlmanac({ store: url, key })))
  try {
    const clients = await Promise.all(services.map(({ url }) => Client.open(url)))
    const ask = (subject: Subject, sample: number) =>
      clients[subjects.indexOf(subject)]!.count(request(subject, sample))
    for (const subject of subjects) for (let sample = 0; sample < 500; sample++) await ask(subject, sample)
    const times = await alternate(subjects, (subject, sample) => ask(subject, samples + sample))
    for (const client of clients) client.close()
    return times
  } finally {
    await Promise.all(services.map(service => service.stop()))
  }
}

try {
  const fileBytes = async () =>
    readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  const subjects = [
    await fill('sqlite', `file:${join(directory, 'almanac.db')}`, fileBytes),
    await fill('postgres', await server.createDatabase(), async store => (await store.info()).sizeBytes),
  ]
  const contractOf = ({ generated }: Subject, sample: number) => {
    const large = generated.contracts.filter(contract => contract.transfers >= 300).slice(0, 40)
    return large[sample % large.length]!.contract
  }
  const first = await alternate(subjects, (subject, sample) =>
    subject.store.transferPage({ chain, contract: contractOf(subject, sample), order: 'desc', limit: 100 }),
  )
  const deep = await alternate(subjects, (subject, sample) => {
    const { from, to } = subject.generated
    const block = Math.floor(to - (0.2 + 0.5 * ((sample * 0.618) % 1)) * (to - from))
    const after = { block, transactionIndex: 5, logIndex: 5, batchIndex: 0 }
    return subject.store.transferPage({
      chain,
      contract: contractOf(subject, sample),
      order: 'desc',
      after,
      limit: 100,
    })
  })
  const counts = await alternate(subjects, (subject, sample) => {
    const { from, to } = subject.generated
    const fromBlock = from + Math.floor(((sample * 0.618) % 1) * (to - from))
    return subject.store.transferCount({ chain, contract: contractOf(subject, sample), fromBlock })
  })
  const served = await overHttp(subjects, (subject, sample) => {
    const { from, to } = subject.generated
    // Each request is another one, so that kept answers do not count.
    const block = to - ((sample * 7_919) % Math.floor((to - from) / 2))
    return transfersRequest(contractOf(subject, sample), `to_block=${block}`)
  })
  const results = subjects.map(({ engine, generated, bytesPerTransfer }, index) => ({
    engine,
    'transfers/s': Math.round((transfers / generated.commitMs) * 1000),
    'bytes/transfer': Number(bytesPerTransfer.toFixed(1)),
    'page p50 µs': Math.round(median(first[index]!)),
    'page p99 µs': Math.round(percentile(first[index]!, 0.99)),
    'deep page p50 µs': Math.round(median(deep[index]!)),
    'count p50 µs': Math.round(median(counts[index]!)),
    'page over HTTP p50 µs': Math.round(median(served[index]!)),
  }))
  console.table(results)
  console.log(JSON.stringify({ benchmark: 'store-engines', transfers, results }))
  for (const { store } of subjects) await store.close()
} finally {
  await server.stop()
  rmSync(directory, { recursive: true })
}
