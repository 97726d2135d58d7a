// Runs the EVM chains of one process: an indexer and a transport for each. Its methods take and return plain data, so
// that they can be called from another thread.
import { isDeepStrictEqual } from 'node:util'
import { realClock } from '../abort.ts'
import type { Chain, ChainTable } from '../chains.ts'
import { ledgerId, ledgerName, ledgerOf } from '../ledgers.ts'
import type { Log } from '../log.ts'
import { createEvmMetrics } from '../metrics.ts'
import type {
  Address,
  AskedBalances,
  AskedNonce,
  BlockCalls,
  ChainId,
  Hash,
  NodeBalances,
  NodeBlock,
  NodeCalls,
  ShownToken,
} from '../model.ts'
import type { NodeTransaction } from '../node-transaction.ts'
import type { EndpointSettings } from '../rpc/client.ts'
import { allRequests, BudgetKeeper, DailyBudget } from '../rpc/daily-budget.ts'
import type { RpcObserver } from '../rpc/endpoint.ts'
import { endpointAddresses } from '../rpc/endpoint-address.ts'
import type { BudgetStatus, SocketStatus } from '../status.ts'
import type { StoreRoom } from '../store/room.ts'
import type { Store } from '../store/store.ts'
import { type KeptView, keepsTokens, wholeScopeOf } from '../views.ts'
import { transactionDeriver } from './audit/derive-transaction.ts'
import { ContractAnnotator } from './facts/contract-annotator.ts'
import { callsPerSecond } from './facts/contract-reader.ts'
import { TokenUriReader } from './facts/token-uri-reader.ts'
import type { BackfillSettings } from './index/backfill-control.ts'
import { ChainIndexer, type ChainPace, type ChainSetup } from './index/chain-indexer.ts'
import { ChainLedgers } from './index/chain-ledgers.ts'
import { type Asker, payerOf } from './index/job-queue.ts'
import { LeasedIndexer } from './index/leased-indexer.ts'
import type { RetentionDays } from './index/retention.ts'
import { RateBudget } from './rate-budget.ts'
import { ChainRpc } from './rpc/chain-rpc.ts'
import { HeadsNews } from './rpc/heads.ts'
import { paidBy, type RpcPort } from './rpc/port.ts'
import { readBalances } from './source/balances.ts'
import { BulkSources } from './source/bulk-sources.ts'
import { readCalls } from './source/contract-calls.ts'
import { DecodePool, type Decoder } from './source/decode-pool.ts'
import { readBlock, readNonce } from './source/read-block.ts'
import { type SourceParts, type SourceSettings, sourceSettings, sourcesOf } from './sources.ts'

export type EvmOptions = {
  settings: Readonly<Record<string, EvmChainSettings>>
  chains: ChainTable
  store: Store
  room?: StoreRoom | undefined
  log: Log
  /** The largest page that a request may ask for: a contract with that many rows is answered while it is filled. */
  pageSizeMax: number
  /** Absent: nothing is let go. */
  retention?: RetentionDays | undefined
  /** That parse, check and decode; absent: as many as the machine has cores for. */
  decodeThreads?: number | undefined
  /** One that others use too, and that its owner closes; absent: threads of its own. */
  decoder?: Decoder | undefined
  /** Of every chain; absent: the usual one. */
  pace?: (Partial<ChainPace> & Pick<SourceParts, 'portalRequestsPerSecond'>) | undefined
}

export type EvmStatus = Record<
  string,
  Awaited<ReturnType<LeasedIndexer['status']>> & { ws?: SocketStatus; daily_budget?: BudgetStatus }
>

export type OnDemandChains = { contracts: readonly ChainId[]; wallets: readonly ChainId[] }

/** Its logs of one contract, or of all. */
export type AskedTransaction = { chain: string; contract: Address | undefined; hash: Hash }

