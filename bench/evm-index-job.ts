// One indexing job of the benchmark in its own process: from an empty store to everything covered.
import { setTimeout as delay } from 'node:timers/promises'
import { ChainTable } from '../src/chains.ts'
import { blockCount, isCovered } from '../src/coverage.ts'
import { createEvm } from '../src/evm/create-evm.ts'
import { ledgerId, ledgerName } from '../src/ledgers.ts'
import { createLog } from '../src/log.ts'
import type { Address } from '../src/model.ts'
import { openStore } from '../src/store/open.ts'
import type { ColdCommit, Store } from '../src/store/store.ts'
import { usualViews } from '../src/views.ts'
import { threadCpuSeconds } from './cpu-time.ts'
import { boundMemory, bytesWritten } from './memory-bound.ts'
import type { IndexJob, IndexResult } from './run-index-job.ts'
import { type Mark, ratesOfTenths } from './statistics.ts'

const job = JSON.parse(process.argv[2]!) as IndexJob
const bound = job.memoryMb === undefined ? 'memory is not bounded' : boundMemory(job.memoryMb)
const marks: Mark[] = []
const transfersOnly = usualViews.filter(view => view !== 'activity')
const opened = await openStore(job.store, { role: 'owner' })
let committed = Promise.withResolvers<void>()
// What is covered is asked for after commits: asking a hundred times a second would be work for the database that is measured.
const store: Store = {
  ...opened,
  commitCold: async commit => {
    try {
      const stored = await opened.commitCold(commit)
      mark(commit)
      return stored
    } finally {
      committed.resolve()
    }
  },
  commitHot: commit => opened.commitHot(commit).finally(() => committed.resolve()),
  addToHot: (chain, blocks, covered) => opened.addToHot(chain, blocks, covered).finally(() => committed.resolve()),
}
const started = performance.now()
const cpuAtStart = process.cpuUsage()
const settings = {
  rpc: job.url === undefined ? [] : [job.url],
  ...(job.history === undefined ? {} : { history: [job.history] }),
  ...(job.views === undefined ? {} : { views: [...job.views] }),
  ...(job.scope === 'transfers' && job.history === undefined ? { views: transfersOnly } : {}),
  index: job.index,
  from: job.from ?? 0,
  contracts: job.contract === undefined ? [] : [job.contract as Address],
  senderSample: job.signed === true ? 2_000 : 0,
}
const log = createLog({ level: 'warn', format: 'text' })
const chains = new ChainTable()
const evm = createEvm({
  ...{ settings: { [job.chain]: settings }, chains, store, log },
  ...{ pageSizeMax: 100, decodeThreads: job.threads },
})
const chain = chains.parse(job.chain)!.id
const wanted = { from: job.from ?? 0, to: job.head }
let rssMb = 0
let covered = await coverage()
while (!isCovered(covered, wanted) || !(await areTokensCovered())) {
  await Promise.race([committed.promise, delay(250)])
  committed = Promise.withResolvers<void>()
  covered = await coverage()
  rssMb = Math.max(rssMb, Math.round(process.memoryUsage.rss() / 1e6))
}
const seconds = secondsSoFar()
const cpuSeconds = cpuSecondsSoFar()
const decodeCpuSeconds = threadCpuSeconds('decode-thread')
const tenths = ratesOfTenths(marks)
const senders = await measureSenders()
const text = await settledMetrics()
const tokenTransfers = counted('almanac_evm_transfers_total', text, ledgerName(job.chain, 'erc20'))
await evm.close()
await store.close()
process.send?.({
  seconds,
  cpuSeconds,
  decodeCpuSeconds,
  transfers: counted('almanac_evm_transfers_total', text),
  tokenTransfers,
  rssMb,
  tenths,
  senders,
  bytesFetched: counted('almanac_evm_rpc_answer_bytes_total', text),
  bytesWritten: bytesWritten(),
  evidence: [...new Set(covered.map(({ evidence }) => evidence))],
  bound,
} satisfies IndexResult)
process.disconnect?.()

async function areTokensCovered(): Promise<boolean> {
  if (job.views?.includes('erc20') !== true) return true
  return isCovered(await opened.coverage(ledgerId(chain, 'erc20'), 'transfers'), wanted)
}

async function coverage() {
  if (job.contract === undefined) return await opened.coverage(chain, job.scope ?? 'full')
  return await opened.contractCoverage(chain, job.contract as Address)
}

/** Blocks that get their senders in the time that the job gives it, up to the last claim. */
async function measureSenders(): Promise<IndexResult['senders']> {
  if (job.sendersMs === undefined) return undefined
  const [startedSeconds, cpuBefore] = [secondsSoFar(), cpuSecondsSoFar()]
  let senders: IndexResult['senders']
  while (secondsSoFar() - startedSeconds < job.sendersMs / 1_000) {
    await delay(250)
    const blocks = blockCount(await opened.coverage(chain, 'full'))
    rssMb = Math.max(rssMb, Math.round(process.memoryUsage.rss() / 1e6))
    if (blocks > (senders?.blocks ?? 0))
      senders = { blocks, seconds: secondsSoFar() - startedSeconds, cpuSeconds: cpuSecondsSoFar() - cpuBefore }
  }
  return senders
}

/** Rows of whole blocks go ahead of their claims; those of a contract come with them. */
function mark({ ranges, covered: claimed }: ColdCommit): void {
  const blocks = (ranges ?? claimed).reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const done = (marks.at(-1)?.done ?? 0) + blocks
  if (blocks > 0) marks.push({ seconds: secondsSoFar(), done })
}

function secondsSoFar(): number {
  return (performance.now() - started) / 1_000
}

function cpuSecondsSoFar(): number {
  const { user, system } = process.cpuUsage(cpuAtStart)
  return (user + system) / 1e6
}

/** A commit is counted a moment after it was made, and on a busy machine that is a long one. */
async function settledMetrics(): Promise<string> {
  const transfersIn = (text: string) => counted('almanac_evm_transfers_total', text)
  let text = await evm.metrics()
  for (let readings = 0; readings < 20; readings++) {
    await delay(500)
    const before = transfersIn(text)
    text = await evm.metrics()
    if (transfersIn(text) === before) break
  }
  return text
}

function counted(name: string, metrics: string, of = job.chain): number {
  return Number(new RegExp(`${name}\\{chain="${of}"[^}]*\\} (\\d+)`).exec(metrics)?.[1] ?? 0)
}
