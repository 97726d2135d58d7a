// Contracts that are followed at the head, each with the block from which on it is.
import type { Address, ChainId } from '../../model.ts'
import { bytesOfHex, hexOf } from '../bytes.ts'
import type { WatchedContract } from '../chain-store.ts'
import type { Connection } from './connection.ts'
import type { WriteContext } from './store-file.ts'

export function watchedContracts(connection: Connection, ordinal: number): WatchedContract[] {
  return connection
    .all('SELECT contract, watched_from FROM watched_contracts WHERE chain = ? ORDER BY contract', ordinal)
    .map(([address, watchedFrom]) => ({
      contract: hexOf<Address>(address as Uint8Array),
      watchedFrom: watchedFrom as number,
    }))
}

export function watchedFrom(connection: Connection, ordinal: number, contract: Address): number | undefined {
  const row = connection.get(
    'SELECT watched_from FROM watched_contracts WHERE chain = ? AND contract = ?',
    ordinal,
    bytesOfHex(contract),
  )
  return row?.[0] as number | undefined
}

/** The lowest mark stays. */
export function watchContract(context: WriteContext, chain: ChainId, contract: Address, from: number): void {
  context.connection.run(
    `INSERT INTO watched_contracts VALUES (?, ?, ?) ON CONFLICT DO UPDATE
     SET watched_from = excluded.watched_from WHERE excluded.watched_from < watched_from`,
    context.dictionary.addOrdinal(chain),
    bytesOfHex(contract),
    from,
  )
}
