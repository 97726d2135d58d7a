// Reading the indexes of a file: records, and the transfers that they point to. Each question reads one moment.
import { hexOf } from '../../../hex.ts'
import type { Address } from '../../../model.ts'
import { runNow } from '../../core/disk.ts'
import { readRecords } from '../../core/read-records.ts'
import { type IndexQuery, type IndexReader, type IndexRecords, noRecords } from '../../index-reader.ts'
import { indexOf, indexViews } from '../../indexes/all-indexes.ts'
import { transferView } from '../../runs/transfer-view.ts'
import { emptyPage } from '../../transfer-page.ts'
import type { Connection } from '../connection.ts'
import { KnownRuns } from '../runs/known-runs.ts'
import type { StoreFile } from '../store-file.ts'
import { indexStates } from './kept-indexes.ts'
import { oldestOfTokens } from './oldest-of-tokens.ts'
import { recordBatches } from './record-batches.ts'
import { transfersAt } from './transfers-at.ts'

const findKept = `SELECT 1 FROM chain_indexes WHERE chain = ? AND view = ? AND kept = 1 AND phase IS NOT 'remove'`

type NumberOf = (contract: Address) => number | undefined

export function indexReader(file: StoreFile): IndexReader {
  const transferRuns = new KnownRuns(transferView)
  const runsOfIndex = new Map(indexViews.map(view => [view.name, new KnownRuns(view)]))
  /** `none` where the index is not kept. */
  const ofIndex = <T>(
    { chain, index }: Pick<IndexQuery, 'chain' | 'index'>,
    none: T,
    work: (read: Connection, ordinal: number, numberOf: NumberOf) => T,
  ): T =>
    file.ofChain(chain, none, (read, ordinal) =>
      read.snapshot(() => {
        if (read.get(findKept, ordinal, indexOf(index).id) === undefined) return none
        return work(read, ordinal, address => file.dictionary.contractOf(ordinal, address))
      }),
    )
  return {
    indexRecords: async query =>
      ofIndex(query, noRecords, (read, chain, numberOf) =>
        recordsOf(read, query, chain, runsOfIndex.get(query.index)!, numberOf),
      ),
    oldestOfTokens: async (chain, tokens) => {
      const none = tokens.map(() => undefined)
      return ofIndex({ chain, index: 'by_token' }, none, (read, ordinal, numberOf) =>
        oldestOfTokens({ read, chain: ordinal, runs: runsOfIndex.get('by_token')!, numberOf }, tokens),
      )
    },
    withRanges: async (chain, contracts) => {
      const isMarked = (read: Connection, number: number | undefined): boolean =>
        number !== undefined && read.get('SELECT has_ranges FROM contracts WHERE id = ?', number)?.[0] === 1
      return ofIndex(
        { chain, index: 'by_token' },
        new Set<Address>(),
        (read, _, numberOf) => new Set(contracts.filter(contract => isMarked(read, numberOf(contract)))),
      )
    },
    transfersAt: async (chain, places) =>
      file.ofChain(chain, { ...emptyPage, contracts: [] }, (read, ordinal) =>
        read.snapshot(() => transfersAt({ read, ordinal, dictionary: file.dictionary, runs: transferRuns }, places)),
      ),
    indexStates: async chain => file.ofChain(chain, [], indexStates),
    rowChanges: async chain =>
      file.reading(read => {
        const [takenBack = 0, filled = 0] = read.get('SELECT taken_back, filled FROM chains WHERE id = ?', chain) ?? []
        return { takenBack, filled } as { takenBack: number; filled: number }
      }),
  }
}

function recordsOf(
  read: Connection,
  query: IndexQuery,
  chain: number,
  known: KnownRuns,
  numberOf: NumberOf,
): IndexRecords {
  const view = indexOf(query.index)
  const contract = query.contract === undefined ? undefined : numberOf(query.contract)
  if (view.byContract && contract === undefined) return noRecords
  const { contracts, ...records } = runNow(readRecords({ ...query, view, chain, contract }), recordBatches(read, known))
  return { ...records, contracts: new Map([...contracts].map(each => [each, addressOf(read, each)])) }
}

function addressOf(read: Connection, contract: number): Address {
  return hexOf<Address>(read.get('SELECT address FROM contracts WHERE id = ?', contract)![0] as Uint8Array)
}
