// Who is indexed next, fairly between keys: keys take turns, a long job gives its place up when its turn is over and
// another key waits, and a key has a bounded number waiting. Requests for the same contract or wallet share one job. It
// does not know what a job does.
import { pause } from '../../abort.ts'
import { AlmanacError, isUsedUp } from '../../errors.ts'
import type { Address } from '../../model.ts'
import type { Payer } from '../../rpc/daily-budget.ts'
import type { QueueStatus } from '../../status.ts'
import type { KeyRecord } from '../../store/key-store.ts'

/** The key that a job is for. A process of an earlier version does not tell its limit a day. */
export type Asker = Pick<KeyRecord, 'id' | 'indexWaiting'> & Partial<Pick<KeyRecord, 'indexPerDay'>>

/** What the operator asks for, in the configuration. */
export const operator: Asker = { id: '', indexWaiting: undefined }

/** Who pays for the calls to nodes; undefined: the operator, from all of `daily_budget`. */
export function payerOf({ id, indexPerDay }: Asker): Payer | undefined {
  return id === operator.id ? undefined : { id, hasShare: indexPerDay !== undefined }
}

type Waiting = { start: () => void; refuse: (error: AlmanacError) => void }

export type JobQueueOptions = { runningMax: number; waitingMax: number; turnMs?: number }

export class JobQueue {
  readonly #options: Required<JobQueueOptions>
  /** By key, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>()
  #running = 0

  constructor(options: JobQueueOptions) {
    this.#options = { turnMs: 10_000, ...options }
  }

  get status(): QueueStatus {
    const { runningMax, waitingMax } = this.#options
    return { running: this.#running, running_max: runningMax, waiting: this.#count, waiting_max: waitingMax }
  }

  get #count(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /**
   * Runs the work until it returns true. It gets a signal to stop at, because its turn is over, and is run again in the
   * key's next turn if it then returns false. `what` names it in a refusal.
   */
  async run(what: string, asker: Asker, work: (turn: AbortSignal) => Promise<boolean>): Promise<void> {
    if (this.#running < this.#options.runningMax) this.#running++
    else {
      this.#admit(what, asker)
      await this.#wait(asker)
    }
    let holdsPlace = true
    try {
      while (!(await this.#turn(asker, work))) {
        holdsPlace = false
        const again = this.#wait(asker)
        this.#handOver()
        await again
        holdsPlace = true
      }
    } finally {
      // A job that ends hands its place to the next one, so that no newcomer slips in.
      if (holdsPlace) this.#handOver()
    }
  }

  async #turn(asker: Asker, work: (turn: AbortSignal) => Promise<boolean>): Promise<boolean> {
    const turn = new AbortController()
    const timer = setInterval(() => {
      if ([...this.#waiting.keys()].some(key => key !== asker.id)) turn.abort()
    }, this.#options.turnMs)
    try {
      return await work(turn.signal)
    } finally {
      clearInterval(timer)
    }
  }

  #wait({ id }: Asker): Promise<void> {
    return new Promise((start, refuse) => {
      const own = this.#waiting.get(id) ?? []
      own.push({ start, refuse })
      this.#waiting.set(id, own)
    })
  }

  #admit(what: string, asker: Asker): void {
    const own = this.#waiting.get(asker.id)?.length ?? 0
    if (own >= (asker.indexWaiting ?? Number.POSITIVE_INFINITY)) throw tooManyOfKey(asker)
    if (this.#count >= this.#options.waitingMax) this.#makeRoom(what, own)
  }

  /** The last one of the key that has most waiting gives way to a key that has fewer. */
  #makeRoom(what: string, own: number): void {
    const message = `The indexing queue is full (${this.#count} ${what} waiting).`
    const full = new AlmanacError('overloaded', message, { retryable: true, hint: 'ask again later.' })
    const [most, waiting] = [...this.#waiting].reduce((a, b) => (b[1].length > a[1].length ? b : a), ['', []])
    if (waiting.length <= own + 1) throw full
    waiting.pop()?.refuse(full)
    if (waiting.length === 0) this.#waiting.delete(most)
  }

  #handOver(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#running--
      return
    }
    const [key, jobs] = first
    const next = jobs.shift()!
    this.#waiting.delete(key)
    if (jobs.length > 0) this.#waiting.set(key, jobs)
    next.start()
  }
}

/** Work under way, and the key that pays for it. */
type SharedJob = { done: Promise<void>; asker: Asker }

/** The jobs of a queue, at most one for each address. */
export class SharedJobs {
  readonly #queue: JobQueue
  readonly #underWay = new Map<Address, SharedJob>()
  /** Names the addresses in a refusal. */
  readonly #what: string

  constructor(what: string, options: JobQueueOptions) {
    this.#what = what
    this.#queue = new JobQueue(options)
  }

  get status(): QueueStatus {
    return this.#queue.status
  }

  get size(): number {
    return this.#underWay.size
  }

  has(address: Address): boolean {
    return this.#underWay.has(address)
  }

  /** As the queue runs it, unless there is a job for the address already: then it resolves with that. */
  run(
    address: Address,
    asker: Asker,
    signal: AbortSignal,
    work: (turn: AbortSignal) => Promise<boolean>,
  ): Promise<void> {
    const known = this.#underWay.get(address)
    if (known !== undefined) {
      if (known.asker.id === asker.id) return known.done
      return known.done.catch(error => {
        // The other key has used up its share; this one may have something left of its own.
        if (isUsedUp(error) && !signal.aborted) return this.run(address, asker, signal, work)
        throw error
      })
    }
    const done = this.#queue.run(this.#what, asker, work).finally(() => this.#underWay.delete(address))
    this.#underWay.set(address, { done, asker })
    return done
  }
}

/** Until it is done or has failed, at most so long. Fails only if the queue or a share of calls refused it. */
export async function waitFor(work: Promise<unknown>, waitMs: number): Promise<void> {
  const waited = new AbortController()
  // Work that goes on after the wait no longer concerns the request, nor does its failure: the status shows it.
  await Promise.race([work.catch(throwIfRefused), pause(waitMs, waited.signal)]).finally(() => waited.abort())
}

function throwIfRefused(error: unknown): void {
  if (isUsedUp(error) || (error instanceof AlmanacError && error.code === 'rate_limited')) throw error
}

/** The process that serves words it for the client: it knows the command that raises the limit. */
function tooManyOfKey({ indexWaiting }: Asker): AlmanacError {
  const message = `${indexWaiting} of this key wait to be indexed.`
  return new AlmanacError('rate_limited', message, { retryable: true, retryAfterMs: 1_000 })
}
