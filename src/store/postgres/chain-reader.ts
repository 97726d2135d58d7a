// Reading what is kept of EVM chains, each question with one statement. The tables have files of their own.
import type { ChainId, Hash } from '../../model.ts'
import type { ChainReader, ChainState } from '../chain-store.ts'
import { blocksAround, hotBlocksOf } from './blocks.ts'
import { contractCoverage, coverageByScope, coverageOf } from './coverage-table.ts'
import type { Database } from './database.ts'
import type { StoreDatabase } from './store-database.ts'
import { hexTextOf } from './values.ts'
import { watchedContracts } from './watched-contracts.ts'

export function chainReader(store: StoreDatabase): ChainReader {
  const { database, dictionary } = store
  const noBlocks = { before: undefined, after: undefined }
  return {
    chainState: chain => chainState(database, chain),
    coverage: (chain, scope) => store.ofChain(chain, [], ordinal => coverageOf(database, ordinal, scope)),
    coverageByScope: chain => store.ofChain(chain, [], ordinal => coverageByScope(database, ordinal)),
    contractCoverage: (chain, contract) =>
      store.ofChain(chain, [], ordinal => contractCoverage(database, ordinal, contract)),
    blocksAround: (chain, timestamp) =>
      store.ofChain(chain, noBlocks, ordinal => blocksAround(database, ordinal, timestamp)),
    hotBlocks: chain => store.ofChain(chain, [], ordinal => hotBlocksOf(database, ordinal)),
    watchedContracts: chain => store.ofChain(chain, [], ordinal => watchedContracts(database, ordinal)),
    contractsOf: (chain, after, limit) =>
      store.ofChain(chain, [], ordinal => dictionary.contractsOf(ordinal, after, limit)),
  }
}

async function chainState(database: Database, chain: ChainId): Promise<ChainState | undefined> {
  const [row] = await database.read(
    'SELECT head_number, head_hash, head_timestamp, finalized FROM chains WHERE id = $1 AND head_number IS NOT NULL',
    chain,
  )
  if (row === undefined) return undefined
  return {
    head: { number: Number(row[0]), hash: hexTextOf<Hash>(row[1]), timestamp: Number(row[2]) },
    finalized: Number(row[3]),
  }
}
