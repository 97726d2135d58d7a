// Transfers at given places, contract by contract: hot ones from their table, others from the runs of their blocks, or
// the cold table. Callers hold the snapshot.
import type { Position } from '../../../model.ts'
import type { ContractPlace, MixedPage } from '../../index-reader.ts'
import { PackSearch } from '../../runs/pack-search.ts'
import { fitsKey } from '../../runs/place-key.ts'
import { transferKey, transferView } from '../../runs/transfer-view.ts'
import { emptyPage } from '../../transfer-page.ts'
import type { Connection } from '../connection.ts'
import type { Dictionary } from '../dictionary.ts'
import type { KnownRun, KnownRuns } from '../runs/known-runs.ts'
import { withBlocks } from '../runs/run-pages.ts'
import { lastUpTo } from '../runs/runs.ts'
import { keyBaseOf } from '../transfer-pages.ts'

const at = '(contract, block, tx, log, pos) = (?, ?, ?, ?, ?)'
const findHot = `SELECT payload FROM hot_transfers WHERE ${at}`
const findCold = `SELECT payload FROM transfers WHERE ${at}`

type PlaceContext = { read: Connection; ordinal: number; dictionary: Dictionary; runs: KnownRuns }

export function transfersAt(
  { read, ordinal, dictionary, runs }: PlaceContext,
  places: readonly ContractPlace[],
): MixedPage {
  const finalized = read.get('SELECT finalized FROM chains WHERE ordinal = ?', ordinal)?.[0] as number
  const stored: (Uint8Array | undefined)[] = places.map(() => undefined)
  const search = new PackSearch(transferView.keyBytes)
  const all = runs.all(read)
  for (const [address, wanted] of Map.groupBy(places.keys(), at => places[at]!.contract)) {
    const contract = dictionary.contractOf(ordinal, address)
    if (contract === undefined) continue
    const its = { read, contract, search, runs: runs.ofContract(read, contract, all) }
    for (const at of wanted) {
      const place = places[at]!
      stored[at] = place.block > finalized ? inTable(findHot, its, place) : coldPayload(its, place)
    }
  }
  const found = places.filter((_, at) => stored[at] !== undefined)
  const payloads = stored.filter(payload => payload !== undefined)
  const contracts = found.map(({ contract }) => contract)
  if (found.length === 0) return { ...emptyPage, contracts }
  const columns = {
    blocks: found.map(({ block }) => block),
    transactionIndexes: found.map(({ transactionIndex }) => transactionIndex),
    logIndexes: found.map(({ logIndex }) => logIndex),
    batchIndexes: found.map(({ batchIndex }) => batchIndex),
    payloads: Buffer.concat(payloads),
  }
  return { ...withBlocks(read, columns, keyBaseOf(ordinal), 'hot and cold'), contracts }
}

type ContractRows = { read: Connection; contract: number; search: PackSearch; runs: readonly KnownRun[] }

function coldPayload(its: ContractRows, place: Position): Uint8Array | undefined {
  const { read, contract, search, runs } = its
  if (fitsKey(place)) {
    const key = transferKey(contract, place)
    for (const { id, from, to } of runs) {
      const mayHave = place.block >= from && place.block <= to
      if (mayHave && lastUpTo(read, search, id, key) && search.isAlike()) return search.value()
    }
  }
  return inTable(findCold, its, place)
}

function inTable(sql: string, { read, contract }: ContractRows, place: Position): Uint8Array | undefined {
  const { block, transactionIndex, logIndex, batchIndex } = place
  return read.get(sql, contract, block, transactionIndex, logIndex, batchIndex)?.[0] as Uint8Array | undefined
}
