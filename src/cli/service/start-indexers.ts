// Starts the configured indexers, EVM chains in a separate thread and Solana networks beside the service, and joins
// them with those of other processes: work is asked of the one that has the chain, and claimed from the others.
import { randomUUID } from 'node:crypto'
import type { ChainTable } from '../../chains.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { AlmanacError, isUsedUp } from '../../errors.ts'
import type { OnDemandChains } from '../../evm/create-evm.ts'
import { IndexingLimits } from '../../keys/indexing-limits.ts'
import type { Log, LogOptions } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { type ChainId, type SolanaNetwork, solanaNetworks } from '../../model.ts'
import { HeartbeatWriter, type Report, Reports } from '../../processes/heartbeat.ts'
import { remoteFreshen } from '../../processes/remote-freshen.ts'
import {
  evmTopic,
  nodesTopic,
  processTopic,
  solanaTopic,
  type Work,
  WorkClaimer,
  type WorkOutcome,
  walletsTopic,
} from '../../processes/remote-work.ts'
import type { AskTransaction } from '../../query/explain.ts'
import type { Freshen, IndexingKey } from '../../query/freshen.ts'
import { createSolana } from '../../solana/network.ts'
import type { StatusReport } from '../../status.ts'
import { openStore } from '../../store/open.ts'
import { StoreRoom } from '../../store/room.ts'
import type { Store } from '../../store/store.ts'
import { Indexer } from './index-thread.ts'
import { Reloader } from './reload.ts'

/** How long the list of this process's chains stays valid: on a shared server another process may take them over. */
const heldMs = 250
const heldMsMax = 5_000
/** Below the time in which a request is answered. */
const balancesWaitMs = 6_000
/** Of one block: finding one by its date may take many. */
const blockMs = 5_000
/** No request waits as long; the reading goes on for the next one. */
const tokenUrisWaitMs = 30_000
const none: OnDemandChains = { contracts: [], wallets: [] }

export type Indexers = {
  freshen: Freshen
  status(): Promise<StatusReport>
  /** Asks the nodes of this process within their limits; undefined if it indexes nothing. */
  askTransaction?: AskTransaction | undefined
  /** The counts of other threads, in the text format of Prometheus. */
  metrics(): Promise<string>
  /** Reads the configuration again; absent where there is none to read. */
  reloader?: Reloader | undefined
}

type Parts = {
  loaded: LoadedConfig
  /** Reads the configuration again; absent where there is none to read. */
  load: (() => LoadedConfig) | undefined
  log: Log
  logOptions: Pick<LogOptions, 'level' | 'format' | 'colours'>
  metrics: Metrics
  /** Takes the log lines of other threads if the terminal shows more than the log. */
  write: ((text: string) => void) | undefined
  /** Closes what is opened here. */
  opened: AsyncDisposableStack
}