/** Every method that asks nodes does so within what `daily_budget` leaves to requests; `asker` is the key of one. */
export type Evm = {
  status(): Promise<EvmStatus>
  /** The ledgers of which this process answers for contracts, or for wallets, on demand: tokens of any chain. */
  onDemandChains(): Promise<OnDemandChains>
  /** Fails with `rate_limited` if too many of the key wait already. */
  ensureContract(chain: ChainId, contract: Address, waitMs: number, asker: Asker): Promise<void>
  ensureWallet(chains: readonly ChainId[], wallet: Address, waitMs: number, asker: Asker): Promise<void>
  /** Returns when the tokens are read or given up, or the time is over. */
  readTokenUris(chain: ChainId, tokens: readonly ShownToken[], waitMs: number): Promise<void>
  /** One endpoint's word of a block; undefined if it has none such, or the chain is not one of these. */
  block(chain: ChainId, block: number | Hash, waitMs: number, asker?: Asker): Promise<NodeBlock | undefined>
  /** What a node says of a transaction, within the chain's limits; `not asked` if the chain is not one of these. */
  transaction(asked: AskedTransaction, waitMs: number): Promise<NodeTransaction | undefined | 'not asked'>
  /** How many transactions a wallet sent, by a node's word; undefined if the chain is not one of these. */
  nonce(asked: AskedNonce, waitMs: number, asker?: Asker): Promise<number | undefined>
  /** Native balances by a node, within the chain's limits; undefined if the chain is not one of these. */
  balances(asked: AskedBalances, waitMs: number, asker?: Asker): Promise<NodeBalances | undefined>
  /** What contracts say, by a node, within the chain's limits; undefined if the chain is not one of these. */
  calls(asked: BlockCalls, waitMs: number, asker?: Asker): Promise<NodeCalls | undefined>
  /** Takes endpoints, their limits and the pace of history from another reading of the settings, chain by chain. */
  configure(settings: Readonly<Record<string, EvmChainSettings>>): Promise<void>
  /** In Prometheus text format. */
  metrics(): Promise<string>
  close(): Promise<void>
}

