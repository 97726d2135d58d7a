// One indexing job of the benchmark in its own process: from an empty store to everything covered.
import { setTimeout as delay } from 'node:timers/promises'
import { ChainTable } from '../src/chains.ts'
import { isCovered } from '../src/coverage.ts'
import { createEvm } from '../src/evm/create-evm.ts'
import { createLog } from '../src/log.ts'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import type { IndexJob, IndexResult } from './run-index-job.ts'

const job = JSON.parse(process.argv[2]!) as IndexJob
const opened = await openStore(job.store, { role: 'owner' })
let committed = Promise.withResolvers<void>()
// What is covered is asked for after commits: asking a hundred times a second would be work for the database that is measured.
const store: Store = {
  ...opened,
  commitCold: commit => opened.commitCold(commit).finally(() => committed.resolve()),
  commitHot: commit => opened.commitHot(commit).finally(() => committed.resolve()),
  addToHot: (chain, blocks, covered) => opened.addToHot(chain, blocks, covered).finally(() => committed.resolve()),
}
const started = performance.now()
const cpuAtStart = process.cpuUsage()
const settings = {
  rpc: [job.url],
  index: job.index,
  from: 0,
  contracts: job.contract === undefined ? [] : [job.contract as Address],
}
const log = createLog({ level: 'warn', format: 'text' })
const chains = new ChainTable()
const evm = createEvm({ settings: { [job.chain]: settings }, chains, store, log, pageSizeMax: 100 })
const chain = chains.parse(job.chain)!.id
const wanted = { from: 0, to: job.head }
let rssMb = 0
for (;;) {
  const covered =
    job.contract === undefined
      ? await store.coverage(chain, 'full')
      : await store.contractCoverage(chain, job.contract as Address)
  rssMb = Math.max(rssMb, Math.round(process.memoryUsage.rss() / 1e6))
  if (isCovered(covered, wanted)) break
  await Promise.race([committed.promise, delay(250)])
  committed = Promise.withResolvers<void>()
}
const seconds = (performance.now() - started) / 1_000
const cpu = process.cpuUsage(cpuAtStart)
const cpuSeconds = (cpu.user + cpu.system) / 1e6
// A commit is counted a moment after it was made.
await delay(100)
const text = await evm.metrics()
const transfers = Number(/almanac_evm_transfers_total\{[^}]*\} (\d+)/.exec(text)?.[1] ?? 0)
await evm.close()
await store.close()
process.send?.({ seconds, cpuSeconds, transfers, rssMb } satisfies IndexResult)
process.disconnect?.()
