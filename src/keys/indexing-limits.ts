// What a key may have indexed: a number of targets a day, which the store counts for all processes, and a number of
// Solana accounts at once. What is kept already is free.
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { AlmanacError, isUsedUp } from '../errors.ts'
import type { Address, AskedBalances, ChainId, SolanaNetwork } from '../model.ts'
import type { KeyRecord } from '../store/key-store.ts'
import type { Store } from '../store/store.ts'
import { msUntilTomorrow } from './allowances.ts'
import { limitFacts } from './keys.ts'

type IndexingKey = Pick<KeyRecord, 'id' | 'indexPerDay' | 'indexWaiting'>

const keptMax = 50_000
const retryMs = 1_000
const dayMs = 86_400_000

export class IndexingLimits {
  readonly #store: Store
  /** Owners and mints that the store is known to have. */
  readonly #kept = new LRUCache<string, true>(atMost(keptMax))
  /** Owners and mints that are being read, by key. */
  readonly #reading = new Map<string, number>()

  /** The day on which a wallet was last counted for a key. */
  readonly #countedOn = new LRUCache<string, number>(atMost(keptMax))

  constructor(store: Store) {
    this.#store = store
  }

  /** Whether a contract may be indexed. A key whose limit is 0 is answered from what is stored. */
  async contract(key: IndexingKey, chain: ChainId, contract: Address): Promise<boolean> {
    if (key.indexPerDay === undefined || (await this.#store.coverage(chain, contract)).length > 0) return true
    const taken = await this.#take(key, [`${chain}/${contract}`])
    if (taken === 'used up' && key.indexPerDay > 0) throw usedUp(key)
    return taken === 'granted'
  }

  /** Whether a wallet may be looked up. Chains that are indexed in full answer without. */
  async wallet(key: IndexingKey, wallet: Address): Promise<boolean> {
    return key.indexPerDay === undefined || (await this.#take(key, [wallet])) === 'granted'
  }

  /**
   * A wallet counts once a day at the head, and once for each earlier block that a node is asked about. Without a node
   * there is no answer, so no refusal stays silent.
   */
  async balances(key: IndexingKey, { wallets, block, isEarlier = false }: CountedBalances): Promise<void> {
    if (key.indexPerDay === undefined) return
    const day = Math.floor(Date.now() / dayMs)
    const nameOf = (target: string) => `${key.id}/${target}`
    const targets = wallets
      .map(wallet => (isEarlier ? `${wallet}@${block}` : wallet))
      .filter(target => this.#countedOn.get(nameOf(target)) !== day)
    if (targets.length === 0) return
    const taken = await this.#take(key, targets)
    if (taken === 'used up') throw usedUp(key)
    if (taken === 'granted') for (const target of targets) this.#countedOn.set(nameOf(target), day)
  }

  owner<T>(key: IndexingKey, { network, owner }: Owner, read: () => Promise<T>): Promise<T> {
    const name = `${network}/${Buffer.from(owner).toString('hex')}`
    return this.#read(
      key,
      { name, isKept: async () => (await this.#store.portfolioOf(network, owner)) !== undefined },
      read,
    )
  }

  mint<T>(key: IndexingKey, { network, mint }: Mint, read: () => Promise<T>): Promise<T> {
    const name = `${network}/mint/${Buffer.from(mint).toString('hex')}`
    return this.#read(key, { name, isKept: async () => (await this.#store.mintsOf(network, [mint])).length > 0 }, read)
  }

  /** Reads an account, or refuses to: without a reading there is nothing to answer. */
  async #read<T>(key: IndexingKey, { name, isKept }: Target, read: () => Promise<T>): Promise<T> {
    if (key.indexPerDay === undefined && key.indexWaiting === undefined) return await read()
    if (this.#kept.get(name) || (await isKept())) {
      this.#kept.set(name, true)
      return await read()
    }
    if (key.indexPerDay !== undefined && (await this.#take(key, [name])) === 'used up') throw usedUp(key)
    return await this.#counted(key, read)
  }

  /**
   * Throws what an indexer refused, in words for the client. Where the contract is indexed in part, that part is the
   * answer once nodes may be asked no more.
   */
  async refused(error: AlmanacError, key: IndexingKey, { chain, contract }: Contract): Promise<void> {
    // The queue of an indexer knows the number alone.
    if (error.code === 'rate_limited') throw tooManyWaiting(key)
    if (isUsedUp(error) && (await this.#store.coverage(chain, contract)).length === 0) throw error
  }

  async #counted<T>(key: IndexingKey, read: () => Promise<T>): Promise<T> {
    const reading = this.#reading.get(key.id) ?? 0
    if (reading >= (key.indexWaiting ?? Number.POSITIVE_INFINITY)) throw tooManyWaiting(key)
    this.#reading.set(key.id, reading + 1)
    try {
      return await read()
    } finally {
      const left = this.#reading.get(key.id)! - 1
      if (left === 0) this.#reading.delete(key.id)
      else this.#reading.set(key.id, left)
    }
  }

  async #take(
    { id: keyId, indexPerDay }: IndexingKey,
    targets: readonly string[],
  ): Promise<'granted' | 'used up' | 'unknown'> {
    try {
      const granted = await this.#store.takeIndexing({ keyId, targets, perDay: indexPerDay! })
      return granted ? 'granted' : 'used up'
    } catch (error) {
      // Nothing could be stored either: the answer is what is stored already.
      if (error instanceof AlmanacError && error.code.startsWith('store_')) return 'unknown'
      throw error
    }
  }
}

type CountedBalances = Pick<AskedBalances, 'wallets'> & Partial<AskedBalances>
type Contract = { chain: ChainId; contract: Address }
type Owner = { network: SolanaNetwork; owner: Uint8Array }
type Mint = { network: SolanaNetwork; mint: Uint8Array }
/** What a reading counts as, and whether the store has it already. */
type Target = { name: string; isKept: () => Promise<boolean> }

function usedUp(key: IndexingKey): AlmanacError {
  const details = limitFacts(key, 'indexPerDay')
  const retryAfterMs = msUntilTomorrow(Date.now())
  return new AlmanacError('quota_exceeded', 'Rate limit exceeded', { details, retryable: true, retryAfterMs })
}

function tooManyWaiting(key: IndexingKey): AlmanacError {
  const details = limitFacts(key, 'indexWaiting')
  return new AlmanacError('rate_limited', 'Rate limit exceeded', { details, retryable: true, retryAfterMs: retryMs })
}
