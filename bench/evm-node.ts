// The simulated node of the indexing benchmarks: a process of its own with ready-made answers, so that it is never what is measured.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { transferTopics } from '../src/evm/decode/token-events.ts'
import type { SimChainOptions } from '../test/sim/options.ts'
import type { AnswersNodeJob } from './evm-answers-node.ts'
import { call, fetchAndParse, quantity } from './evm-floor.ts'
import { type ShapeName, shapes } from './shape.ts'

/** The small shape: twenty transactions and about fifty logs in each block, of 500 contracts. */
export function benchmarkChain(options: Pick<SimChainOptions, 'height' | 'chainId' | 'hashes'>) {
  return {
    ...options,
    transactionsPerBlock: shapes.small.transactionsPerBlock,
    logsPerCall: 3,
    contracts: shapes.small.contractsAtOnce,
    callsPerStretch: 64,
    deploymentSpan: 100,
    finalityDepth: 10,
  } satisfies Partial<SimChainOptions>
}

/** What an index of the whole chain must hold, where the node knows it. */
type Expected = { transfers: number; wallets: number }
/** `rawUrl`: the same node with receipts as bytes. */
export type RunningNode = { url: string; rawUrl: string; processId: number; expected?: Expected; stop(): Promise<void> }

/** A chain in one of the shapes. All but the small one have real hashes. */
export async function startShapedNode(
  shape: ShapeName,
  { height, chainId, hashes }: Pick<SimChainOptions, 'height' | 'chainId' | 'hashes'>,
): Promise<RunningNode> {
  if (shape === 'small') return await startNode(benchmarkChain({ height, chainId, hashes }))
  const job: AnswersNodeJob = { shape, chainId, head: height }
  return await start('./evm-answers-node.ts', [], [JSON.stringify(job)])
}

export async function startNode(chain: Partial<SimChainOptions>): Promise<RunningNode> {
  const faults = [[], [{ kind: 'raw-receipts' }]]
  const flags = ['--warm', 'all', '--cache-mb', '2000', '--chain', JSON.stringify(chain)]
  flags.push('--faults', JSON.stringify(faults))
  // Collecting a gigabyte of ready answers takes half a second, in which nothing is answered: it is put off for good.
  const heap = ['--initial-heap-size=6144', '--max-old-space-size=6144']
  return await start('../test/sim/main.ts', heap, flags)
}

async function start(file: string, execArgv: readonly string[], args: readonly string[]): Promise<RunningNode> {
  const main = fileURLToPath(new URL(file, import.meta.url))
  const node = spawn(process.execPath, [...execArgv, main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(node, 'exit')
  const [line] = (await Promise.race([once(node.stdout, 'data'), exited])) as [Buffer | number | null]
  if (!Buffer.isBuffer(line)) throw new Error(`The simulated node ended with code ${line} before it was ready.`)
  const { urls, expected } = JSON.parse(String(line)) as { urls: string[]; expected?: Expected }
  return {
    url: urls[0]!,
    rawUrl: urls[1]!,
    processId: node.pid!,
    ...(expected === undefined ? {} : { expected }),
    async stop() {
      node.kill()
      await exited
    },
  }
}

export async function busiestContract(url: string, head: number): Promise<string> {
  return (await busiestContracts(url, head, 1))[0]!
}

/** By their ERC-721 transfers in the newest 500 blocks. */
export async function busiestContracts(url: string, head: number, count: number): Promise<string[]> {
  const counts = new Map<string, number>()
  const filter = { fromBlock: quantity(head - 500), toBlock: quantity(head), topics: [transferTopics] }
  await fetchAndParse(url, [JSON.stringify([call(0, 'eth_getLogs', [filter])])], answers => {
    for (const { result } of answers as { result: { address: string; topics: string[] }[] }[]) {
      for (const log of result) if (log.topics.length === 4) counts.set(log.address, (counts.get(log.address) ?? 0) + 1)
    }
  })
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([contract]) => contract)
}
