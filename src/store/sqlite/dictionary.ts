// The small integers that stand for chains and contracts in every row. A number never changes.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import { bytesOfHex, hexOf } from '../../hex.ts'
import type { Address, ChainId } from '../../model.ts'
import type { Connection } from './connection.ts'
import { keepAllIndexes } from './indexes/kept-indexes.ts'

const contractsMax = 20_000
/** Sorts before every address. */
const noAddress = new Uint8Array(0)

export class Dictionary {
  readonly #connection: Connection
  readonly #ordinals = new Map<ChainId, number>()
  readonly #contracts = new LRUCache<string, number>(atMost(contractsMax))

  constructor(connection: Connection) {
    this.#connection = connection
  }

  ordinalOf(chain: ChainId): number | undefined {
    const known = this.#ordinals.get(chain)
    if (known !== undefined) return known
    const row = this.#connection.get('SELECT ordinal FROM chains WHERE id = ?', chain)
    if (row === undefined) return undefined
    this.#ordinals.set(chain, row[0] as number)
    return row[0] as number
  }

  contractOf(ordinal: number, address: Address): number | undefined {
    const key = `${ordinal}${address}`
    const known = this.#contracts.get(key)
    if (known !== undefined) return known
    const row = this.#connection.get(
      'SELECT id FROM contracts WHERE address = ? AND chain = ?',
      bytesOfHex(address),
      ordinal,
    )
    if (row === undefined) return undefined
    this.#contracts.set(key, row[0] as number)
    return row[0] as number
  }

  contractsOf(ordinal: number, after: Address | undefined, limit: number): Address[] {
    return this.#connection
      .all(
        'SELECT address FROM contracts WHERE address > ? AND chain = ? ORDER BY address LIMIT ?',
        after === undefined ? noAddress : bytesOfHex(after),
        ordinal,
        limit,
      )
      .map(([address]) => hexOf<Address>(address as Uint8Array))
  }

  /** Within a write transaction. */
  addOrdinal(chain: ChainId): number {
    const known = this.ordinalOf(chain)
    if (known !== undefined) return known
    this.#connection.run('INSERT INTO chains (id) VALUES (?)', chain)
    const added = this.ordinalOf(chain) as number
    keepAllIndexes(this.#connection, added)
    return added
  }

  /** Within a write transaction. */
  addContract(ordinal: number, address: Address): number {
    const known = this.contractOf(ordinal, address)
    if (known !== undefined) return known
    this.#connection.run('INSERT INTO contracts (chain, address) VALUES (?, ?)', ordinal, bytesOfHex(address))
    return this.contractOf(ordinal, address) as number
  }

  /** After a rollback, which took numbers back. */
  forget(): void {
    this.#ordinals.clear()
    this.#contracts.clear()
  }
}
