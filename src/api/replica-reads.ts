// Answers from a replica where one is close enough, and from the store otherwise: all reads of one answer from one of both, so that what
// it claims and what it holds are of one moment.
import { AlmanacError } from '../errors.ts'
import type { ReadReplica, Store } from '../store/store.ts'

/** Something that answers from one store, made once for each. */
export class ReplicaReads<Reader> {
  readonly #replica: ReadReplica | undefined
  readonly #make: (store: Store) => Reader
  #known: { store: Store; reader: Reader } | undefined

  constructor(replica: ReadReplica | undefined, make: (store: Store) => Reader) {
    this.#replica = replica
    this.#make = make
  }

  /** Undefined where the replica is not used, or failed, or its answer is not good enough: then the store has to be asked. */
  async answer<Answer>(ask: (reader: Reader) => Promise<Answer>, isEnough: (answer: Answer) => boolean) {
    const store = this.#replica?.current()
    if (store === undefined) return undefined
    if (this.#known?.store !== store) this.#known = { store, reader: this.#make(store) }
    try {
      const answer = await ask(this.#known.reader)
      return isEnough(answer) ? answer : undefined
    } catch (error) {
      if (!(error instanceof AlmanacError && error.code.startsWith('store_'))) throw error
      this.#replica?.failed()
      return undefined
    }
  }
}
