// Reading what is kept of EVM chains, each question at one moment. The tables have files of their own.
import type { ChainId, Hash } from '../../model.ts'
import { hexOf } from '../bytes.ts'
import type { ChainReader, ChainState } from '../chain-store.ts'
import { blocksAround, hotBlocksOf } from './blocks.ts'
import type { Connection } from './connection.ts'
import { contractCoverage, coverageByScope, coverageOf } from './coverage-table.ts'
import type { StoreFile } from './store-file.ts'
import { watchedContracts } from './watched-contracts.ts'

export function chainReader(file: StoreFile): ChainReader {
  return {
    chainState: async chain => file.reading(read => chainState(read, chain)),
    coverage: async (chain, scope) => file.ofChain(chain, [], (read, ordinal) => coverageOf(read, ordinal, scope)),
    coverageByScope: async chain => file.ofChain(chain, [], coverageByScope),
    contractCoverage: async (chain, contract) =>
      file.ofChain(chain, [], (read, ordinal) => contractCoverage(read, ordinal, contract)),
    blocksAround: async (chain, timestamp) =>
      file.ofChain(chain, { before: undefined, after: undefined }, (read, ordinal) =>
        blocksAround(read, ordinal, timestamp),
      ),
    hotBlocks: async chain => file.ofChain(chain, [], hotBlocksOf),
    watchedContracts: async chain => file.ofChain(chain, [], watchedContracts),
    contractsOf: async (chain, after, limit) =>
      file.ofChain(chain, [], (_read, ordinal) => file.dictionary.contractsOf(ordinal, after, limit)),
  }
}

function chainState(connection: Connection, chain: ChainId): ChainState | undefined {
  const row = connection.get('SELECT head_number, head_hash, head_timestamp, finalized FROM chains WHERE id = ?', chain)
  if (row === undefined || row[0] === null) return undefined
  return {
    head: { number: row[0] as number, hash: hexOf<Hash>(row[1] as Uint8Array), timestamp: row[2] as number },
    finalized: row[3] as number,
  }
}
