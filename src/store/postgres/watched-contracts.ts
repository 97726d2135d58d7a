// Contracts that are followed at the head, each with the block from which on it is.
import type { Address } from '../../model.ts'
import { bytesOfHex } from '../bytes.ts'
import type { WatchedContract } from '../chain-store.ts'
import type { Database, Transaction } from './database.ts'
import { hexTextOf } from './values.ts'

export async function watchedContracts(database: Database, ordinal: number): Promise<WatchedContract[]> {
  const rows = await database.read(
    'SELECT contract, watched_from FROM watched_contracts WHERE chain = $1 ORDER BY contract',
    ordinal,
  )
  return rows.map(([address, from]) => ({ contract: hexTextOf<Address>(address), watchedFrom: Number(from) }))
}

/** The lowest mark stays. */
export async function watchContract(
  transaction: Transaction,
  ordinal: number,
  contract: Address,
  watchedFrom: number,
): Promise<void> {
  await transaction.run(
    `INSERT INTO watched_contracts (chain, contract, watched_from) VALUES ($1, $2, $3)
     ON CONFLICT (chain, contract) DO UPDATE SET watched_from = excluded.watched_from
     WHERE excluded.watched_from < watched_contracts.watched_from`,
    ordinal,
    bytesOfHex(contract),
    watchedFrom,
  )
}
