// All EVM chains of one process: an indexer and a transport for each, behind plain calls that can cross a thread.
import type { ChainTable } from '../chains.ts'
import type { Log } from '../log.ts'
import type { Address, ChainId } from '../model.ts'
import type { Store } from '../store/store.ts'
import { connectChain, type EvmChainSettings } from './connect-chain.ts'
import { ChainIndexer } from './index/chain-indexer.ts'
import { createEvmMetrics } from './metrics.ts'
import type { RpcObserver } from './rpc/endpoint.ts'
import { HeadsFeed } from './rpc/heads.ts'
import { endpointAddresses } from './rpc/secrets.ts'

export type EvmOptions = {
  settings: Readonly<Record<string, EvmChainSettings>>
  chains: ChainTable
  store: Store
  log: Log
}

export type EvmStatus = Record<string, Awaited<ReturnType<ChainIndexer['status']>>>

/** Parameters and results are plain data, so that a thread may lie between. */
export type Evm = {
  status(): Promise<EvmStatus>
  ensureContract(chain: ChainId, contract: Address, waitMs: number): Promise<void>
  ensureWallet(chains: readonly ChainId[], wallet: Address, waitMs: number): Promise<void>
  /** In the text format of Prometheus. */
  metrics(): Promise<string>
  close(): Promise<void>
}

export function createEvm({ settings, chains, store, log }: EvmOptions): Evm {
  const metrics = createEvmMetrics()
  const running = Object.entries(settings).map(([name, chainSettings]) => startChain(name, chainSettings))
  const byId = new Map(running.map(({ indexer }) => [indexer.setup.chain.id, indexer]))

  function startChain(name: string, settings: EvmChainSettings) {
    const { rpc: urls, ws, index, from, contracts } = settings
    const observer: RpcObserver = {
      request: ({ endpoint, outcome, elapsedMs, bytes }) => {
        metrics.rpcRequests.inc({ chain: name, endpoint, outcome })
        metrics.rpcDuration.observe({ chain: name, endpoint }, elapsedMs / 1_000)
        metrics.rpcBytes.inc({ chain: name, endpoint }, bytes)
      },
      hedge: ({ endpoint }) => metrics.rpcHedges.inc({ chain: name, endpoint }),
    }
    const { chain, rpc } = connectChain(name, settings, { chains, observer })
    const indexer = new ChainIndexer({
      index,
      from,
      contracts,
      chain,
      pollMs: pollMsOf(chain.blockTimeMs, urls),
      rpc,
      store,
      log,
      metrics,
      ...(ws === undefined ? {} : { onNews: look => followHeads(ws, look) }),
    })
    indexer.start()
    return { name, indexer, rpc }
  }

  return {
    async status() {
      const entries = await Promise.all(
        running.map(async ({ name, indexer }) => [name, await indexer.status()] as const),
      )
      return Object.fromEntries(entries)
    },
    async ensureContract(chain, contract, waitMs) {
      await byId.get(chain)?.ensureContract(contract, waitMs)
    },
    async ensureWallet(ids, wallet, waitMs) {
      await Promise.all(ids.map(id => byId.get(id)?.ensureWallet(wallet, waitMs)))
    },
    metrics: () => metrics.registry.metrics(),
    async close() {
      await Promise.all(running.map(({ indexer }) => indexer.stop()))
      await Promise.all(running.map(({ rpc }) => rpc.close()))
    },
  }
}

/** Often where the node is one's own, politely elsewhere. */
function pollMsOf(blockTimeMs: number, urls: readonly string[]): number {
  const local = endpointAddresses(urls).every(({ isPrivate }) => isPrivate)
  return local ? 250 : Math.min(5_000, Math.max(500, blockTimeMs / 2))
}

function followHeads(url: string, lookNow: () => void): () => void {
  const feed = new HeadsFeed({ url, lookNow })
  return () => feed.close()
}
