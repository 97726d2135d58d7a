// The changes of EVM chains, each as one transaction. What a commit does is `chain-commits.ts`.
import type { ChainWriter } from '../chain-store.ts'
import * as commits from './chain-commits.ts'
import { addCoverageRows } from './coverage-table.ts'
import type { StoreFile } from './store-file.ts'
import { watchContract } from './watched-contracts.ts'

export function chainWriter(file: StoreFile): ChainWriter {
  return {
    commitCold: commit => file.writing(context => commits.commitCold(context, commit)),
    commitHot: commit => file.writing(context => commits.commitHot(context, commit)),
    addToHot: (chain, blocks, covered) => file.writing(context => commits.addToHot(context, chain, blocks, covered)),
    finalize: (chain, upTo) => file.writing(context => commits.finalize(context, chain, upTo)),
    putHead: (chain, head) => file.writing(context => commits.putHead(context, chain, head)),
    addCoverage: (chain, scope, interval) =>
      file.writing(({ connection, dictionary }) =>
        addCoverageRows(connection, dictionary.addOrdinal(chain), scope, interval),
      ),
    dropRange: (chain, scope, interval) => file.writing(context => commits.dropRange(context, chain, scope, interval)),
    watchContract: (chain, contract, watchedFrom) =>
      file.writing(context => watchContract(context, chain, contract, watchedFrom)),
  }
}
