// Runs one indexing job of Almanac, or its floor, in a process of its own and gives what it measured.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { indexingMemory } from '../src/threads.ts'
import type { KeptView, WholeScope } from '../src/views.ts'
import type { Floor, FloorJob } from './evm-floor.ts'

export type IndexJob = {
  /** Of the node; absent: there is none, and history comes from files. */
  url?: string
  /** A folder of history files. */
  history?: string
  /** The name of the chain in the chain table. */
  chain: string
  store: string
  index: 'full' | 'on-demand'
  contract?: string | undefined
  /** The first block; absent: 0. */
  from?: number
  head: number
  /** Views that the chain keeps; absent: all. */
  views?: readonly KeptView[]
  /** `transfers`: no activity of wallets from a node; from files, senders are not waited for. Absent: `full`. */
  scope?: WholeScope
  /** Goes on with the senders for this long once all transfers are there. */
  sendersMs?: number
  /** Whether wallets sign: the senders of a sample are recovered then, as `almanac start` does. */
  signed?: boolean
  /** That decode; absent: as many as `almanac start` takes. */
  threads?: number | undefined
  /** Bounds process and page cache. */
  memoryMb?: number
}
export type IndexResult = {
  seconds: number
  cpuSeconds: number
  /** Of the threads that decode; not a number where the system does not tell it. */
  decodeCpuSeconds: number
  /** Of NFTs. */
  transfers: number
  /** Of ERC-20 tokens, where the chain keeps them. */
  tokenTransfers: number
  rssMb: number
  /** Blocks a second in each tenth of history. */
  tenths: number[]
  bytesFetched: number
  /** Handed to the disk, the log of a file included; a server's is not among it. */
  bytesWritten: number
  evidence: string[]
  /** Blocks whose senders were recovered after all transfers; undefined where that was not measured. */
  senders: { blocks: number; seconds: number; cpuSeconds: number } | undefined
  /** What holds for memory. */
  bound: string
}

export async function runFloorJob(job: FloorJob): Promise<Floor> {
  return (await runJob('./evm-floor-job.ts', job)) as Floor
}

/** Each thread leaves a `.cpuprofile` in `profileFolder`, where one is given. */
export async function runIndexJob(job: IndexJob, profileFolder?: string): Promise<IndexResult> {
  // The memory that the indexing thread of `almanac start` has.
  const memory = `--max-semi-space-size=${indexingMemory.maxYoungGenerationSizeMb! / 3}`
  const execArgv = profileFolder === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileFolder]
  return (await runJob('./evm-index-job.ts', job, [memory, ...execArgv])) as IndexResult
}

async function runJob(file: string, job: object, execArgv: readonly string[] = []): Promise<unknown> {
  const main = fileURLToPath(new URL(file, import.meta.url))
  // As `almanac start` does, which keeps compiled code: peers run what was compiled before.
  const env = { ...process.env, NODE_COMPILE_CACHE: fileURLToPath(new URL('data/compiled', import.meta.url)) }
  const child = fork(main, [JSON.stringify(job)], { execArgv: [...execArgv], env })
  // A benchmark that is interrupted must not leave the job behind.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let result: unknown
  child.on('message', message => {
    result = message
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('exit', kill)
  if (result === undefined) throw new Error(`${file} ended with code ${code} and no result.`)
  return result
}
