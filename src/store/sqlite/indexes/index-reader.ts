// Reading the indexes of a file: records, and the transfers that they point to. Each question reads one moment.
import { hexOf } from '../../../hex.ts'
import type { Address } from '../../../model.ts'
import { type IndexQuery, type IndexReader, type IndexRecords, noRecords } from '../../index-reader.ts'
import { indexOf, indexViews } from '../../indexes/all-indexes.ts'
import { transferView } from '../../runs/transfer-view.ts'
import { emptyPage } from '../../transfer-page.ts'
import type { Connection } from '../connection.ts'
import { KnownRuns } from '../runs/known-runs.ts'
import type { StoreFile } from '../store-file.ts'
import { readRecords } from './index-records.ts'
import { indexStates } from './kept-indexes.ts'
import { transfersAt } from './transfers-at.ts'

const findKept = `SELECT 1 FROM chain_indexes WHERE chain = ? AND view = ? AND kept = 1 AND phase IS NOT 'remove'`

export function indexReader(file: StoreFile): IndexReader {
  const transferRuns = new KnownRuns(transferView)
  const runsOfIndex = new Map(indexViews.map(view => [view.name, new KnownRuns(view)]))
  return {
    indexRecords: async query =>
      file.ofChain(query.chain, noRecords, (read, ordinal) =>
        read.snapshot(() => {
          if (read.get(findKept, ordinal, indexOf(query.index).id) === undefined) return noRecords
          const runs = runsOfIndex.get(query.index)!
          return recordsOf(read, query, ordinal, runs, address => file.dictionary.contractOf(ordinal, address))
        }),
      ),
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
  numberOf: (contract: Address) => number | undefined,
): IndexRecords {
  const view = indexOf(query.index)
  const number = query.contract === undefined ? undefined : numberOf(query.contract)
  if (view.byContract && number === undefined) return noRecords
  const whole = (key: Uint8Array): Uint8Array => (number === undefined ? key : withNumber(number, key))
  const runs =
    number === undefined ? known.all(read).filter(run => run.chain === chain) : known.ofContract(read, number)
  const { contracts, ...records } = readRecords(read, runs, {
    ...{ view, chain, order: query.order, limit: query.limit, from: whole(query.from), to: whole(query.to) },
    after: query.after === undefined ? undefined : whole(query.after),
  })
  return { ...records, contracts: new Map([...contracts].map(each => [each, addressOf(read, each)])) }
}

function withNumber(contract: number, rest: Uint8Array): Uint8Array {
  const key = new Uint8Array(4 + rest.length)
  new DataView(key.buffer).setUint32(0, contract)
  key.set(rest, 4)
  return key
}

function addressOf(read: Connection, contract: number): Address {
  return hexOf<Address>(read.get('SELECT address FROM contracts WHERE id = ?', contract)![0] as Uint8Array)
}
