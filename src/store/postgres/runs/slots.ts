// Where packs lie: on one server all in one slot; on Citus in as many slots as there are shards, so that what a request
// asks for is in one of them. A slot never depends on who asks: contracts and wallets keep theirs.
import type { Database } from '../database.ts'

export type Slots = readonly number[]

export function slotOfContract(slots: Slots, contract: number): number {
  return slots[contract % slots.length]!
}

/** By the end of the address: its beginning is chosen by some. */
export function slotOfAddress(slots: Slots, address: Uint8Array): number {
  const at = address.length - 4
  const end = ((address[at]! << 24) | (address[at + 1]! << 16) | (address[at + 2]! << 8) | address[at + 3]!) >>> 0
  return slots[end % slots.length]!
}

/** Read once: the slots of a store never change. */
export class KnownSlots {
  readonly #database: Database
  #slots: Slots | undefined

  constructor(database: Database) {
    this.#database = database
  }

  async all(): Promise<Slots> {
    if (this.#slots === undefined) {
      const rows = await this.#database.read('SELECT slot FROM slots ORDER BY slot')
      this.#slots = rows.map(([slot]) => Number(slot))
    }
    return this.#slots
  }
}
