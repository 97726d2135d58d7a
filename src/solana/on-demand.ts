// Reads an owner when it is asked for and what is stored is too old: once for all who ask at the same time. The store
// keeps the reading; here is only remembered how fresh it is.
import { LRUCache } from 'lru-cache'
import { AlmanacError } from '../errors.ts'
import type { SolanaStore } from '../store/solana-store.ts'
import { ensureMints } from './mints.ts'
import type { SolanaRpc } from './rpc.ts'
import { type OwnerReading, readOwner } from './source.ts'

const readingsAtOnceMax = 256
const rememberedMax = 50_000

/** The slot and the chain's clock that an answer stands for, and when that was known. */
export type Freshness = { slot: number; chainTime: number; readAtMs: number }

export type OnDemandOptions = {
  rpc: SolanaRpc
  store: SolanaStore
  maxAgeMs: number
  nowMs?: () => number
  /** Called with every reading once it is stored. */
  onReading?: (reading: OwnerReading) => void
}

export class OnDemand {
  readonly #options: Required<Pick<OnDemandOptions, 'nowMs'>> & OnDemandOptions
  readonly #readings = new Map<string, Promise<OwnerReading>>()
  readonly #fresh = new LRUCache<string, Freshness>({ max: rememberedMax })

  constructor(options: OnDemandOptions) {
    this.#options = { nowMs: Date.now, ...options }
  }

  /** Returns when the store's reading of the owner is at most `maxAgeMs` old, or throws what the upstream failed with. */
  async freshen(owner: Uint8Array): Promise<Freshness> {
    const { nowMs, maxAgeMs } = this.#options
    const known = this.#fresh.get(keyOf(owner))
    if (known !== undefined && nowMs() - known.readAtMs <= maxAgeMs) return known
    return (await this.read(owner)).account
  }

  /** Reads the owner now, or takes part in the reading that is under way; `anew`: in one that begins after this call. */
  read(owner: Uint8Array, { anew = false } = {}): Promise<OwnerReading> {
    const key = keyOf(owner)
    const underWay = this.#readings.get(key)
    if (underWay !== undefined) {
      const next = () => this.read(owner)
      return anew ? underWay.then(next, next) : underWay
    }
    if (this.#readings.size >= readingsAtOnceMax) {
      const message = `More than ${readingsAtOnceMax} Solana accounts are being read at once.`
      return Promise.reject(new AlmanacError('overloaded', message, { retryable: true, retryAfterMs: 1_000 }))
    }
    const reading = this.#readAndStore(owner, key).finally(() => this.#readings.delete(key))
    this.#readings.set(key, reading)
    return reading
  }

  /** What is stored of the owner may be wrong, however young it is. Its slot stays as the least for the next reading. */
  forget(owner: Uint8Array): void {
    const known = this.#fresh.get(keyOf(owner))
    if (known !== undefined) this.#fresh.set(keyOf(owner), { ...known, readAtMs: Number.NEGATIVE_INFINITY })
  }

  async #readAndStore(owner: Uint8Array, key: string): Promise<OwnerReading> {
    const { rpc, store, nowMs, onReading } = this.#options
    const reading = await readOwner({ rpc, nowMs }, owner, this.#fresh.get(key)?.slot)
    await ensureMints({ rpc, store, nowMs }, heldMints(reading), reading.account.slot)
    await store.putOwner(rpc.network, reading.account, reading.holdings)
    const { slot, chainTime, readAtMs } = reading.account
    this.#fresh.set(key, { slot, chainTime, readAtMs })
    onReading?.(reading)
    return reading
  }
}

/** The mints of which the owner has something; an empty token account is not shown. */
function heldMints({ holdings }: OwnerReading): Uint8Array[] {
  const mints = new Map<string, Uint8Array>()
  for (const { mint, amount } of holdings) if (amount > 0n) mints.set(keyOf(mint), mint)
  return [...mints.values()]
}

function keyOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
