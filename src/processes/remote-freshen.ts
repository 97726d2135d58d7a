// Freshening by other processes: what cannot be answered fully is asked of one that indexes, where there is one.
import { AlmanacError } from '../errors.ts'
import type { ChainId } from '../model.ts'
import type { Freshen, IndexingKey } from '../query/freshen.ts'
import type { Store } from '../store/store.ts'
import type { Reports } from './heartbeat.ts'
import { evmTopic, type Subject, solanaTopic, WorkDesk } from './work.ts'

/** A portfolio is answered from a reading, so that it is waited for longer than for what is only missing in part. */
const portfolioWaitMs = 10_000

export function remoteFreshen(store: Store, reports: Reports): Required<Freshen> {
  const desk = new WorkDesk(store)
  return {
    async contract(chain, contract, waitMs, key) {
      if (!(await reports.serves(evmTopic(chain)))) return
      if (!(await mayIndex(store, key, `${chain}/${contract}`))) return
      await askQuietly(desk, { kind: 'contract', chain, contract }, waitMs)
    },
    async wallet(chains, wallet, waitMs, key) {
      const served: ChainId[] = []
      for (const chain of chains) if (await reports.serves(evmTopic(chain))) served.push(chain)
      if (served.length === 0 || !(await mayIndex(store, key, wallet))) return
      await Promise.all(served.map(chain => askQuietly(desk, { kind: 'wallet', chain, wallet }, waitMs)))
    },
    async portfolio(network, owner) {
      if (!(await reports.serves(solanaTopic(network)))) {
        if ((await store.portfolioOf(network, owner)) !== undefined) return undefined
        throw new AlmanacError(
          'not_configured',
          `No process runs that reads accounts of Solana ${network}: that takes solana.${network}.rpc and a start without --only api.`,
        )
      }
      const outcome = await desk.ask({ kind: 'portfolio', network, owner }, portfolioWaitMs)
      if (outcome === undefined)
        throw new AlmanacError('timeout', `The account was not read within ${portfolioWaitMs / 1_000} s.`, {
          retryable: true,
        })
      if ('error' in outcome) throw outcome.error
      return outcome.freshness
    },
  }
}

/** How much a key may cause to be indexed is a limit of its own, shared by all processes. */
export async function mayIndex(store: Store, key: IndexingKey, target: string): Promise<boolean> {
  const { id: keyId, indexPerDay: perDay } = key
  return perDay === undefined || (await store.takeIndexing({ keyId, target, perDay }))
}

/** A question is answered from what is stored even when nobody can help; the answer says that it is not complete. */
async function askQuietly(desk: WorkDesk, subject: Subject, waitMs: number): Promise<void> {
  try {
    await desk.ask(subject, waitMs)
  } catch (error) {
    // The store's own failures show in the answer that is read from it next.
    if (!(error instanceof AlmanacError)) throw error
  }
}