/** Opens the store for the thread that serves, and starts the indexers. */
export async function startIndexers(parts: Parts): Promise<{ store: Store; room: StoreRoom; indexers: Indexers }> {
  const { loaded, load, log, logOptions, metrics, write, opened } = parts
  const { config, chains } = loaded
  const hasEvm = Object.keys(config.chains).length > 0
  const evm = hasEvm
    ? await Indexer.start({
        data: {
          store: config.store,
          storeBytesMax: config.limits.storeBytesMax,
          settings: config.chains,
          addedChains: [...chains.added],
          pageSizeMax: config.limits.pageSizeMax,
          retention: { contractDays: config.limits.contractDays, walletDays: config.limits.walletDays },
          goneKeptMs: config.changes.keepDays * 86_400_000,
          log: logOptions,
        },
        log,
        write,
      })
    : undefined
  if (evm !== undefined) opened.defer(() => evm.close())
  // The indexing thread owns the store; without one this thread does.
  const plain = await openStore(config.store, { role: hasEvm ? 'reader' : 'owner' })
  opened.defer(() => plain.close())
  // The indexing thread has its own and says when it pauses; this one is for what the service tells of the store.
  const { room, store } = await watchRoom(plain, { config, opened, log: hasEvm ? undefined : log })
  const { ownerDays } = config.limits
  const solana = createSolana({ settings: config.solana, store, log, metrics, ownerDays })
  opened.defer(() => solana.close())
  // A thread that died has no chains: the store or another process answers.
  const onDemand = staleWhileRevalidate(
    { staleAfterMs: heldMs, expiredAfterMs: heldMsMax },
    async () => (await evm?.far.onDemandChains().catch(() => none)) ?? none,
  )
  const networks = solanaNetworks.filter(network => config.solana[network] !== undefined)
  const status = async () => ({ chains: {}, ...(await evm?.status()), solana: solana.status() })
  const apply = async (next: Config): Promise<void> => {
    await evm?.configure(next.chains)
    await solana.configure(next.solana)
  }
  const reloader = load && new Reloader({ loaded, load, log, apply })
  const perform: Perform = async (work, waitMs) => {
    if (work.kind === 'portfolio') return { freshness: await solana.freshen.portfolio(work.network, work.owner) }
    if (work.kind === 'block') return { block: (await evm?.block(work.chain, work.block, blockMs, work.asker)) ?? null }
    if (work.kind === 'nonce') return { nonce: await nonceOf(work, waitMs) }
    if (work.kind === 'balances') return { balances: await balancesOf(work, waitMs) }
    if (work.kind === 'calls') return { calls: await callsOf(work, waitMs) }
    if (work.kind === 'mint') return { mint: await solana.freshen.mint(work.network, work.mint) }
    if (work.kind === 'reload') return reloader === undefined ? {} : { reload: await reloader.reload() }
    if (work.kind === 'transaction') return { transaction: await transactionOf(work, waitMs) }
    if (work.kind === 'token-uris') await evm?.far.readTokenUris(work.chain, work.tokens, waitMs)
    else if (work.kind === 'contract') await evm?.far.ensureContract(work.chain, work.contract, waitMs, work.asker)
    else await evm?.far.ensureWallet([work.chain], work.wallet, waitMs, work.asker)
    return {}
  }
  const transactionOf = async ({ chain, contract, hash }: Extract<Work, { kind: 'transaction' }>, waitMs: number) => {
    const asked = { chain: chains.byId(chain)?.name ?? '', contract, hash }
    const answer =
      evm === undefined ? 'not asked' : await evm.transaction(asked, AbortSignal.timeout(Math.ceil(waitMs)))
    return answer ?? null
  }
  const balancesOf = async ({ kind: _, asker, ...asked }: Extract<Work, { kind: 'balances' }>, waitMs: number) => {
    const answer = evm === undefined ? undefined : await evm.balances(asked, waitMs, asker)
    if (answer !== undefined) return answer
    throw noNode(chains.byId(asked.chain)?.name ?? `${asked.chain}`)
  }
  const callsOf = async ({ kind: _, asker, ...asked }: Extract<Work, { kind: 'calls' }>, waitMs: number) => {
    const answer = await evm?.calls(asked, waitMs, asker)
    if (answer !== undefined) return answer
    throw noNode(chains.byId(asked.chain)?.name ?? `${asked.chain}`)
  }
  const nonceOf = async ({ kind: _, asker, ...asked }: Extract<Work, { kind: 'nonce' }>, waitMs: number) => {
    const answer = await evm?.nonce(asked, waitMs, asker)
    if (answer !== undefined) return answer
    throw noNode(chains.byId(asked.chain)?.name ?? `${asked.chain}`)
  }
  const withNodes = Object.keys(config.chains).flatMap(name => chains.parse(name)?.id ?? [])
  if (hasEvm || networks.length > 0) {
    const process = randomUUID()
    const topics = async () => [
      ...(reloader === undefined ? [] : [processTopic(process)]),
      ...(await onDemand()).contracts.map(evmTopic),
      ...(await onDemand()).wallets.map(walletsTopic),
      ...withNodes.map(nodesTopic),
      ...networks.map(solanaTopic),
    ]
    const report = async () => ({ ...reportOf(await status(), chains), topics: await topics() })
    const heartbeat = new HeartbeatWriter(store, { process, report, log })
    opened.defer(() => heartbeat.close())
    const claimer = new WorkClaimer({ store, log, topics, perform })
    opened.defer(() => claimer.close())
  }
  return {
    store,
    room,
    indexers: {
      freshen: joinedFreshen({ store, log, onDemand, perform, withNodes, networks }),
      status,
      askTransaction: evm === undefined ? undefined : (asked, signal) => evm.transaction(asked, signal),
      metrics: async () => (await evm?.metrics()) ?? '',
      reloader,
    },
  }
}

/** A store that tells of its room. */
export async function watchRoom(
  plain: Store,
  { config, opened, log }: { config: Config; opened: AsyncDisposableStack; log: Log | undefined },
): Promise<{ store: Store; room: StoreRoom }> {
  const room = await new StoreRoom({ store: plain, bytesMax: config.limits.storeBytesMax, log }).start()
  opened.defer(() => room.close())
  return { store: room.reporting(plain), room }
}

/** Does work with the indexers of this process. */
type Perform = (work: Work, waitMs: number) => Promise<WorkOutcome>

type JoinedParts = {
  store: Store
  log: Log
  onDemand: () => Promise<OnDemandChains>
  perform: Perform
  /** The chains that this process has nodes of. */
  withNodes: readonly ChainId[]
  networks: readonly SolanaNetwork[]
}

