// Freshening by other processes: asks one that indexes for what cannot be answered fully here.
import { AlmanacError } from '../errors.ts'
import type { ChainId } from '../model.ts'
import type { Freshen, IndexingKey } from '../query/freshen.ts'
import type { Store } from '../store/store.ts'
import type { Reports } from './heartbeat.ts'
import { evmTopic, RemoteWork, solanaTopic, type Work } from './remote-work.ts'

/** A portfolio needs a reading, so it is waited for longer than what is only partly missing. */
const portfolioWaitMs = 10_000

export function remoteFreshen(store: Store, reports: Reports): Required<Freshen> {
  const remote = new RemoteWork(store)
  return {
    async contract(chain, contract, waitMs, key) {
      if (!(await reports.serves(evmTopic(chain)))) return
      if (!(await mayIndex(store, key, `${chain}/${contract}`))) return
      await askQuietly(remote, { kind: 'contract', chain, contract }, waitMs)
    },
    async wallet(chains, wallet, waitMs, key) {
      const served: ChainId[] = []
      for (const chain of chains) if (await reports.serves(evmTopic(chain))) served.push(chain)
      if (served.length === 0 || !(await mayIndex(store, key, wallet))) return
      await Promise.all(served.map(chain => askQuietly(remote, { kind: 'wallet', chain, wallet }, waitMs)))
    },
    async portfolio(network, owner) {
      if (!(await reports.serves(solanaTopic(network)))) {
        if ((await store.portfolioOf(network, owner)) !== undefined) return undefined
        throw new AlmanacError(
          'not_configured',
          `No process reads accounts of Solana ${network}: one needs solana.${network}.rpc and a start without --only api.`,
        )
      }
      const result = await remote.ask({ kind: 'portfolio', network, owner }, portfolioWaitMs)
      if (result === undefined)
        throw new AlmanacError('timeout', `The account was not read within ${portfolioWaitMs / 1_000} s.`, {
          retryable: true,
        })
      if ('error' in result) throw result.error
      return result.freshness
    },
  }
}

/** Counts against the indexing limit of a key, which all processes share. */
export async function mayIndex(store: Store, key: IndexingKey, target: string): Promise<boolean> {
  const { id: keyId, indexPerDay: perDay } = key
  if (perDay === undefined) return true
  try {
    return await store.takeIndexing({ keyId, target, perDay })
  } catch (error) {
    // Nothing could be stored either: the answer is what is there.
    if (error instanceof AlmanacError && error.code.startsWith('store_')) return false
    throw error
  }
}

/** Without help the store still answers, and the answer says that it is not complete. */
async function askQuietly(remote: RemoteWork, work: Work, waitMs: number): Promise<void> {
  try {
    await remote.ask(work, waitMs)
  } catch (error) {
    // A failure of the store shows in the next answer read from it.
    if (!(error instanceof AlmanacError)) throw error
  }
}
