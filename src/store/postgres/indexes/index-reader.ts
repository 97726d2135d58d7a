// The indexes of transfers as requests read them. It only joins the parts.
import type { IndexReader } from '../../index-reader.ts'
import { emptyPage } from '../../transfer-page.ts'
import type { StoreDatabase } from '../store-database.ts'
import { indexStates } from './kept-indexes.ts'
import { oldestOfTokens, withRanges } from './oldest-of-tokens.ts'
import { indexRecords } from './record-batches.ts'
import { rowChangesOf } from './row-changes.ts'
import { transfersAt } from './transfers-at.ts'

export function indexReader(store: StoreDatabase): IndexReader {
  const { database } = store
  return {
    indexRecords: query => indexRecords(store, query),
    oldestOfTokens: (chain, tokens) =>
      store.ofChain(
        chain,
        tokens.map(() => undefined),
        ordinal => oldestOfTokens(store, ordinal, tokens),
      ),
    withRanges: (chain, contracts) => store.ofChain(chain, new Set(), ordinal => withRanges(store, ordinal, contracts)),
    transfersAt: (chain, places) =>
      store.ofChain(chain, { ...emptyPage, contracts: [] }, ordinal => transfersAt(store, ordinal, places)),
    indexStates: chain => store.ofChain(chain, [], ordinal => indexStates(database, ordinal)),
    rowChanges: chain => store.ofChain(chain, { takenBack: 0, filled: 0 }, ordinal => rowChangesOf(database, ordinal)),
  }
}
