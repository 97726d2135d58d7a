// Where packs lie: on one server all in one slot; on Citus in as many slots as there are shards, so that what a request
// asks for is in one of them. A slot never depends on who asks: contracts and wallets keep theirs.
import type { Database } from '../database.ts'

/** In the order of the shards that they lie in. */
export type Slots = readonly number[]

/** In the shard of the contract's rows in the table `transfers`: what a page reads is on one worker. */
export function slotOfContract(slots: Slots, contract: number): number {
  return slots[shardOf(contract, slots.length)]!
}

/** Citus cuts the hashes of the server into stretches of one length. */
function shardOf(value: number, shards: number): number {
  if (shards === 1) return 0
  const length = Math.floor(2 ** 32 / shards)
  return Math.min(shards - 1, Math.floor((hashOf(value) + 2 ** 31) / length))
}

/** As the server hashes an int4 (`hashint4`): a signed number of 32 bits. */
export function hashOf(value: number): number {
  const start = (0x9e3779b9 + 4 + 3_923_095) | 0
  let [a, b, c] = [(start + value) | 0, start, start]
  c = ((c ^ b) - turned(b, 14)) | 0
  a = ((a ^ c) - turned(c, 11)) | 0
  b = ((b ^ a) - turned(a, 25)) | 0
  c = ((c ^ b) - turned(b, 16)) | 0
  a = ((a ^ c) - turned(c, 4)) | 0
  b = ((b ^ a) - turned(a, 14)) | 0
  return ((c ^ b) - turned(b, 24)) | 0
}

function turned(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
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
      const slots = rows.map(([slot]) => Number(slot))
      this.#slots = slots.sort((a, b) => hashOf(a) - hashOf(b))
    }
    return this.#slots
  }
}
