// Writing and reading EVM chains: each change is one commit, and numbers of chains and contracts are found before
// it. What a commit does is `chain-commits.ts`.
import type { Address, ChainId, Hash, TransferRow } from '../../model.ts'
import { highestBlock } from '../commit-rules.ts'
import { activityCount } from '../packed-activity.ts'
import type { ChainReader, ChainWriter, ColdCommit, HotBlock } from '../store.ts'
import { dropActivity } from './activity.ts'
import { hexTextOf } from './arrays.ts'
import { blocksAround, blockWithHash, hotBlocksOf, lowestBlockOf } from './blocks.ts'
import * as commits from './chain-commits.ts'
import {
  contractCoverage,
  coverageByScope,
  coverageOf,
  forgottenBlocks,
  idleContracts,
  unwatchContract,
  watchContract,
  watchedContracts,
} from './coverage-table.ts'
import type { Dictionary } from './dictionary.ts'
import { forgetStep, sizeOf } from './forget.ts'
import { indexWriter } from './indexes/fill-indexes.ts'
import { pendingRangesOf } from './pending-ranges.ts'
import { mergeRuns } from './runs/merges.ts'
import type { StoreDatabase } from './store-database.ts'
import { transferReader } from './transfer-pages.ts'
import { withRows } from './transfer-rows.ts'
import { forgetWallets } from './work.ts'

/** A few milliseconds of merging. */
const recordsPerFinalize = 1_000

