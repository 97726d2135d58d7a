// Starts the configured indexers, EVM chains in a separate thread and Solana networks beside the service, and joins
// them with those of other processes: work is asked of the one that has the chain, and claimed from the others.
import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { ChainTable } from '../../chains.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { AlmanacError, fromPlain, toPlain } from '../../errors.ts'
import type { Evm } from '../../evm/create-evm.ts'
import type { Log, LogOptions } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { type ChainId, type SolanaNetwork, type StatusReport, solanaNetworks } from '../../model.ts'
import { HeartbeatWriter, type Report, Reports } from '../../processes/heartbeat.ts'
import { mayIndex, remoteFreshen } from '../../processes/remote-freshen.ts'
import { evmTopic, solanaTopic, type Work, WorkClaimer } from '../../processes/remote-work.ts'
import type { Freshen, PortfolioFreshness } from '../../query/freshen.ts'
import { createSolana } from '../../solana/network.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { callThread, indexingMemory } from '../../threads.ts'
import type { AskTransaction } from '../open-chain.ts'
import type { IndexThreadData, IndexThreadStart } from './index-chains.ts'

/** How long the list of this process's chains stays valid: on a shared server another process may take them over. */
const heldMs = 250
const heldMsMax = 5_000

export type Indexers = {
  freshen: Freshen
  status(): Promise<StatusReport>
  /** Asks the nodes of this process within their limits; undefined if it indexes nothing. */
  askTransaction?: AskTransaction | undefined
  /** The counts of other threads, in the text format of Prometheus. */
  metrics(): Promise<string>
}

type Parts = {
  loaded: LoadedConfig
  log: Log
  logOptions: Pick<LogOptions, 'level' | 'format' | 'colours'>
  metrics: Metrics
  /** Takes the log lines of other threads if the terminal shows more than the log. */
  write: ((text: string) => void) | undefined
  /** Closes what is opened here. */
  opened: AsyncDisposableStack
}

/** Opens the store for the thread that serves, and starts the indexers. */
export async function startIndexers(parts: Parts): Promise<{ store: Store; indexers: Indexers }> {
  const { loaded, log, logOptions, metrics, write, opened } = parts
  const { config, chains } = loaded
  const hasEvm = Object.keys(config.chains).length > 0
  const evm = hasEvm
    ? await startIndexThread(
        {
          store: config.store,
          settings: config.chains,
          addedChains: [...chains.added],
          pageSizeMax: config.limits.pageSizeMax,
          log: logOptions,
        },
        log,
        write,
      )
    : undefined
  if (evm !== undefined) opened.defer(() => evm.close())
  // The indexing thread owns the store; without one this thread does.
  const store = await openStore(config.store, { role: hasEvm ? 'reader' : 'owner' })
  opened.defer(() => store.close())
  const solana = createSolana({ settings: config.solana, store, log, metrics })
  opened.defer(() => solana.close())
  // A thread that died has no chains: the store or another process answers.
  const onDemand = staleWhileRevalidate(
    { staleAfterMs: heldMs, expiredAfterMs: heldMsMax },
    async () => new Set((await evm?.onDemandChains().catch(() => [])) ?? []),
  )
  const networks = solanaNetworks.filter(network => config.solana[network] !== undefined)
  const status = async () => ({ chains: (await evm?.status()) ?? {}, solana: solana.status() })
  const perform: Perform = async (work, waitMs) => {
    if (work.kind === 'portfolio') return await solana.freshen.portfolio(work.network, work.owner)
    if (work.kind === 'contract') await evm?.ensureContract(work.chain, work.contract, waitMs)
    else await evm?.ensureWallet([work.chain], work.wallet, waitMs)
    return undefined
  }
  if (hasEvm || networks.length > 0) {
    const topics = async () => [...[...(await onDemand())].map(evmTopic), ...networks.map(solanaTopic)]
    const report = async () => ({ ...reportOf(await status(), chains), topics: await topics() })
    const heartbeat = new HeartbeatWriter(store, { process: randomUUID(), report, log })
    opened.defer(() => heartbeat.close())
    const claimer = new WorkClaimer({ store, log, topics, perform })
    opened.defer(() => claimer.close())
  }
  return {
    store,
    indexers: {
      freshen: joinedFreshen({ store, log, onDemand, perform, networks }),
      status,
      askTransaction: evm === undefined ? undefined : askThread(evm),
      metrics: async () => (await evm?.metrics()) ?? '',
    },
  }
}