export function createEvm(options: EvmOptions): Evm {
  const { settings, chains, store, room, log, pageSizeMax, retention, pace, decodeThreads: threads } = options
  const metrics = createEvmMetrics()
  const pool = options.decoder === undefined ? new DecodePool(threads === undefined ? {} : { threads }) : undefined
  const decoder = options.decoder ?? pool!
  const running = Object.entries(settings).map(([name, chainSettings]) => startChain(name, chainSettings))
  // Those that no node is asked about are as if they were not here.
  const asked = (id: ChainId) => running.find(({ chain, hasNode }) => chain === id && hasNode)
  const portFor = ({ rpc }: { rpc: RpcPort }, asker: Asker | undefined): RpcPort =>
    paidBy(rpc, (asker && payerOf(asker)) ?? allRequests)
  const ledgersOf = (id: ChainId): ChainLedgers | undefined => running.find(({ chain }) => chain === id)?.ledgers()

  function startChain(name: string, settings: EvmChainSettings) {
    const { index, views, from, contracts, senderSample } = settings
    const observer: RpcObserver = {
      request: ({ endpoint, outcome, elapsedMs, bytes }) => {
        metrics.rpcRequests.inc({ chain: name, endpoint, outcome })
        if (outcome !== 'cancelled') metrics.rpcDuration.observe({ chain: name, endpoint }, elapsedMs / 1_000)
        metrics.rpcBytes.inc({ chain: name, endpoint }, bytes)
      },
      hedge: ({ endpoint }) => metrics.rpcHedges.inc({ chain: name, endpoint }),
    }
    const { chain, rpc, budget: firstBudget } = connectChain(name, settings, { chains, observer })
    const hasNode = settings.rpc.length > 0
    let daily = firstBudget
    let keeper = daily && new BudgetKeeper(daily, store)
    const { pollMs, backgroundPerSecond } = paceOf(chain, settings)
    const { backfill } = settings
    const sources = (given: SourceSettings, of = chain) =>
      sourcesOf(given, { ...pace, chain: of, rpc, decoder, log, store })
    const bulk = new BulkSources(sources(settings))
    // Of the ledger of tokens, where it is indexed in full: what a source was refused for is of one ledger.
    const tokenChain = { ...chain, id: ledgerId(chain.id, 'erc20') }
    const tokenBulk = new BulkSources(keepsTokens(views) ? sources(settings, tokenChain) : [])
    const setup: ChainSetup = { index, views, from, contracts, chain, pollMs, backfill, senderSample, retention }
    const heads = new HeadsNews(settings.ws)
    const budget = new RateBudget(backgroundPerSecond)
    // Of its own: names of contracts must not make those wait that a request shows.
    const uriBudget = new RateBudget(backgroundPerSecond)
    const hasRoom = () => room?.full === undefined
    const forRequests = paidBy(rpc, allRequests)
    const tokenUris = new TokenUriReader({ chain, store, hasRoom, rpc: forRequests, budget: uriBudget, metrics, log })
    const makeLedgers = (own: Store) => {
      const makeIndexer = (of: ChainSetup) => {
        const { id } = of.chain
        const { ledger } = ledgerOf(id)
        const named = { id, name: ledgerName(name, ledger) }
        const shared = { store: own, rpc, metrics, log }
        const annotator = hasNode ? new ContractAnnotator({ ...shared, chain: named, budget }) : undefined
        const history = ledger === 'nft' ? bulk : tokenBulk
        const parts = { ...shared, bulk: history, room, decoder, annotator, pageSizeMax, pace }
        return new ChainIndexer({ ...of, onNews: look => heads.tell(look), ...parts })
      }
      return new ChainLedgers({ setup, store: own, hasNode, makeIndexer })
    }
    // A file has one owner; several processes on a server may want to index the same chain.
    const leased = store.engine === 'postgres' ? new LeasedIndexer({ setup, store, log, makeLedgers }) : undefined
    const alone = leased === undefined ? makeLedgers(store) : undefined
    const job = leased ?? alone!
    job.start()
    const derive = transactionDeriver(chain, forRequests)
    const ledgers = () => leased?.ledgers ?? alone
    const configure = async (next: EvmChainSettings): Promise<void> => {
      if (next.dailyBudget !== daily?.callsPerDay) {
        await keeper?.close()
        daily = dailyBudgetOf(name, next)
        keeper = daily && new BudgetKeeper(daily, store)
      }
      rpc.setEndpoints(endpointsOf(next, daily))
      const { pollMs, backgroundPerSecond } = paceOf(chain, next)
      for (const each of [budget, uriBudget]) each.perSecond = backgroundPerSecond
      heads.move(next.ws)
      const isSame = isDeepStrictEqual(sourceSettings(next), sourceSettings(settings))
      bulk.configure(isSame ? undefined : sources(next))
      if (keepsTokens(views)) tokenBulk.configure(isSame ? undefined : sources(next, tokenChain))
      settings = next
      // An indexer that is made later, when this process takes the chain over, reads them from there.
      Object.assign(setup, { pollMs, backfill: next.backfill })
      ledgers()?.configure(setup)
    }
    const status = async () => ({
      ...(await job.status()),
      ...heads.status(),
      ...(daily === undefined ? {} : { daily_budget: { calls: daily.callsPerDay, left: Math.max(0, daily.left) } }),
    })
    const closeBudget = async () => await keeper?.close()
    return {
      closeBudget,
      configure,
      name,
      chain: chain.id,
      job,
      status,
      ledgers,
      rpc,
      bulks: [bulk, tokenBulk],
      hasNode,
      derive,
      tokenUris,
    }
  }

  return {
    async status() {
      const entries = await Promise.all(running.map(async ({ name, status }) => [name, await status()] as const))
      return Object.fromEntries(entries)
    },
    async onDemandChains() {
      // On a shared server another process may have a chain.
      const own = running.flatMap(({ ledgers, hasNode }) => (hasNode ? (ledgers() ?? []) : []))
      const contracts = own.flatMap(({ setup, onDemand }) => onDemand.map(ledger => ledgerId(setup.chain.id, ledger)))
      const setups = own.map(({ setup }) => setup)
      const wallets = setups.filter(({ index, views }) => index === 'on-demand' || wholeScopeOf(views) === 'transfers')
      return { contracts, wallets: wallets.map(({ chain }) => chain.id) }
    },
    async ensureContract(id, contract, waitMs, asker) {
      const { chain, ledger } = ledgerOf(id)
      await ledgersOf(chain)?.of(ledger)?.ensureContract(contract, waitMs, asker)
    },
    async ensureWallet(ids, wallet, waitMs, asker) {
      await Promise.all(ids.map(id => ledgersOf(id)?.nft.ensureWallet(wallet, waitMs, asker)))
    },
    async readTokenUris(id, tokens, waitMs) {
      await asked(id)?.tokenUris.ensure(tokens, waitMs)
    },
    async block(id, block, waitMs, asker) {
      const found = asked(id)
      return found && (await readBlock(portFor(found, asker), block, AbortSignal.timeout(waitMs)))
    },
    async transaction({ chain, contract, hash }, waitMs) {
      const found = running.find(({ name, hasNode }) => name === chain && hasNode)
      return found === undefined ? 'not asked' : await found.derive(contract, hash, AbortSignal.timeout(waitMs))
    },
    async nonce(question, waitMs, asker) {
      const found = asked(question.chain)
      return found && (await readNonce(portFor(found, asker), question, waitMs))
    },
    async balances(question, waitMs, asker) {
      const found = asked(question.chain)
      if (found === undefined) return undefined
      return await readBalances({ chain: found, rpc: portFor(found, asker) }, question, waitMs)
    },
    async calls(question, waitMs, asker) {
      const found = asked(question.chain)
      if (found === undefined) return undefined
      return await readCalls({ chain: found, rpc: portFor(found, asker) }, question, waitMs)
    },
    async configure(settings) {
      for (const { name, configure } of running) if (settings[name] !== undefined) await configure(settings[name])
    },
    metrics() {
      for (const { ledgers } of running) ledgers()?.measure()
      return metrics.registry.metrics()
    },
    async close() {
      await Promise.all(running.flatMap(({ job, tokenUris }) => [job.stop(), tokenUris.stop()]))
      await Promise.all(running.flatMap(({ bulks }) => bulks.map(bulk => bulk.close())))
      await Promise.all([pool?.close(), ...running.map(({ rpc }) => rpc.close())])
      await Promise.all(running.map(({ closeBudget }) => closeBudget()))
    },
  }
}

