// Writing and reading EVM chains: each change is one transaction, after those in which large ones take rows back. What
// a commit does is `chain-commits.ts`.

import { setImmediate } from 'node:timers/promises'
import { hexOf } from '../../hex.ts'
import type { Address, Hash } from '../../model.ts'
import { activityCount } from '../packed-activity.ts'
import type { ChainReader, ChainWriter } from '../store.ts'
import { dropActivity } from './activity.ts'
import { blocksAround, blockWithHash, hotBlocksOf, lowestBlockOf } from './blocks.ts'
import * as commits from './chain-commits.ts'
import {
  addCoverageRows,
  contractCoverage,
  coverageByScope,
  coverageOf,
  forgottenBlocks,
  idleContracts,
  unwatchContract,
  watchContract,
  watchedContracts,
} from './coverage-table.ts'
import { forgetStep } from './forget/forget.ts'
import { sizeOf } from './forget/size-of.ts'
import { fillStep } from './indexes/fill.ts'
import { keepIndexes } from './indexes/kept-indexes.ts'
import { pendingRangesOf } from './pending-ranges.ts'
import { mergeRuns } from './runs/merges.ts'
import { takingBack } from './runs/take-back.ts'
import type { StoreFile } from './store-file.ts'
import { transferReader } from './transfer-pages.ts'
import { forgetWallets } from './work.ts'

/** It comes with up to two counts, and has up to four records in indexes. */
const recordsPerTransfer = 7

/** A few milliseconds of merging. */
const recordsPerFinalize = 1_000

export function chainWriter(file: StoreFile): ChainWriter {
  return {
    async commitCold(commit) {
      const added = await takingBack(file, commits.replacedBy(commit), context => commits.commitCold(context, commit))
      await mergeRuns(file, recordsPerTransfer * commit.transfers.length + activityCount(commit.activity))
      return added
    },
    commitHot: commit => file.writing(context => commits.commitHot(context, commit)),
    addToHot: (chain, blocks, covered) => file.writing(context => commits.addToHot(context, chain, blocks, covered)),
    async finalize(chain, upTo) {
      await file.writing(context => commits.finalize(context, chain, upTo))
      // What history left to merge ends while the head is followed.
      await mergeRuns(file, recordsPerFinalize)
    },
    putHead: (chain, head) => file.writing(context => commits.putHead(context, chain, head)),
    addCoverage: (chain, scope, interval) =>
      file.writing(({ connection, dictionary }) =>
        addCoverageRows(connection, dictionary.addOrdinal(chain), scope, interval),
      ),
    async dropRange(chain, scope, interval) {
      if (scope === 'full')
        return await takingBack(file, { chain, intervals: () => [interval] }, context =>
          commits.dropRange(context, chain, interval),
        )
      while (await file.writing(context => commits.dropSomeOf(context, chain, scope, interval))) await setImmediate()
    },
    unfinalize: (chain, to) =>
      takingBack(file, commits.unfinalized(chain, to), context => commits.unfinalize(context, chain, to)),
    dropActivity: (chain, wallets) =>
      file.writing(({ connection, dictionary }) => dropActivity(connection, dictionary.addOrdinal(chain), wallets)),
    watchContract: (chain, contract, watchedFrom) =>
      file.writing(context => watchContract(context, chain, contract, watchedFrom)),
    unwatchContract: (chain, contract) =>
      file.writing(({ connection, dictionary }) => unwatchContract(connection, dictionary.addOrdinal(chain), contract)),
    forgetWallets: (chain, below) => file.writingUnseen(connection => forgetWallets(connection, chain, below)),
    keepIndexes: (chain, names) =>
      file.writing(({ connection, dictionary }) => keepIndexes(connection, dictionary.addOrdinal(chain), names)),
    async fillIndexes(chain, transfersMax) {
      const isMore = await file.writing(context => {
        const ordinal = context.dictionary.ordinalOf(chain)
        return ordinal !== undefined && fillStep(context, ordinal, transfersMax)
      })
      await mergeRuns(file, recordsPerTransfer * transfersMax)
      return isMore
    },
    forgetStep: (what, rowsMax) => file.writing(context => forgetStep(context, what, rowsMax)),
  }
}

// Each question reads one moment.

const findState =
  'SELECT head_number, head_hash, head_timestamp, finalized FROM chains WHERE id = ? AND head_number IS NOT NULL'

export function chainReader(file: StoreFile): ChainReader {
  const { transferCount, transferPage } = transferReader(file)
  return {
    async chainState(chain) {
      const row = file.reading(read => read.get(findState, chain)) as [number, Uint8Array, number, number] | undefined
      if (row === undefined) return undefined
      const [number, hash, timestamp, finalized] = row
      return { head: { number, hash: hexOf<Hash>(hash), timestamp }, finalized }
    },
    coverage: async (chain, scope) => file.ofChain(chain, [], (read, ordinal) => coverageOf(read, ordinal, scope)),
    coverageByScope: async (chain, intervalsMax) =>
      file.ofChain(chain, [], (read, ordinal) => coverageByScope(read, ordinal, intervalsMax)),
    contractCoverage: async (chain, contract) =>
      file.ofChain(chain, [], (read, ordinal) => contractCoverage(read, ordinal, contract)),
    forgottenBlocks: async chain => file.ofChain(chain, [], forgottenBlocks),
    blocksAround: async (chain, timestamp) =>
      file.ofChain(chain, { before: undefined, after: undefined }, (read, ordinal) =>
        blocksAround(read, ordinal, timestamp),
      ),
    lowestBlock: async (chain, interval) =>
      file.ofChain(chain, undefined, (read, ordinal) => lowestBlockOf(read, ordinal, interval)),
    blockWithHash: async (chain, hash, interval) =>
      file.ofChain(chain, undefined, (read, ordinal) => blockWithHash(read, ordinal, hash, interval)),
    pendingRanges: async chain => file.ofChain(chain, [], pendingRangesOf),
    hotBlocks: async chain => file.ofChain(chain, [], hotBlocksOf),
    watchedContracts: async chain => file.ofChain(chain, [], watchedContracts),
    idleContracts: async (chain, before) =>
      file.ofChain(chain, [], (read, ordinal) => idleContracts(read, ordinal, before)),
    // A contract whose rows are gone keeps its number. Counts may lack rows that a check has to find.
    async contractsOf(chain, after, limit) {
      const found: Address[] = []
      for (let last = after; ; ) {
        const page = file.ofChain(chain, [], (_read, ordinal) => file.dictionary.contractsOf(ordinal, last, limit))
        for (const contract of page) {
          const newest = await transferPage({ chain, contract, order: 'desc', limit: 1 })
          if (newest.length > 0) found.push(contract)
        }
        if (page.length < limit || found.length >= limit) return found.slice(0, limit)
        last = page.at(-1)
      }
    },
    async sizeOf(what) {
      const { chain, contract } = what
      const counted = contract === undefined ? 0 : await transferCount({ chain, contract })
      return file.ofChain(chain, { transfers: 0, wallets: 0 }, (read, ordinal) => sizeOf(read, ordinal, what, counted))
    },
  }
}