/** A signal cannot cross threads: the call gives up there by itself, a little later than its caller. */
const threadWaitMsMax = 15_000

function askThread(evm: Evm): AskTransaction {
  return async (asked, signal) => {
    const given = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    )
    return await Promise.race([evm.transaction(asked, threadWaitMsMax), given])
  }
}

/** Does work with the indexers of this process. */
type Perform = (work: Work, waitMs: number) => Promise<PortfolioFreshness | undefined>

type JoinedParts = {
  store: Store
  log: Log
  onDemand: () => Promise<ReadonlySet<ChainId>>
  perform: Perform
  networks: readonly SolanaNetwork[]
}

/** Asks the indexers of this process for their own chains, and other processes for the rest. */
function joinedFreshen({ store, log, onDemand, perform, networks }: JoinedParts): Freshen {
  const remote = remoteFreshen(store, new Reports(store))
  return {
    async contract(chain, contract, waitMs, key) {
      if (!(await onDemand()).has(chain)) return await remote.contract(chain, contract, waitMs, key)
      if (!(await mayIndex(store, key, `${chain}/${contract}`))) return
      await quietly(perform({ kind: 'contract', chain, contract }, waitMs), log)
    },
    async wallet(chains, wallet, waitMs, key) {
      const own = await onDemand()
      const others = chains.filter(chain => !own.has(chain))
      const mine = chains.filter(chain => own.has(chain))
      const asked = others.length > 0 ? [remote.wallet(others, wallet, waitMs, key)] : []
      if (mine.length > 0 && (await mayIndex(store, key, wallet)))
        asked.push(...mine.map(chain => quietly(perform({ kind: 'wallet', chain, wallet }, waitMs), log)))
      await Promise.all(asked)
    },
    portfolio: (network, owner) =>
      networks.includes(network) ? perform({ kind: 'portfolio', network, owner }, 0) : remote.portfolio(network, owner),
  }
}

function reportOf({ chains, solana }: StatusReport, table: ChainTable): Omit<Report, 'topics'> {
  const reported = Object.entries(chains).map(([name, { covered: _, ...status }]) => [
    name,
    { ...status, chain_id: table.parse(name)!.id },
  ])
  return { chains: Object.fromEntries(reported), solana }
}

/** Without the indexer's help the store still answers, and the answer says that it is not complete. */
async function quietly(work: Promise<unknown>, log: Log): Promise<void> {
  try {
    await work
  } catch (error) {
    log.debug({ err: error }, 'On-demand indexing failed')
  }
}

/** If the thread dies, calls fail with the reason. `write` takes what the thread writes to stderr. */
async function startIndexThread(data: IndexThreadData, log: Log, write?: (text: string) => void): Promise<Evm> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./index-thread.${extension}`, import.meta.url), {
    workerData: data,
    resourceLimits: indexingMemory,
    stderr: write !== undefined,
  })
  if (write !== undefined) worker.stderr.setEncoding('utf8').on('data', write)
  let running = false
  const { far, fail } = callThread<Evm>(worker)
  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: IndexThreadStart | object) => {
      if (message === 'ready') {
        running = true
        resolve()
      } else if ('failed' in message) {
        reject(fromPlain(message.failed))
        void worker.terminate()
      }
    })
    worker.on('error', error => {
      const failure = fromPlain(toPlain(error))
      fail(failure)
      reject(failure)
    })
    worker.on('exit', code => {
      const ended = new AlmanacError('internal', 'The indexer has stopped.', {
        retryable: true,
        hint: 'restart the service.',
      })
      fail(ended)
      reject(ended)
      if (running) log.error({ code }, 'Indexing thread ended; requests are answered from the store')
    })
  })
  return {
    status: () => far.status(),
    onDemandChains: () => far.onDemandChains(),
    ensureContract: (...parameters) => far.ensureContract(...parameters),
    ensureWallet: (...parameters) => far.ensureWallet(...parameters),
    transaction: (...parameters) => far.transaction(...parameters),
    metrics: () => far.metrics(),
    async close() {
      running = false
      await far.close()
      await worker.terminate()
    },
  }
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
