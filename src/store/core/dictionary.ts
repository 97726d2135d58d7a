// The small integers that stand for chains and contracts in every row. A number never changes, so each process
// remembers those it met. They are assigned before the transactions that use them: an unused one does no harm.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import { AlmanacError } from '../../errors.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import { keepAllIndexes } from './kept-indexes.ts'
import { type Engine, insert, row, rows, run, type Work } from './work.ts'

const contractsMax = 100_000

const findOrdinal = 'SELECT ordinal FROM chains WHERE id = $1'
const findContracts = 'SELECT address, id FROM contracts WHERE address IN $1:blobs AND chain = $2'

/** Without its number a row would be stored under 0. */
function noNumber(what: string): AlmanacError {
  return new AlmanacError('store_failed', `The store gave ${what} no number; nothing of this commit was kept.`, {
    retryable: true,
    hint: 'try again; if it lasts, check that every worker of the database runs.',
  })
}

export class Dictionary {
  readonly #engine: Engine
  readonly #ordinals = new Map<ChainId, number>()
  readonly #chains = new Map<number, ChainId>()
  readonly #contracts = new LRUCache<string, number>(atMost(contractsMax))
  readonly #addresses = new LRUCache<number, Address>(atMost(contractsMax))

  constructor(engine: Engine) {
    this.#engine = engine
  }

  *ordinalOf(chain: ChainId): Work<number | undefined> {
    const known = this.#ordinals.get(chain)
    if (known !== undefined) return known
    const found = yield* row(findOrdinal, chain)
    return found === undefined ? undefined : this.#learnChain(chain, found[0])
  }

  *chainOf(ordinal: number): Work<ChainId> {
    if (!this.#chains.has(ordinal))
      for (const [id, number] of yield* rows('SELECT id, ordinal FROM chains')) this.#learnChain(id, number)
    return this.#chains.get(ordinal) as ChainId
  }

  *contractOf(ordinal: number, address: Address): Work<number | undefined> {
    return this.#contracts.get(`${ordinal}${address}`) ?? (yield* this.numbersOf(ordinal, [address])).get(address)
  }

  /** Some in the order of their addresses, with their numbers. */
  *contractsOf(ordinal: number, after: Address | undefined, limit: number): Work<Map<Address, number>> {
    const find = 'SELECT address, id FROM contracts WHERE address > $1 AND chain = $2 ORDER BY address LIMIT $3:int'
    const found = yield* rows(find, bytesOfHex(after ?? '0x'), ordinal, limit)
    return new Map(found.map(([address, id]) => [hexOf<Address>(address), id]))
  }

  /** The numbers of those of the contracts that have one. */
  *numbersOf(ordinal: number, addresses: Iterable<Address>): Work<Map<Address, number>> {
    const numbers = new Map<Address, number>()
    const unknown: Address[] = []
    for (const address of new Set(addresses)) {
      const known = this.#contracts.get(`${ordinal}${address}`)
      if (known === undefined) unknown.push(address)
      else numbers.set(address, known)
    }
    if (unknown.length === 0) return numbers
    for (const [stored, id] of yield* rows(findContracts, unknown.map(bytesOfHex), ordinal)) {
      const address = hexOf<Address>(stored)
      numbers.set(address, id)
      this.#contracts.set(`${ordinal}${address}`, id)
    }
    return numbers
  }

  /** By their numbers. */
  *addressesOf(numbers: Iterable<number>): Work<Map<number, Address>> {
    const asked = [...numbers]
    const addresses = new Map<number, Address>()
    const unknown = asked.filter(number => {
      const known = this.#addresses.get(number)
      if (known !== undefined) addresses.set(number, known)
      return known === undefined
    })
    if (unknown.length === 0) return addresses
    for (const [address, id] of yield* rows('SELECT address, id FROM contracts WHERE id IN $1:ints', unknown)) {
      addresses.set(id, hexOf<Address>(address))
      this.#addresses.set(id, hexOf<Address>(address))
    }
    return addresses
  }

  /** The numbers of chains; new ones get one. */
  async addOrdinals(chains: Iterable<ChainId>): Promise<ReadonlyMap<ChainId, number>> {
    const ordinals = new Map<ChainId, number>()
    for (const chain of new Set(chains)) ordinals.set(chain, await this.addOrdinal(chain))
    return ordinals
  }

  /** The number of a chain; a new one gets one. */
  async addOrdinal(chain: ChainId): Promise<number> {
    const known = this.#ordinals.get(chain) ?? (await this.#engine.read(() => this.ordinalOf(chain)))
    if (known !== undefined) return known
    const added = await this.#engine.write(() => addOrdinal(chain), { unseen: true })
    if (added === undefined) throw noNumber(`chain ${chain}`)
    return this.#learnChain(chain, added)
  }

  /** The numbers of all these contracts; new ones get one. */
  async addContracts(ordinal: number, addresses: Iterable<Address>): Promise<ReadonlyMap<Address, number>> {
    const all = new Set(addresses)
    const known = await this.#engine.read(() => this.numbersOf(ordinal, all))
    // Sorted: two processes that meet the same new contracts wait for each other in one order.
    const added = [...all].filter(address => !known.has(address)).sort()
    if (added.length === 0) return known
    const numbers = await this.#engine.write(() => addContracts(ordinal, added), { unseen: true })
    for (const address of added) {
      const id = numbers.get(address)
      if (id === undefined) throw noNumber(`contract ${address}`)
      known.set(address, id)
      this.#contracts.set(`${ordinal}${address}`, id)
    }
    return known
  }

  #learnChain(chain: ChainId, ordinal: number): number {
    this.#ordinals.set(chain, ordinal)
    this.#chains.set(ordinal, chain)
    return ordinal
  }
}

/** In the transaction that added it: on a cluster another connection may not see it yet. */
function* addOrdinal(chain: ChainId): Work<number | undefined> {
  const added = yield* run('INSERT INTO chains (id) VALUES ($1) ON CONFLICT DO NOTHING', chain)
  const found = yield* row(findOrdinal, chain)
  if (added > 0 && found !== undefined) yield* keepAllIndexes(found[0])
  return found?.[0]
}

function* addContracts(ordinal: number, addresses: readonly Address[]): Work<Map<Address, number>> {
  const stored = addresses.map(bytesOfHex)
  const added = stored.map(address => ({ chain: ordinal, address }))
  yield* insert('contracts', added, 'DO NOTHING')
  const found = yield* rows(findContracts, stored, ordinal)
  return new Map(found.map(([address, id]) => [hexOf<Address>(address), id]))
}
