// The genesis hashes of the public networks. Constants only.
import type { SolanaNetwork } from '../model.ts'

export const genesisHashes: Readonly<Record<SolanaNetwork, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
}
