// Transfers at given places: of each one lookup in the hot table, or in the cold one and the runs of its block. Callers
// hold the snapshot.

import type { ContractPlace, MixedPage } from '../../index-reader.ts'
import { hasMember } from '../../runs/members.ts'
import { fitsKey } from '../../runs/place-key.ts'
import { transferKey, transferView } from '../../runs/transfer-view.ts'
import { emptyPage } from '../../transfer-page.ts'
import type { Connection } from '../connection.ts'
import type { Dictionary } from '../dictionary.ts'
import type { KnownRuns } from '../runs/known-runs.ts'
import { withBlocks } from '../runs/run-pages.ts'
import { valueIn } from '../runs/runs.ts'
import { keyBaseOf } from '../transfer-pages.ts'

const at = '(contract, block, tx, log, pos) = (?, ?, ?, ?, ?)'
const findHot = `SELECT payload FROM hot_transfers WHERE ${at}`
const findCold = `SELECT payload FROM transfers WHERE ${at}`

type PlaceContext = { read: Connection; ordinal: number; dictionary: Dictionary; runs: KnownRuns }

export function transfersAt(context: PlaceContext, places: readonly ContractPlace[]): MixedPage {
  const { read, ordinal } = context
  const finalized = read.get('SELECT finalized FROM chains WHERE ordinal = ?', ordinal)?.[0] as number
  const found: ContractPlace[] = []
  const payloads: Uint8Array[] = []
  for (const place of places) {
    const payload = payloadAt(context, place, place.block > finalized)
    if (payload === undefined) continue
    found.push(place)
    payloads.push(payload)
  }
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

function payloadAt(
  { read, ordinal, dictionary, runs }: PlaceContext,
  { contract: address, ...position }: ContractPlace,
  isHot: boolean,
): Uint8Array | undefined {
  const contract = dictionary.contractOf(ordinal, address)
  if (contract === undefined) return undefined
  const { block, transactionIndex, logIndex, batchIndex } = position
  const place = [contract, block, transactionIndex, logIndex, batchIndex]
  const row = read.get(isHot ? findHot : findCold, ...place)
  if (row !== undefined) return row[0] as Uint8Array
  if (isHot || !fitsKey(position)) return undefined
  const key = transferKey(contract, position)
  for (const run of runs.all(read)) {
    if (run.chain !== ordinal || block < run.from || block > run.to) continue
    if (!hasMember(runs.members(read, run.id), contract)) continue
    const payload = valueIn(read, transferView, run.id, key)
    if (payload !== undefined) return payload
  }
  return undefined
}
