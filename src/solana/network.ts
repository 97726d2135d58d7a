// One Solana network of the service: reads owners on demand, keeps them fresh where there is a socket, and reports its
// status. It builds its parts and closes them. Also the check of one endpoint.
import { AlmanacError, messageWithCauses } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type MintReading, type SolanaNetwork, solanaNetworks } from '../model.ts'
import { BudgetKeeper } from '../rpc/daily-budget.ts'
import { rpcFailureOf, withHint } from '../rpc/failures.ts'
import type { EndpointStatus, SolanaStatus } from '../status.ts'
import type { Store } from '../store/store.ts'
import { clockSysvar, systemProgram } from './decode.ts'
import { MintFactsReader } from './mint-facts.ts'
import { type FollowerPace, OwnerFollower } from './owner-follower.ts'
import { SolanaRpc } from './rpc.ts'
import { importedSnapshots } from './snapshot.ts'
import { type Freshness, OnDemand, readBalance } from './source.ts'
import { YellowstoneFeed } from './yellowstone.ts'

/** Two seconds: a feed that lags more is not fresh. */
const feedLagSlotsMax = 5
const sampleMs = 1_000
const sweepMs = 3_600_000
const sweptAtOnce = 500
const dayMs = 86_400_000
/** A socket that reported no slot for this long is not trusted alone. */
const silentMsMax = 5_000
const lookMs = 10_000

export type SolanaNetworkSettings = {
  rpc: readonly string[]
  ws?: string | undefined
  requestsPerSecond?: number | undefined
  dailyBudget?: number | undefined
  maxAgeMs: number
  subscriptionsMax: number
  reconcileMs: number
  yellowstone?: string | undefined
  yellowstoneToken?: string | undefined
}

export type NetworkOptions = Omit<SolanaOptions, 'settings'> & {
  network: SolanaNetwork
  settings: SolanaNetworkSettings
  /** Of owners that subscriptions keep fresh; absent: the usual one. */
  pace?: Partial<FollowerPace> | undefined
}

export type NetworkStatus = SolanaStatus & {
  feed: { connected: boolean; slot: number; complete: boolean } | null
  watched: { owners: number; live: number; subscriptions: number; reconnects: number; connected: boolean } | null
}

export class Network {
  readonly #rpc: SolanaRpc
  #keeper: BudgetKeeper | undefined
  readonly #onDemand: OnDemand
  readonly #mints: MintFactsReader
  readonly #follower: OwnerFollower | undefined
  readonly #feed: YellowstoneFeed | undefined
  readonly #store: Store
  readonly #network: SolanaNetwork
  #sampler: NodeJS.Timeout | undefined
  #sweeper: NodeJS.Timeout | undefined
  #last: Freshness | undefined
  #lookedAtMs = 0

