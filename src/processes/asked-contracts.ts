// Notes which contracts are asked for, once a day each, so that what is no longer asked for can be let go. A note that
// could not be written is written with the next request.
import { LRUCache } from 'lru-cache'
import type { Address, ChainId } from '../model.ts'
import type { CheckpointStore } from '../store/store.ts'

const dayMs = 86_400_000
const notedMax = 50_000

export class AskedContracts {
  readonly #store: Pick<CheckpointStore, 'noteAsked'>
  readonly #noted = new LRUCache<string, number>({ max: notedMax })

  constructor(store: Pick<CheckpointStore, 'noteAsked'>) {
    this.#store = store
  }

  note(chain: ChainId, contract: Address): void {
    const day = Math.floor(Date.now() / dayMs)
    const name = `${chain}/${contract}`
    if (this.#noted.get(name) === day) return
    this.#noted.set(name, day)
    this.#store.noteAsked(chain, contract, day).catch(() => this.#noted.delete(name))
  }
}
