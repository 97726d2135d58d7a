// Keeps what was read of the store for as long as nothing was committed. It never answers from an older revision.
import { LRUCache } from 'lru-cache'

export class RevisionCache<Value extends object> {
  readonly #entries: LRUCache<string, { revision: number; value: Value }>

  constructor(entriesMax: number) {
    this.#entries = new LRUCache({ max: entriesMax })
  }

  get(key: string, revision: number): Value | undefined {
    const entry = this.#entries.get(key)
    return entry?.revision === revision ? entry.value : undefined
  }

  /** `revision` is the one from before the value was read, so that a commit in between voids it. */
  set(key: string, revision: number, value: Value): void {
    this.#entries.set(key, { revision, value })
  }
}
