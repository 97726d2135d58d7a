// The small integers that stand for chains and contracts in every row. A number never changes, so each process
// remembers those it met. They are assigned outside of the transactions that use them: an unused one does no harm.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import { AlmanacError } from '../../errors.ts'
import { bytesOfHex } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import { byteaArray, hexTextOf, int4Array } from './arrays.ts'
import type { Database, Row } from './database.ts'
import { keepAllIndexes } from './indexes/kept-indexes.ts'

const contractsMax = 100_000

/** Of the chains of rows, found before the transaction that writes them. */
export type Ordinals = ReadonlyMap<ChainId, number>

export type WalkOrdinals = Record<'filter' | 'after', number | undefined>

const ordinalSql = 'SELECT ordinal FROM chains WHERE id = $1'
const contractsSql = 'SELECT address, id FROM contracts WHERE address = ANY($1::bytea[]) AND chain = $2'

const addressesSql = 'SELECT address, id FROM contracts WHERE id = ANY($1::int4[])'

/** Without its number a row would be stored under 0. */
export function noNumber(what: string): AlmanacError {
  return new AlmanacError('store_failed', `The database gave ${what} no number; nothing of this commit was kept.`, {
    retryable: true,
    hint: 'try again; if it lasts, check that every worker of the database runs.',
  })
}

export class Dictionary {
  readonly #database: Database
  readonly #ordinals = new Map<ChainId, number>()
  readonly #chains = new Map<number, ChainId>()
  readonly #contracts = new LRUCache<string, number>(atMost(contractsMax))
  readonly #addresses = new LRUCache<number, Address>(atMost(contractsMax))

  constructor(database: Database) {
    this.#database = database
  }

  async ordinalOf(chain: ChainId): Promise<number | undefined> {
    const known = this.#ordinals.get(chain)
    if (known !== undefined) return known
    const [row] = await this.#database.read(ordinalSql, chain)
    return row === undefined ? undefined : this.#learnChain(chain, Number(row[0]))
  }

  async addOrdinal(chain: ChainId): Promise<number> {
    const known = await this.ordinalOf(chain)
    if (known !== undefined) return known
    const [row] = await this.#database.transaction(async transaction => {
      const added = await transaction.run(
        "INSERT INTO chains (ordinal, id) VALUES (nextval('chain_ordinals'), $1) ON CONFLICT DO NOTHING",
        chain,
      )
      // In the transaction that added it: on Citus another connection may not see it yet.
      const found = await transaction.query(ordinalSql, chain)
      if (added > 0) await keepAllIndexes(transaction, Number(found[0]?.[0]))
      return found
    })
    if (row === undefined) throw noNumber(`chain ${chain}`)
    return this.#learnChain(chain, Number(row[0]))
  }

  async addOrdinals(chains: readonly ChainId[]): Promise<Ordinals> {
    const ordinals = new Map<ChainId, number>()
    for (const chain of new Set(chains)) ordinals.set(chain, await this.addOrdinal(chain))
    return ordinals
  }

  /** The numbers of the chain to filter by and of the row to start after, where given. */
  async ordinalsOf(chains: Record<'filter' | 'after', ChainId | undefined>): Promise<WalkOrdinals> {
    const ordinalIf = async (chain: ChainId | undefined) =>
      chain === undefined ? undefined : await this.ordinalOf(chain)
    return { filter: await ordinalIf(chains.filter), after: await ordinalIf(chains.after) }
  }

  async chainOf(ordinal: number): Promise<ChainId> {
    const known = this.#chains.get(ordinal)
    if (known !== undefined) return known
    for (const [id, number] of await this.#database.read('SELECT id, ordinal FROM chains'))
      this.#learnChain(Number(id) as ChainId, Number(number))
    return this.#chains.get(ordinal) as ChainId
  }

  async contractOf(ordinal: number, address: Address): Promise<number | undefined> {
    const key = `${ordinal}${address}`
    const known = this.#contracts.get(key)
    if (known !== undefined) return known
    const [row] = await this.#database.read(
      'SELECT id FROM contracts WHERE address = $1 AND chain = $2',
      bytesOfHex(address),
      ordinal,
    )
    if (row === undefined) return undefined
    this.#contracts.set(key, Number(row[0]))
    return Number(row[0])
  }

  /** With their numbers. */
  async contractsOf(ordinal: number, after: Address | undefined, limit: number): Promise<Map<Address, number>> {
    const rows = await this.#database.read(
      'SELECT address, id FROM contracts WHERE address > $1 AND chain = $2 ORDER BY address LIMIT $3',
      after === undefined ? Buffer.alloc(0) : bytesOfHex(after),
      ordinal,
      limit,
    )
    return new Map(rows.map(([address, id]) => [hexTextOf<Address>(address), Number(id)]))
  }

  /** The numbers of those of the contracts that have one. */
  async numbersOf(ordinal: number, addresses: Iterable<Address>): Promise<Map<Address, number>> {
    const numbers = new Map<Address, number>()
    const unknown: Address[] = []
    for (const address of new Set(addresses)) {
      const known = this.#contracts.get(`${ordinal}${address}`)
      if (known === undefined) unknown.push(address)
      else numbers.set(address, known)
    }
    if (unknown.length === 0) return numbers
    const known = await this.#database.read(contractsSql, byteaArray(unknown.map(bytesOfHex)), ordinal)
    this.#learnContracts(ordinal, known, numbers)
    return numbers
  }

  /** By their numbers. */
  async addressesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, Address>> {
    const unknown = numbers.filter(number => !this.#addresses.has(number))
    const read = new Map<number, Address>()
    if (unknown.length > 0)
      for (const [address, id] of await this.#database.read(addressesSql, int4Array(unknown)))
        read.set(Number(id), hexTextOf<Address>(address))
    for (const [number, address] of read) this.#addresses.set(number, address)
    return new Map(numbers.map(number => [number, read.get(number) ?? (this.#addresses.get(number) as Address)]))
  }

  /** The numbers of all these contracts; new ones get one. */
  async addContracts(ordinal: number, addresses: Iterable<Address>): Promise<ReadonlyMap<Address, number>> {
    const all = [...addresses]
    const numbers = await this.numbersOf(ordinal, all)
    // Sorted: two processes that meet the same new contracts wait for each other in one order.
    const added = [...new Set(all.filter(address => !numbers.has(address)))].sort()
    if (added.length === 0) return numbers
    const wanted = byteaArray(added.map(bytesOfHex))
    const rows = await this.#database.transaction(async transaction => {
      await transaction.run(
        `INSERT INTO contracts (id, chain, address) SELECT nextval('contract_numbers'), $1::int4, address
         FROM unnest($2::bytea[]) AS address ON CONFLICT DO NOTHING`,
        ordinal,
        wanted,
      )
      return await transaction.query(contractsSql, wanted, ordinal)
    })
    this.#learnContracts(ordinal, rows, numbers)
    for (const address of added) if (!numbers.has(address)) throw noNumber(`contract ${address}`)
    return numbers
  }

  #learnContracts(ordinal: number, rows: readonly Row[], numbers: Map<Address, number>): void {
    for (const [stored, id] of rows) {
      const address = hexTextOf<Address>(stored)
      numbers.set(address, Number(id))
      this.#contracts.set(`${ordinal}${address}`, Number(id))
    }
  }

  #learnChain(chain: ChainId, ordinal: number): number {
    this.#ordinals.set(chain, ordinal)
    this.#chains.set(ordinal, chain)
    return ordinal
  }
}
