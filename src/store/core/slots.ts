// Where packs lie: in a file and on one server all in one slot; on Citus in as many slots as there are shards, so that
// what a request asks for is in one of them. A slot never depends on who asks: contracts and wallets keep theirs. Pure.
import { wordAt } from '../runs/place-key.ts'
import type { View } from '../runs/view.ts'

/** In the order of the shards that they lie in. */
export type Slots = readonly number[]

export const findSlots = 'SELECT slot FROM slots'

/** As rows of `findSlots` have them. */
export function inShardOrder(found: readonly (readonly number[])[]): Slots {
  return found.map(([slot]) => slot!).sort((a, b) => serverHashOf(a) - serverHashOf(b))
}

/**
 * What is asked for in one read is in one slot: records of a contract beside each other, those of a wallet with its
 * activity, and of blocks all of a chain.
 */
export function slotOfKey(slots: Slots, view: View, chain: number, keys: Uint8Array, keyAt = 0): number {
  if (slots.length === 1) return slots[0]!
  if (view.keysBeginWith === 'address') return slotOfAddress(slots, keys, keyAt)
  return slotOfContract(slots, view.keysBeginWith === 'contract' ? wordAt(keys, keyAt) : chain)
}

export function slotOfContract(slots: Slots, contract: number): number {
  return slots[shardOf(contract, slots.length)]!
}

const addressBytes = 20

/** By the end of the address: its beginning is chosen by some. */
function slotOfAddress(slots: Slots, keys: Uint8Array, keyAt: number): number {
  return slots[wordAt(keys, keyAt + addressBytes - 4) % slots.length]!
}

/** Citus cuts the hashes of the server into stretches of one length. */
function shardOf(value: number, shards: number): number {
  if (shards === 1) return 0
  const length = Math.floor(2 ** 32 / shards)
  return Math.min(shards - 1, Math.floor((serverHashOf(value) + 2 ** 31) / length))
}

/** As the server hashes an int4 (`hashint4`): a signed number of 32 bits. */
export function serverHashOf(value: number): number {
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