  constructor({ network, settings, store, log, metrics, pace, ownerDays = 0 }: NetworkOptions) {
    this.#network = network
    this.#store = store
    const { rpc: urls, requestsPerSecond, dailyBudget } = settings
    const rpc = new SolanaRpc({ network, urls, requestsPerSecond, dailyBudget })
    this.#rpc = rpc
    this.#keeper = rpc.budget === undefined ? undefined : new BudgetKeeper(rpc.budget, store)
    this.#onDemand = new OnDemand({
      rpc,
      store,
      maxAgeMs: settings.maxAgeMs,
      onReading: ({ account }) => {
        this.#last = account
        metrics?.solana.readings.inc({ network })
      },
    })
    this.#mints = new MintFactsReader({ rpc, store, maxAgeMs: settings.maxAgeMs })
    const { ws, subscriptionsMax, reconcileMs } = settings
    if (ws !== undefined && subscriptionsMax > 0) {
      const onReconciled = (differences: number) => metrics?.solana.differences.inc({ network }, differences)
      const parts = { rpc, store, onDemand: this.#onDemand, log }
      this.#follower = new OwnerFollower({ ...parts, ws, subscriptionsMax, reconcileMs, pace, onReconciled })
    }
    const { yellowstone, yellowstoneToken } = settings
    if (yellowstone !== undefined) {
      this.#feed = new YellowstoneFeed({ network, store, log, url: yellowstone, token: yellowstoneToken })
    }
    if (ownerDays > 0 && yellowstone === undefined) {
      this.#sweeper = setInterval(() => void this.forgetIdle(ownerDays, Date.now()).catch(() => {}), sweepMs).unref()
    }
    if (metrics !== undefined) {
      this.#sampler = setInterval(() => this.#sample(metrics), sampleMs)
      this.#sampler.unref()
    }
    void this.#checkGenesis(log)
  }

  /** Takes endpoints and their limits from another reading of the settings. */
  async configure({ rpc: urls, requestsPerSecond, dailyBudget }: SolanaNetworkSettings): Promise<void> {
    const { budget } = this.#rpc
    this.#rpc.configure({ urls, requestsPerSecond, dailyBudget })
    if (this.#rpc.budget === budget) return
    await this.#keeper?.close()
    this.#keeper = this.#rpc.budget && new BudgetKeeper(this.#rpc.budget, this.#store)
  }

  async freshen(owner: Uint8Array): Promise<Freshness> {
    try {
      return await this.#freshen(owner)
    } catch (error) {
      throw withoutTransportDetails(error)
    }
  }

  readMint(mint: Uint8Array): Promise<MintReading> {
    return this.#mints.read(mint)
  }

  async #freshen(owner: Uint8Array): Promise<Freshness> {
    const complete = await this.#fromFeed(owner)
    if (complete !== undefined) return complete
    const live = await this.#follower?.liveAt(owner)
    if (live !== undefined) return live
    const fresh = await this.#onDemand.freshen(owner)
    this.#follower?.watch(owner)
    return fresh
  }

  /** Where the store holds every token account of the network, only the balance and the clock are read. */
  async #fromFeed(owner: Uint8Array): Promise<Freshness | undefined> {
    if (this.#feed?.completeSlot === undefined) return undefined
    const readAtMs = Date.now()
    const account = await readBalance({ rpc: this.#rpc, owner, readAtMs })
    const complete = this.#feed.completeSlot
    if (complete === undefined || complete < account.slot - feedLagSlotsMax) return undefined
    // A reading as of slot 0, before anything existed, makes the owner known and leaves its holdings as they are.
    const reading = { account: { ...account, slot: 0 }, holdings: [] }
    await this.#store.updateAccounts(this.#network, { reading, owners: [account] })
    return { slot: complete, chainTime: account.chainTime, readAtMs }
  }

  /** A reading follows every request. What a snapshot brought is complete only with all of it. */
  async forgetIdle(days: number, nowMs: number): Promise<void> {
    if ((await importedSnapshots(this.#store, this.#network)) !== undefined) return
    const readBeforeMs = nowMs - days * dayMs
    while ((await this.#store.forgetOwners(this.#network, readBeforeMs, sweptAtOnce)) === sweptAtOnce);
  }

  status(): NetworkStatus {
    const followed = this.#follower?.status()
    const endpoints = this.#rpc.status()
    const knownAtMs = Math.max(this.#last?.readAtMs ?? 0, followed?.headAtMs ?? 0)
    const { budget } = this.#rpc
    const reason = stalledBecause(endpoints, followed?.watched)
    return {
      state: reason === undefined ? 'live' : 'stalled',
      ...(reason === undefined ? {} : { reason }),
      slot: Math.max(followed?.slot ?? 0, ...endpoints.map(({ slot = 0 }) => slot)),
      lag_seconds: followed === undefined || knownAtMs === 0 ? 0 : Math.max(0, (Date.now() - knownAtMs) / 1_000),
      rpc: endpoints,
      ...(budget && { daily_budget: { calls: budget.callsPerDay, left: Math.max(0, budget.left) } }),
      feed: this.#feed?.status() ?? null,
      watched: followed?.watched ?? null,
    }
  }

  #sample({ solana }: Metrics): void {
    const network = this.#network
    const { slot, lag_seconds, watched } = this.status()
    if (watched !== null && (!watched.connected || lag_seconds * 1_000 > silentMsMax)) this.#look()
    solana.slot.set({ network }, slot)
    solana.lag.set({ network }, lag_seconds)
    solana.owners.set({ network }, watched?.live ?? 0)
  }

  /** While the socket is silent the endpoints may be down too, and few requests would not show it. */
  #look(): void {
    if (Date.now() - this.#lookedAtMs < lookMs) return
    this.#lookedAtMs = Date.now()
    // The endpoint's health has the failure.
    this.#rpc.accounts([clockSysvar]).catch(() => {})
  }

  async close(): Promise<void> {
    clearInterval(this.#sampler)
    clearInterval(this.#sweeper)
    await this.#feed?.close()
    await this.#follower?.close()
    await this.#rpc.close()
    await this.#keeper?.close()
  }

  /** A node of another network is most likely a mistake; a local one has its own genesis. */
  async #checkGenesis(log: Log): Promise<void> {
    const network = this.#network
    try {
      const genesis = await this.#rpc.genesisHash()
      if (genesis === genesisHashes[network]) return
      const isOnThisMachine = this.#rpc.status().every(({ endpoint }) => /^(127\.|localhost|\[::1\])/.test(endpoint))
      log[isOnThisMachine ? 'debug' : 'warn'](
        { network, genesis },
        'Solana endpoints serve the ledger of another network',
      )
    } catch (error) {
      if (error instanceof AlmanacError && error.code === 'interrupted') return
      log.warn({ network, reason: messageWithCauses(error) }, 'Solana ledger not checked')
    }
  }
}

/** Undefined where it is not stalled. */
function stalledBecause(
  endpoints: readonly EndpointStatus[],
  watched: NetworkStatus['watched'] | undefined,
): string | undefined {
  if (!endpoints.some(({ healthy }) => healthy))
    return withHint(endpoints.find(({ fault }) => fault != null)?.fault ?? 'No endpoint answers.')
  // The first connection is being made, or has just failed, which is logged.
  if (watched == null || watched.connected || watched.reconnects === 0) return undefined
  return 'The WebSocket is not connected.'
}

/** Clients see an error's details: which request failed in what way is not for them. */
function withoutTransportDetails(error: unknown): unknown {
  if (!(error instanceof AlmanacError) || rpcFailureOf(error) === undefined) return error
  const { code, message, cause, hint, retryable, retryAfterMs } = error
  return new AlmanacError(code, message, {
    cause,
    retryable,
    ...(hint === undefined ? {} : { hint }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

export type SolanaOptions = {
  settings: Readonly<Partial<Record<SolanaNetwork, SolanaNetworkSettings | undefined>>>
  store: Store
  log: Log
  metrics?: Metrics | undefined
  /** Owners without a request for this many days are forgotten; absent or 0: none. */
  ownerDays?: number | undefined
}

export type Solana = {
  freshen: {
    portfolio(network: SolanaNetwork, owner: Uint8Array): Promise<Freshness>
    mint(network: SolanaNetwork, mint: Uint8Array): Promise<MintReading>
  }
  /** By the name of the network. */
  status(): Record<string, NetworkStatus>
  configure(settings: SolanaOptions['settings']): Promise<void>
  close(): Promise<void>
}

export function createSolana({ settings, store, log, metrics, ownerDays }: SolanaOptions): Solana {
  const networks = new Map<SolanaNetwork, Network>()
  for (const network of solanaNetworks) {
    const own = settings[network]
    if (own !== undefined)
      networks.set(network, new Network({ network, settings: own, store, log, metrics, ownerDays }))
  }
  const networkOf = (network: SolanaNetwork): Network => {
    const found = networks.get(network)
    if (found !== undefined) return found
    throw new AlmanacError('not_configured', `Solana ${network} is not configured.`, {
      hint: `set solana.${network}.rpc.`,
    })
  }
  return {
    freshen: {
      portfolio: async (network, owner) => await networkOf(network).freshen(owner),
      mint: async (network, mint) => await networkOf(network).readMint(mint),
    },
    status: () => Object.fromEntries([...networks].map(([name, network]) => [name, network.status()])),
    async configure(settings) {
      for (const [name, network] of networks) if (settings[name] !== undefined) await network.configure(settings[name])
    },
    async close() {
      await Promise.all([...networks.values()].map(network => network.close()))
    },
  }
}

const genesisHashes: Readonly<Record<SolanaNetwork, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
}

// Finds out what one Solana endpoint can do. It stores nothing.

export type SolanaFindings = {
  /** Safe to show. */
  endpoint: string
  slot: number
  /** Undefined for a ledger of its own, as local nodes have. */
  network: SolanaNetwork | undefined
}

/** Fails where the endpoint cannot be used, also where it does not list the token accounts of an owner. */
export async function checkSolanaEndpoint(network: SolanaNetwork, url: string): Promise<SolanaFindings> {
  const rpc = new SolanaRpc({ network, urls: [url] })
  try {
    const genesis = await rpc.genesisHash()
    const { slot } = await rpc.accounts([clockSysvar])
    await rpc.tokenAccounts(systemProgram, 'token')
    const known = (Object.keys(genesisHashes) as SolanaNetwork[]).find(name => genesisHashes[name] === genesis)
    return { endpoint: rpc.status()[0]!.endpoint, slot, network: known }
  } finally {
    await rpc.close()
  }
}
