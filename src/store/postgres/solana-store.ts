// What is kept of Solana accounts and mints: reads of one moment, writes of one transaction. The tables have files of their own.
import type { SolanaStore } from '../solana-store.ts'
import { applyHoldings, portfolioOf, putLamports, putOwner } from './solana-holdings.ts'
import { mintsOf, putMints } from './solana-mints.ts'
import type { StoreDatabase } from './store-database.ts'

export function solanaStore(store: StoreDatabase): SolanaStore {
  const { database } = store
  return {
    portfolioOf: (network, owner) => portfolioOf(database, network, owner),
    putOwner: (network, account, holdings) =>
      store.writing(transaction => putOwner(transaction, network, account, holdings)),
    mintsOf: (network, mints) => mintsOf(database, network, mints),
    putMints: (network, updates) => store.writing(transaction => putMints(transaction, network, updates)),
    applyHoldings: (network, updates) => store.writing(transaction => applyHoldings(transaction, network, updates)),
    putLamports: (network, account) => store.writing(transaction => putLamports(transaction, network, account)),
  }
}
