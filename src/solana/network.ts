// One Solana network of the service: reads owners when they are asked for, keeps them fresh where there is a socket, and
// says how it fares. The parts are built here and closed here.
import type { Log } from '../log.ts'
import type { SolanaNetwork } from '../model.ts'
import type { SolanaStore } from '../store/store.ts'
import { SolanaEndpoint } from './endpoint.ts'
import { type Freshness, OnDemand } from './on-demand.ts'
import { SolanaRpc } from './rpc.ts'

export type SolanaNetworkSettings = {
  rpc: readonly string[]
  ws?: string | undefined
  requestsPerSecond?: number | undefined
  maxAgeMs: number
  subscriptionsMax: number
  reconcileMs: number
}

export type NetworkOptions = {
  network: SolanaNetwork
  settings: SolanaNetworkSettings
  store: SolanaStore
  log: Log
}

export class Network {
  readonly #rpc: SolanaRpc
  readonly #onDemand: OnDemand

  constructor({ network, settings, store }: NetworkOptions) {
    // The rate is that of all endpoints together.
    const requestsPerSecond =
      settings.requestsPerSecond === undefined ? undefined : settings.requestsPerSecond / settings.rpc.length
    const endpoints = settings.rpc.map(url => new SolanaEndpoint({ network, url, requestsPerSecond }))
    this.#rpc = new SolanaRpc({ network, endpoints })
    this.#onDemand = new OnDemand({ rpc: this.#rpc, store, maxAgeMs: settings.maxAgeMs })
  }

  async freshen(owner: Uint8Array): Promise<Freshness> {
    return this.#onDemand.freshen(owner)
  }

  async close(): Promise<void> {
    await this.#rpc.close()
  }
}
