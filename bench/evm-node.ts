// The simulated node of the indexing benchmarks: a process of its own with ready-made answers, so that it is never what is measured.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { transferTopics } from '../src/evm/decode/token-events.ts'
import type { SimChainOptions } from '../test/sim/options.ts'
import { call, fetchAndParse, quantity } from './evm-floor.ts'

/** Twenty transactions and about fifty logs in each block, of 500 contracts. */
export function benchmarkChain(options: Pick<SimChainOptions, 'height' | 'chainId' | 'hashes'>) {
  return {
    ...options,
    transactionsPerBlock: 20,
    logsPerCall: 3,
    contracts: 500,
    callsPerStretch: 64,
    deploymentSpan: 100,
    finalityDepth: 10,
  } satisfies Partial<SimChainOptions>
}

export type RunningNode = { url: string; processId: number; stop(): Promise<void> }

export async function startNode(chain: Partial<SimChainOptions>): Promise<RunningNode> {
  const main = fileURLToPath(new URL('../test/sim/main.ts', import.meta.url))
  const flags = ['--warm', 'all', '--cache-mb', '2000', '--chain', JSON.stringify(chain)]
  // Collecting a gigabyte of ready answers takes half a second, in which nothing is answered: it is put off for good.
  const heap = ['--initial-heap-size=6144', '--max-old-space-size=6144']
  const node = spawn(process.execPath, [...heap, main, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(node, 'exit')
  const [line] = (await Promise.race([once(node.stdout, 'data'), exited])) as [Buffer | number | null]
  if (!Buffer.isBuffer(line)) throw new Error(`The simulated node ended with code ${line} before it was ready.`)
  const { urls } = JSON.parse(String(line)) as { urls: string[] }
  return {
    url: urls[0]!,
    processId: node.pid!,
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
