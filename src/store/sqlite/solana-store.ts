// What is kept of Solana accounts and mints: reads of one moment, writes of one transaction. The tables have files of their own.
import type { SolanaStore } from '../solana-store.ts'
import { applyHoldings, portfolioOf, putLamports, putOwner } from './solana-holdings.ts'
import { mintsOf, putMints } from './solana-mints.ts'
import type { StoreFile } from './store-file.ts'

export function solanaStore(file: StoreFile): SolanaStore {
  return {
    portfolioOf: async (network, owner) => file.reading(read => portfolioOf(read, network, owner)),
    putOwner: (network, account, holdings) =>
      file.writing(({ connection }) => putOwner(connection, network, account, holdings)),
    mintsOf: async (network, mints) => file.reading(read => mintsOf(read, network, mints)),
    putMints: (network, updates) => file.writing(({ connection }) => putMints(connection, network, updates)),
    applyHoldings: (network, updates) => file.writing(({ connection }) => applyHoldings(connection, network, updates)),
    putLamports: (network, account) => file.writing(({ connection }) => putLamports(connection, network, account)),
  }
}
