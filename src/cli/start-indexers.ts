// Starts what the configuration asks to be indexed: EVM chains in a thread of their own, Solana networks beside the service.
import type { StatusReport } from '../api/status-report.ts'
import type { LoadedConfig } from '../config/load.ts'
import { messageOf } from '../errors.ts'
import { IndexAllowance } from '../keys/index-allowance.ts'
import type { Log, LogOptions } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Freshen } from '../query/freshen.ts'
import { createSolana } from '../solana/create-solana.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { startIndexThread } from './start-index-thread.ts'

export type Indexers = {
  freshen: Freshen
  status(): Promise<StatusReport>
  /** What other threads count, in the text format of Prometheus. */
  metrics(): Promise<string>
}

type Parts = {
  loaded: LoadedConfig
  log: Log
  logOptions: Pick<LogOptions, 'level' | 'format' | 'colours'>
  metrics: Metrics
  /** Takes the lines of other threads where a terminal shows more than the log. */
  write: ((text: string) => void) | undefined
  /** What is opened here is closed with it. */
  opened: AsyncDisposableStack
}

/** Opens the store for the thread that serves, and starts the indexers around it. */
export async function startIndexers(parts: Parts): Promise<{ store: Store; indexers: Indexers }> {
  const { loaded, log, logOptions, metrics, write, opened } = parts
  const { config, chains } = loaded
  const hasEvm = Object.keys(config.chains).length > 0
  const evm = hasEvm
    ? await startIndexThread(
        { store: config.store, settings: config.chains, addedChains: [...chains.added], log: logOptions },
        log,
        write,
      )
    : undefined
  if (evm !== undefined) opened.defer(() => evm.close())
  // The thread owns the store; without one this is the owner.
  const store = await openStore(config.store, { role: hasEvm ? 'reader' : 'owner' })
  opened.defer(() => store.close())
  const solana = createSolana({ settings: config.solana, store, log, metrics })
  opened.defer(() => solana.close())
  const allowance = new IndexAllowance(store)
  const onDemand = new Set(
    Object.entries(config.chains).flatMap(([name, { index }]) =>
      index === 'on-demand' ? [chains.parse(name)?.id] : [],
    ),
  )
  const hasSolana = Object.values(config.solana).some(settings => settings !== undefined)
  return {
    store,
    indexers: {
      freshen: {
        ...(hasSolana ? solana.freshen : {}),
        ...(evm === undefined
          ? {}
          : {
              async contract(chain, contract, waitMs, key) {
                if (!onDemand.has(chain) || !(await allowance.take(key, `${chain}/${contract}`))) return
                await quietly(evm.ensureContract(chain, contract, waitMs), log)
              },
              async wallet(ids, wallet, waitMs, key) {
                const asked = ids.filter(id => onDemand.has(id))
                if (asked.length === 0 || !(await allowance.take(key, wallet))) return
                await quietly(evm.ensureWallet(asked, wallet, waitMs), log)
              },
            }),
      },
      status: async () => ({ chains: (await evm?.status()) ?? {}, solana: solana.status() }),
      metrics: async () => (await evm?.metrics()) ?? '',
    },
  }
}

/** A question is answered from what is stored even when the indexer cannot help; the answer says that it is not complete. */
async function quietly(work: Promise<void>, log: Log): Promise<void> {
  try {
    await work
  } catch (error) {
    log.debug(`Nothing was indexed on demand: ${messageOf(error)}`)
  }
}
