// Asks nodes for a transaction: those of this process, or those of another one on the same store.
import { untilAborted } from '../abort.ts'
import type { ChainTable } from '../chains.ts'
import { AlmanacError } from '../errors.ts'
import type { AskTransaction } from '../query/explain.ts'
import type { Store } from '../store/store.ts'
import { Reports } from './heartbeat.ts'
import { nodesTopic, RemoteWork } from './remote-work.ts'

const waitMs = 10_000

type Parts = {
  store: Store
  chains: ChainTable
  /** Answers `not asked` for a chain that this process has no node of. */
  own: AskTransaction
}

export function askAnyProcess({ store, chains, own }: Parts): AskTransaction {
  const reports = new Reports(store)
  const remote = new RemoteWork(store)
  return async (asked, signal) => {
    const answer = await own(asked, signal)
    const chain = chains.parse(asked.chain)?.id
    if (answer !== 'not asked' || chain === undefined || !(await reports.serves(nodesTopic(chain)))) return answer
    const { contract, hash } = asked
    const result = await untilAborted(remote.ask({ kind: 'transaction', chain, contract, hash }, waitMs), signal)
    if (result === undefined) {
      const message = `The process with nodes of ${asked.chain} did not answer within ${waitMs / 1_000} s.`
      throw new AlmanacError('timeout', message, { retryable: true })
    }
    if ('error' in result) throw result.error
    const { transaction = 'not asked' } = result
    return transaction ?? undefined
  }
}
