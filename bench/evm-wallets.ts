// The wallets of a made-up chain, by number: each has a key, and its address is the key's, so that senders can be recovered.
import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keyOf } from '../test/sim/keys.ts'
import { hexOfBytes, keccak } from '../test/sim/rlp.ts'

const batchSize = 256
const { BASE: base } = secp256k1.Point

export class EvmWallets {
  readonly #firstKey: bigint
  readonly #batches = new Map<number, string[]>()
  readonly #nonces = new Map<number, number>()

  constructor(seed: number) {
    // Far from the end of the curve's order, so that counting up from it stays a key.
    this.#firstKey = keyOf(`wallets ${seed}`) >> 8n
  }

  keyOf(number: number): bigint {
    return this.#firstKey + BigInt(number)
  }

  addressOf(number: number): string {
    const batch = Math.floor(number / batchSize)
    let addresses = this.#batches.get(batch)
    if (addresses === undefined) {
      addresses = this.#addressesFrom(batch * batchSize)
      this.#batches.set(batch, addresses)
    }
    return addresses[number % batchSize]!
  }

  /** Of its next transaction. */
  takeNonce(number: number): number {
    const nonce = this.#nonces.get(number) ?? 0
    this.#nonces.set(number, nonce + 1)
    return nonce
  }

  /** Neighbouring keys have neighbouring points: adding one is 25 times as quick as multiplying by each key. */
  #addressesFrom(first: number): string[] {
    let point = base.multiply(this.keyOf(first))
    const points = Array.from({ length: batchSize }, () => {
      const own = point
      point = point.add(base)
      return own
    })
    return normalizeZ(secp256k1.Point, points).map(each =>
      hexOfBytes(keccak(each.toBytes(false).subarray(1)).subarray(12)),
    )
  }
}