/** Asks the indexers of this process for their own chains, and other processes for the rest. */
function joinedFreshen({ store, log, onDemand, perform, withNodes, networks }: JoinedParts): Freshen {
  const limits = new IndexingLimits(store)
  const remote = remoteFreshen(store, new Reports(store), limits)
  return {
    asked: remote.asked,
    async contract(chain, contract, waitMs, key) {
      if (!(await onDemand()).contracts.includes(chain)) return await remote.contract(chain, contract, waitMs, key)
      if (!(await limits.contract(key, chain, contract))) return
      const refused = await quietly(perform({ kind: 'contract', chain, contract, asker: askerOf(key) }, waitMs), log)
      if (refused !== undefined) await limits.refused(refused, key, { chain, contract })
    },
    async wallet(chains, wallet, waitMs, key) {
      const own = (await onDemand()).wallets
      const others = chains.filter(chain => !own.includes(chain))
      const mine = chains.filter(chain => own.includes(chain))
      const asked = others.length > 0 ? [remote.wallet(others, wallet, waitMs, key)] : []
      if (mine.length > 0 && (await limits.wallet(key, wallet))) {
        const asker = askerOf(key)
        asked.push(
          ...mine.map(
            async chain => void (await quietly(perform({ kind: 'wallet', chain, wallet, asker }, waitMs), log)),
          ),
        )
      }
      await Promise.all(asked)
    },
    async balances(asked, key) {
      if (!withNodes.includes(asked.chain)) return await remote.balances(asked, key)
      await limits.balances(key, asked)
      return (await perform({ kind: 'balances', ...asked, asker: askerOf(key) }, balancesWaitMs)).balances!
    },
    async calls(asked, key) {
      const { chain, block, calls, about } = asked
      if (!withNodes.includes(chain)) return await remote.calls(asked, key)
      await limits.balances(key, { ...asked, wallets: about })
      return (await perform({ kind: 'calls', chain, block, calls, asker: askerOf(key) }, balancesWaitMs)).calls!
    },
    async block(chain, block, key) {
      if (!withNodes.includes(chain)) return await remote.block(chain, block, key)
      return (await perform({ kind: 'block', chain, block, asker: key && askerOf(key) }, blockMs)).block ?? undefined
    },
    async nonce(asked, key) {
      if (!withNodes.includes(asked.chain)) return await remote.nonce(asked, key)
      await limits.balances(key, { wallets: [asked.wallet] })
      return (await perform({ kind: 'nonce', ...asked, asker: askerOf(key) }, balancesWaitMs)).nonce!
    },
    async tokenUris(chain, tokens) {
      if (!withNodes.includes(chain)) await remote.tokenUris(chain, tokens)
      else await perform({ kind: 'token-uris', chain, tokens }, tokenUrisWaitMs)
    },
    portfolio: (network, owner, key) =>
      networks.includes(network)
        ? limits.owner(
            key,
            { network, owner },
            async () => (await perform({ kind: 'portfolio', network, owner }, 0)).freshness,
          )
        : remote.portfolio(network, owner, key),
    mint: (network, mint, key) =>
      networks.includes(network)
        ? limits.mint(key, { network, mint }, async () => (await perform({ kind: 'mint', network, mint }, 0)).mint!)
        : remote.mint(network, mint, key),
  }
}

function noNode(chain: string): AlmanacError {
  return new AlmanacError('not_configured', `The chain ${chain} has no node, which this is read from.`, {
    hint: `set chains.${chain}.rpc.`,
  })
}

function reportOf({ chains, solana }: StatusReport, table: ChainTable): Omit<Report, 'topics'> {
  const reported = Object.entries(chains).map(([name, { covered: _, ...status }]) => [
    name,
    { ...status, chain_id: table.parse(name)!.id },
  ])
  return { chains: Object.fromEntries(reported), solana }
}

/** What crosses to the thread: a key's name and hash stay here. */
function askerOf({ id, indexWaiting, indexPerDay }: IndexingKey) {
  return { id, indexWaiting, indexPerDay }
}

/**
 * Without the indexer's help the store still answers, and the answer says that it is not complete. Returns the refusal
 * of a key that has too many waiting, or may have nodes asked no more.
 */
async function quietly(work: Promise<unknown>, log: Log): Promise<AlmanacError | undefined> {
  try {
    await work
  } catch (error) {
    if (isUsedUp(error) || (error instanceof AlmanacError && error.code === 'rate_limited')) return error
    log.debug({ err: error }, 'On-demand indexing failed')
  }
  return undefined
}

export type Ages = {
  /** An older answer is still returned, and renewed in the background. */
  staleAfterMs: number
  /** An older answer is not returned: the caller waits for the new one. */
  expiredAfterMs: number
}

/**
 * For questions to a thread that may be in a long commit: waiting for its answer means waiting for the commit.
 * Measured during a backfill: pages at the 99th percentile took 215 ms with waiting, 18 ms with this.
 */
export function staleWhileRevalidate<T>(
  { staleAfterMs, expiredAfterMs }: Ages,
  ask: () => Promise<T>,
): () => Promise<T> {
  let known: { atMs: number; answer: Promise<T> } | undefined
  let asking: Promise<T> | undefined
  const renew = (): Promise<T> => {
    const answer = ask()
    asking = answer
    const done = (): void => {
      asking = undefined
    }
    answer
      .then(() => {
        known = { atMs: performance.now(), answer }
      }, done)
      .then(done)
    return answer
  }
  return () => {
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.atMs
    if (known !== undefined && ageMs <= staleAfterMs) return known.answer
    const renewed = asking ?? renew()
    return known !== undefined && ageMs <= expiredAfterMs ? known.answer : renewed
  }
}
