// Builds the Solana half of the service from its settings: what the command line starts and stops.
import { AlmanacError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type SolanaNetwork, solanaNetworks } from '../model.ts'
import type { Store } from '../store/store.ts'
import { Network, type NetworkStatus, type SolanaNetworkSettings } from './network.ts'
import type { Freshness } from './on-demand.ts'

export type SolanaOptions = {
  settings: Readonly<Partial<Record<SolanaNetwork, SolanaNetworkSettings | undefined>>>
  store: Store
  log: Log
  metrics?: Metrics | undefined
}

export type Solana = {
  freshen: { portfolio(network: SolanaNetwork, owner: Uint8Array): Promise<Freshness> }
  /** By the name of the network. */
  status(): Record<string, NetworkStatus>
  close(): Promise<void>
}

export function createSolana({ settings, store, log, metrics }: SolanaOptions): Solana {
  const networks = new Map<SolanaNetwork, Network>()
  for (const network of solanaNetworks) {
    const own = settings[network]
    if (own !== undefined) networks.set(network, new Network({ network, settings: own, store, log, metrics }))
  }
  return {
    freshen: {
      async portfolio(network, owner) {
        const found = networks.get(network)
        if (found !== undefined) return found.freshen(owner)
        throw new AlmanacError('not_configured', `Nothing reads accounts of Solana ${network} here.`, {
          hint: `set solana.${network}.rpc.`,
        })
      },
    },
    status: () => Object.fromEntries([...networks].map(([name, network]) => [name, network.status()])),
    async close() {
      await Promise.all([...networks.values()].map(network => network.close()))
    },
  }
}