/** The settings of one chain. */
export type EvmChainSettings = SourceSettings & {
  /** Empty where the chain is an archive. */
  rpc: readonly string[]
  ws?: string | undefined
  index: 'full' | 'on-demand'
  /** Absent: every view. */
  views?: readonly KeptView[] | undefined
  from: number
  contracts: readonly Address[]
  requestsPerSecond?: number | undefined
  dailyBudget?: number | undefined
  finality?: 'tag' | number | undefined
  headAgeMaxSeconds?: number | undefined
  senderSample?: number | undefined
  backfill?: BackfillSettings | undefined
}

/** An operator who names a depth below the chain's least one means it. */
function byDepth({ finalDepthMin }: Chain, finalityDepth: number): Partial<Chain> {
  return { finalizedTag: false, finalityDepth, finalDepthMin: Math.min(finalDepthMin, finalityDepth) }
}

export type ConnectedChain = { chain: Chain; rpc: ChainRpc; budget: DailyBudget | undefined }

/** The chain as configured, and a transport to its endpoints. It asks nothing yet. */
export function connectChain(
  name: string,
  settings: Limits & Pick<EvmChainSettings, 'finality' | 'headAgeMaxSeconds'>,
  { chains, observer }: { chains: ChainTable; observer: RpcObserver },
): ConnectedChain {
  const { finality, headAgeMaxSeconds } = settings
  const known = chains.parse(name)
  if (known === undefined) throw new Error(`The chain table lacks ${name}.`)
  const chain = {
    ...known,
    ...(finality === 'tag' ? { finalizedTag: true } : {}),
    ...(typeof finality === 'number' ? byDepth(known, finality) : {}),
    ...(headAgeMaxSeconds === undefined ? {} : { headAgeMaxSeconds }),
  }
  const budget = dailyBudgetOf(name, settings)
  return { chain, budget, rpc: new ChainRpc({ chain, endpoints: endpointsOf(settings, budget), observer }) }
}

type Limits = Pick<EvmChainSettings, 'rpc' | 'requestsPerSecond' | 'dailyBudget'>

function dailyBudgetOf(name: string, { dailyBudget }: Limits): DailyBudget | undefined {
  const setting = `chains.${name}.daily_budget`
  return dailyBudget === undefined ? undefined : new DailyBudget(dailyBudget, realClock, setting)
}

/** Limits are set for the whole chain: each endpoint gets its share of the rate, and all share one daily budget. */
function endpointsOf({ rpc: urls, requestsPerSecond }: Limits, budget: DailyBudget | undefined): EndpointSettings[] {
  const share = requestsPerSecond === undefined ? undefined : requestsPerSecond / urls.length
  return urls.map(url => ({ url, requestsPerSecond: share, budget }))
}

/** How often sources without a node are checked for new blocks. */
const archivePollMs = 15_000

/** How often the head is asked for, and what background work may ask: often of own nodes, less often elsewhere. */
function paceOf(chain: Chain, { rpc: urls, requestsPerSecond, dailyBudget: requestsPerDay }: Limits) {
  const isPrivate = endpointAddresses(urls).every(address => address.isPrivate)
  return {
    pollMs: urls.length === 0 ? archivePollMs : isPrivate ? 250 : Math.min(5_000, Math.max(500, chain.blockTimeMs / 2)),
    backgroundPerSecond: callsPerSecond({ isPrivate, requestsPerSecond, requestsPerDay }),
  }
}
