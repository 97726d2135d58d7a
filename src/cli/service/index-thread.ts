// The indexing thread as the rest of the service sees it: started, started again when it ends, and asked with a bound
// on the time. Where it does not answer, the last known status says so.
import { within } from '../../abort.ts'
import { AlmanacError, messageOf } from '../../errors.ts'
import type { EvmStatus } from '../../evm/create-evm.ts'
import { older } from '../../head-age.ts'
import type {
  AskedBalances,
  AskedNonce,
  BlockCalls,
  ChainId,
  Hash,
  NodeBalances,
  NodeBlock,
  NodeCalls,
} from '../../model.ts'
import type { Asker } from '../../processes/remote-work.ts'
import type { AskTransaction } from '../../query/explain.ts'
import type { IndexerStatus } from '../../status.ts'
import { threadModule } from '../../threads.ts'
import { type Far, type SupervisedOptions, SupervisedThread, silentMs } from '../../worker-thread.ts'
import { exitCodes } from '../current-process.ts'
import type { IndexThread, IndexThreadData } from './index-chains.ts'

/** Below the two seconds in which `/ready` and `/status` answer. */
const answerMs = 1_500
/** A signal cannot cross threads: the call gives up there by itself, a little later than its caller. */
const transactionMs = 15_000

export type IndexThreadOptions = Pick<SupervisedOptions, 'log' | 'write' | 'silentMsMax' | 'memory'> & {
  data: IndexThreadData
  module?: URL
}

type Last = { atMs: number; chains: EvmStatus }

export class Indexer {
  readonly #thread: SupervisedThread<IndexThread>
  readonly #data: IndexThreadData
  readonly #silentMsMax: number
  #last: Last | undefined
  /** Since when it owes a status. */
  #askedMs: number | undefined

  static async start(options: IndexThreadOptions): Promise<Indexer> {
    const module = threadModule('index-chains', import.meta.url)
    // What supervises the process starts it again.
    const giveUp = () => process.exit(exitCodes.tryLater)
    const thread = await SupervisedThread.start<IndexThread>({ name: 'The indexer', module, giveUp, ...options })
    const indexer = new Indexer(thread, options)
    // Who asks before its first answer would be shown no chain. On a busy machine they may take a while.
    await within(indexer.#silentMsMax, indexer.#ask(), () => silent).catch(() => {})
    return indexer
  }

  private constructor(thread: SupervisedThread<IndexThread>, options: IndexThreadOptions) {
    const { data, silentMsMax = silentMs } = options
    this.#thread = thread
    this.#data = data
    this.#silentMsMax = silentMsMax
  }

  /** Takes other endpoints, limits and paces. A thread that has ended starts again with them. */
  async configure(settings: IndexThreadData['settings']): Promise<void> {
    this.#data.settings = settings
    if (this.#thread.isReady) await this.far.configure(settings)
  }

  /** Calls that take as long as they say. */
  get far(): Far<IndexThread> {
    return this.#thread.far
  }

  /**
   * What the thread last said where it does not answer soon: it may be in a long commit, or the machine is busy. Once
   * it was ended, or owes its status for as long as it may be silent: the same as stalled, with the reason.
   */
  async status(): Promise<{ chains: EvmStatus; indexer: IndexerStatus }> {
    const { restarts, reason } = this.#thread
    const known = { restarts, ...(reason === undefined ? {} : { last_restart: reason }) }
    try {
      // One that comes late is the next one's last.
      const chains = await soon(this.#ask())
      return { chains, indexer: { answers: true, ...known } }
    } catch (error) {
      if (this.#thread.isReady) {
        // An error that it answers with is an answer.
        if (error !== silent) throw error
        if (performance.now() - (this.#askedMs ?? performance.now()) < this.#silentMsMax)
          return { chains: this.#last?.chains ?? {}, indexer: { answers: true, ...known } }
      }
      return { chains: stalled(this.#last, silence(error)), indexer: { answers: false, ...known } }
    }
  }

  async #ask(): Promise<EvmStatus> {
    this.#askedMs ??= performance.now()
    try {
      const chains = await this.far.status()
      this.#last = { atMs: performance.now(), chains }
      return chains
    } finally {
      this.#askedMs = undefined
    }
  }

  /** Empty where the thread does not answer: its counts have gone, or come later. */
  async metrics(): Promise<string> {
    return await soon(this.far.metrics()).catch(() => '')
  }

  async transaction(...[asked, signal]: Parameters<AskTransaction>): ReturnType<AskTransaction> {
    const given = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    )
    return await Promise.race([this.far.transaction(asked, transactionMs), given])
  }

  balances(asked: AskedBalances, waitMs: number, asker?: Asker): Promise<NodeBalances | undefined> {
    return this.#inTime(waitMs, this.far.balances(asked, waitMs, asker))
  }

  calls(asked: BlockCalls, waitMs: number, asker?: Asker): Promise<NodeCalls | undefined> {
    return this.#inTime(waitMs, this.far.calls(asked, waitMs, asker))
  }

  nonce(asked: AskedNonce, waitMs: number, asker?: Asker): Promise<number | undefined> {
    return this.#inTime(waitMs, this.far.nonce(asked, waitMs, asker))
  }

  block(chain: ChainId, block: number | Hash, waitMs: number, asker?: Asker): Promise<NodeBlock | undefined> {
    return this.#inTime(waitMs, this.far.block(chain, block, waitMs, asker))
  }

  async #inTime<T>(waitMs: number, answer: Promise<T>): Promise<T> {
    try {
      return await within(waitMs + answerMs, answer, () => silent)
    } catch (error) {
      // A thread that starts again answers soon.
      throw this.#thread.isReady ? error : silent
    }
  }

  async close(): Promise<void> {
    await this.#thread.close(far => far.close())
  }
}

function soon<T>(answer: Promise<T>): Promise<T> {
  return within(answerMs, answer, () => silent)
}

const silent = new AlmanacError('timeout', 'The indexer does not answer.', { retryable: true })

function silence(error: unknown): string {
  if (error === silent) return silent.message
  const why = messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
  return `The indexer does not answer: it ended (${why}) and starts again.`
}

function stalled(last: Last | undefined, reason: string): EvmStatus {
  if (last === undefined) return {}
  const silentSeconds = Math.round((performance.now() - last.atMs) / 1_000)
  return Object.fromEntries(
    Object.entries(last.chains).map(([name, status]) => [
      name,
      {
        ...{ ...status, state: 'stalled', reason, lag_seconds: status.lag_seconds + silentSeconds },
        head_age_seconds: older(status.head_age_seconds, silentSeconds),
      },
    ]),
  )
}
