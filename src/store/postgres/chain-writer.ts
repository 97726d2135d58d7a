// The changes of EVM chains, each as one transaction, before which it finds the numbers of chains and contracts. What a
// commit does is `chain-commits.ts`.
import type { ChainId, TransferRow } from '../../model.ts'
import type { ChainWriter, HotBlock } from '../chain-store.ts'
import * as commits from './chain-commits.ts'
import type { Dictionary } from './dictionary.ts'
import type { StoreDatabase } from './store-database.ts'
import { watchContract } from './watched-contracts.ts'

export function chainWriter(store: StoreDatabase): ChainWriter {
  const { dictionary } = store
  return {
    commitCold: async commit => {
      const numbers = await numbersOf(dictionary, commit.chain, commit.transfers)
      return await store.writing(transaction => commits.commitCold(transaction, numbers, commit))
    },
    commitHot: async commit => {
      const numbers = await numbersOf(dictionary, commit.chain, rowsOf(commit.blocks))
      await store.writing(transaction => commits.commitHot(transaction, numbers, commit))
    },
    addToHot: async (chain, blocks, covered) => {
      const numbers = await numbersOf(dictionary, chain, rowsOf(blocks))
      await store.writing(transaction => commits.addToHot(transaction, numbers, blocks, covered))
    },
    finalize: async (chain, upTo) => {
      const ordinal = await dictionary.addOrdinal(chain)
      await store.writing(transaction => commits.finalize(transaction, ordinal, upTo))
    },
    putHead: async (chain, head) => {
      const ordinal = await dictionary.addOrdinal(chain)
      await store.writing(transaction => commits.putHead(transaction, ordinal, head))
    },
    addCoverage: async (chain, scope, interval) => {
      const ordinal = await dictionary.addOrdinal(chain)
      await store.writing(transaction => commits.addCovered(transaction, ordinal, [{ ...interval, scope }]))
    },
    dropRange: async (chain, scope, interval) => {
      const ordinal = await dictionary.ordinalOf(chain)
      if (ordinal === undefined) return
      const contract = scope === 'full' ? undefined : await dictionary.contractOf(ordinal, scope)
      await store.writing(transaction => commits.dropRange(transaction, { ordinal, contract }, scope, interval))
    },
    watchContract: async (chain, contract, watchedFrom) => {
      const ordinal = await dictionary.addOrdinal(chain)
      await store.writing(transaction => watchContract(transaction, ordinal, contract, watchedFrom))
    },
  }
}

function rowsOf(blocks: readonly HotBlock[]): TransferRow[] {
  return blocks.flatMap(block => block.transfers)
}

async function numbersOf(
  dictionary: Dictionary,
  chain: ChainId,
  rows: readonly TransferRow[],
): Promise<commits.Numbers> {
  const ordinal = await dictionary.addOrdinal(chain)
  const addresses = rows.map(row => row.contract)
  return { ordinal, contracts: await dictionary.addContracts(ordinal, addresses) }
}