export function chainWriter(store: StoreDatabase): ChainWriter {
  const { database, dictionary } = store
  const placeOf = async (ordinal: number): Promise<commits.ColdPlace> => ({
    ...{ ordinal, slots: await store.slots(), bulkRows: store.merging.bulkRows },
  })
  /** Returns the block that was final before. */
  const finalize = async (ordinal: number, upTo: number, commit?: ColdCommit): Promise<number> => {
    const { finalized, end } = await commits.finalEnd(database, ordinal, upTo)
    if (end !== undefined) await store.committing(commits.finalization(await placeOf(ordinal), end, commit))
    return finalized
  }
  return {
    ...indexWriter(store),
    commitCold: async commit => {
      const numbers = await numbersOf(dictionary, commit.chain, commit.transfers)
      // Rows that a commit makes final leave the hot tables only once every worker shows them.
      const finalBefore = store.distributed ? await finalize(numbers.ordinal, highestBlock(commit), commit) : undefined
      const placed = { ...numbers, ...(await placeOf(numbers.ordinal)), finalBefore }
      const added = await store.committing(commits.coldCommit(placed, commit))
      // A transfer comes with up to two counts, and with up to four records of indexes.
      await mergeRuns(store, numbers.ordinal, 7 * commit.transfers.length + activityCount(commit.activity))
      return added
    },
    commitHot: async commit => {
      const numbers = await numbersOf(dictionary, commit.chain, rowsOf(commit.blocks))
      await store.committing(commits.hotCommit(numbers, commit))
    },
    addToHot: async (chain, blocks, covered) => {
      const numbers = await numbersOf(dictionary, chain, rowsOf(blocks))
      await store.committing(commits.hotAddition(numbers, blocks, covered))
    },
    async finalize(chain, upTo) {
      const ordinal = await dictionary.addOrdinal(chain)
      await finalize(ordinal, upTo)
      // What history left to merge ends while the head is followed.
      await mergeRuns(store, ordinal, recordsPerFinalize)
    },
    putHead: (chain, head) =>
      store.writingChain(chain, (transaction, ordinal) => commits.putHead(transaction, ordinal, head)),
    addCoverage: (chain, scope, interval) =>
      store.writingChain(chain, (transaction, ordinal) =>
        commits.addCovered(transaction, ordinal, [{ ...interval, scope }]),
      ),
    dropRange: async (chain, scope, interval) => {
      const ordinal = await dictionary.ordinalOf(chain)
      if (ordinal === undefined) return
      const contract = scope === 'full' ? undefined : await dictionary.contractOf(ordinal, scope)
      await store.committing(commits.rangeDrop({ ordinal, contract, slots: await store.slots() }, scope, interval))
    },
    unfinalize: async (chain, to) => {
      const ordinal = await dictionary.addOrdinal(chain)
      await store.committing(commits.unfinalization({ ordinal, chain, slots: await store.slots() }, to))
    },
    dropActivity: async (chain, wallets) => {
      const placed = { ordinal: await dictionary.addOrdinal(chain), slots: await store.slots() }
      await store.committing({ rows: transaction => dropActivity(transaction, placed, wallets) })
    },
    watchContract: (chain, contract, watchedFrom) =>
      store.writingChain(chain, (transaction, ordinal) => watchContract(transaction, ordinal, contract, watchedFrom)),
    unwatchContract: (chain, contract) =>
      store.writingChain(chain, (transaction, ordinal) => unwatchContract(transaction, ordinal, contract)),
    forgetWallets: (chain, below) => store.writingUnseen(transaction => forgetWallets(transaction, chain, below)),
    async forgetStep(what, rowsMax) {
      const step = await forgetStep(store, what, rowsMax)
      // Each step leaves a run of counts.
      const ordinal = await dictionary.ordinalOf(what.chain)
      if (ordinal !== undefined) await mergeRuns(store, ordinal, recordsPerFinalize)
      return step
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

// Each question is one statement.

const contractsAtOnce = 8

const findState =
  'SELECT head_number, head_hash, head_timestamp, finalized FROM chains WHERE id = $1 AND head_number IS NOT NULL'

export function chainReader(store: StoreDatabase): ChainReader {
  const { database, dictionary } = store
  const noBlocks = { before: undefined, after: undefined }
  const { transferPage, transferCount } = transferReader(store)
  const isInRuns = async (chain: ChainId, contract: Address): Promise<boolean> =>
    (await transferPage({ chain, contract, order: 'desc', limit: 1 })).length > 0
  return {
    async chainState(chain) {
      const [row] = await database.read(findState, chain)
      if (row === undefined) return undefined
      const [number, hash, timestamp, finalized] = row
      const head = { number: Number(number), hash: hexTextOf<Hash>(hash), timestamp: Number(timestamp) }
      return { head, finalized: Number(finalized) }
    },
    coverage: (chain, scope) => store.ofChain(chain, [], ordinal => coverageOf(database, ordinal, scope)),
    coverageByScope: (chain, intervalsMax) =>
      store.ofChain(chain, [], ordinal => coverageByScope(database, ordinal, intervalsMax)),
    contractCoverage: (chain, contract) =>
      store.ofChain(chain, [], ordinal => contractCoverage(database, ordinal, contract)),
    forgottenBlocks: chain => store.ofChain(chain, [], ordinal => forgottenBlocks(database, ordinal)),
    blocksAround: (chain, timestamp) =>
      store.ofChain(chain, noBlocks, ordinal => blocksAround(store, ordinal, timestamp)),
    lowestBlock: (chain, interval) =>
      store.ofChain(chain, undefined, ordinal => lowestBlockOf(database, ordinal, interval)),
    blockWithHash: (chain, hash, interval) =>
      store.ofChain(chain, undefined, ordinal => blockWithHash(database, ordinal, hash, interval)),
    pendingRanges: chain => store.ofChain(chain, [], ordinal => pendingRangesOf(database, ordinal)),
    hotBlocks: chain => store.ofChain(chain, [], ordinal => hotBlocksOf(database, ordinal)),
    watchedContracts: chain => store.ofChain(chain, [], ordinal => watchedContracts(database, ordinal)),
    idleContracts: (chain, before) => store.ofChain(chain, [], ordinal => idleContracts(database, ordinal, before)),
    // A contract whose rows are gone keeps its number.
    contractsOf: (chain, after, limit) =>
      store.ofChain(chain, [], async ordinal => {
        const found: Address[] = []
        for (let last = after; ; ) {
          const page = await dictionary.contractsOf(ordinal, last, limit)
          const having = await withRows(store, [...page.values()])
          for (let at = 0, all = [...page]; at < all.length; at += contractsAtOnce) {
            const some = all.slice(at, at + contractsAtOnce)
            const has = some.map(([contract, number]) => having.has(number) || isInRuns(chain, contract))
            for (const [index, isThere] of (await Promise.all(has)).entries()) if (isThere) found.push(some[index]![0])
          }
          if (page.size < limit || found.length >= limit) return found.slice(0, limit)
          last = [...page.keys()].at(-1)
        }
      }),
    sizeOf: what =>
      store.ofChain(what.chain, { transfers: 0, wallets: 0 }, async ordinal => {
        const { chain, contract } = what
        if (contract === undefined) return await sizeOf(store, ordinal, what)
        return { transfers: await transferCount({ chain, contract }), wallets: 0 }
      }),
  }
}
