// What was told of a chain and holds no longer: the blocks that reorganisations replaced, with their transfers, and the
// blocks whose final rows were taken back. `query/changes/` retracts by it what it told. Callers hold the transaction.
import { bytesOfHex, hexOf, textOfKey } from '../../hex.ts'
import { comparePositions, type Hash, type Interval } from '../../model.ts'
import { transferKey, transferValue } from '../runs/transfer-view.ts'
import type { GoneBlock, TakenBack } from '../store.ts'
import type { ChainRow } from './chain-row.ts'
import type { Dictionary } from './dictionary.ts'
import { packTransfers, recentBlock } from './recent-block.ts'
import { mixedPageOf } from './transfer-pages.ts'
import { type Cells, insert, put, type Row, row, rows, run, type Work } from './work.ts'

/** Bounds what is in memory while they are moved. */
const blocksPerStep = 256
/** Deleted with each reorganisation, of those that are too old. */
const deletedMax = 1_000

/** Keeps the recent blocks above one, before they are deleted. `keptMs`: for how long; 0 keeps none. */
export function* keepGone({ chain, finalized }: ChainRow, above: number, keptMs: number): Work<void> {
  const atMs = Date.now()
  yield* deleteOld(chain, atMs - keptMs)
  if (keptMs <= 0) return
  let parent = yield* parentOf(chain, above, finalized)
  const find = `SELECT number FROM recent_blocks WHERE chain = $1 AND part = 0 AND number > $2 ORDER BY number
    LIMIT ${blocksPerStep}`
  const findParts = `SELECT number, part, hash, timestamp, transfers FROM recent_blocks
    WHERE chain = $1 AND number > $2 AND number <= $3 ORDER BY number, part`
  for (let after = above; ; ) {
    const last = (yield* rows(find, chain, after)).at(-1)?.[0]
    if (last === undefined) return
    const stored = Map.groupBy(yield* rows(findParts, chain, after, last), ([number]) => number)
    const before = yield* knownGone(
      chain,
      [...stored.values()].map(([first]) => first![2]),
    )
    const gone: Cells[] = []
    for (const its of stored.values()) {
      const [number, , hash, timestamp, transfers] = its[0]!
      const parts = [...its, ...(before.get(textOfKey(hash)) ?? [])]
      const packed = parts.length === 1 ? transfers : packTransfers(recentBlock(parts).transfers())
      const of = { parent_number: parent.number, parent_hash: parent.hash }
      gone.push({ chain, hash, number, ...of, timestamp, transfers: packed, gone_at: atMs })
      parent = { number, hash }
    }
    yield* put('gone_blocks', gone)
    after = last
  }
}

/**
 * Of blocks that went before and came back, as a further part of them: rows that had come on demand may be missing
 * since.
 */
function* knownGone(chain: number, hashes: readonly Uint8Array[]): Work<Map<string, Row[]>> {
  const find = `SELECT number, -1, hash, timestamp, transfers FROM gone_blocks WHERE hash IN $1:blobs AND chain = $2`
  return Map.groupBy(yield* rows(find, hashes, chain), ([, , hash]) => textOfKey(hash))
}

type Parent = { number: number; hash: Uint8Array | null }

/** The highest stored block that stays. One that is final stays in any case. */
function* parentOf(chain: number, above: number, finalized: number): Work<Parent> {
  const find = `SELECT number, hash FROM recent_blocks WHERE chain = $1 AND part = 0 AND number <= $2 AND number > $3
    ORDER BY number DESC LIMIT 1`
  const [number, hash] = (yield* row(find, chain, above, finalized)) ?? [finalized, null]
  return { number, hash }
}

function* deleteOld(chain: number, before: number): Work<void> {
  const drop = `DELETE FROM gone_blocks WHERE (chain, hash) IN (SELECT chain, hash FROM gone_blocks
    WHERE chain = $1 AND gone_at <= $2 LIMIT ${deletedMax})`
  yield* run(drop, chain, before)
}

export function* goneBlock(dictionary: Dictionary, chain: number, hash: Hash): Work<GoneBlock | undefined> {
  const find = `SELECT number, 0, hash, timestamp, transfers, parent_number, parent_hash FROM gone_blocks
    WHERE chain = $1 AND hash = $2`
  const found = yield* row(find, chain, bytesOfHex(hash))
  if (found === undefined) return undefined
  const [number, , stored, timestamp, , parentNumber, parentHash] = found
  const transfers = recentBlock([found])
    .transfers()
    .sort((a, b) => comparePositions(b, a))
  const addresses = yield* dictionary.addressesOf(new Set(transfers.map(({ contract }) => contract)))
  const page = mixedPageOf(
    transfers.map(each => ({
      address: addresses.get(each.contract)!,
      key: transferKey(each.contract, each),
      value: transferValue({ timestamp, hash: stored }, each.payload).slice(),
    })),
  )
  const parent = { number: parentNumber, hash: parentHash === null ? undefined : hexOf<Hash>(parentHash) }
  return { number, hash, timestamp, parent, page }
}

// Final rows that were taken back: of all contracts, or of one. Each time is a new era, which no era of before a backup
// was restored equals.

/** Older ones become one: positions from between them are answered as gone. */
const takenMax = 1_000

export function* noteTakenBack(chain: number, { from, to }: Interval, contract?: number): Work<void> {
  const find = 'SELECT era, from_block, to_block FROM taken_back WHERE chain = $1 ORDER BY era'
  const known = yield* rows(find, chain)
  if (known.length >= takenMax) yield* joinOldest(chain, known.slice(0, takenMax / 2))
  const era = Math.max((known.at(-1)?.[0] ?? 0) + 1, Date.now())
  yield* insert('taken_back', [{ chain, era, contract: contract ?? null, from_block: from, to_block: to }])
}

function* joinOldest(chain: number, oldest: readonly (readonly number[])[]): Work<void> {
  const era = oldest.at(-1)![0]!
  const from = Math.min(...oldest.map(each => each[1]!))
  const to = Math.max(...oldest.map(each => each[2]!))
  yield* run('DELETE FROM taken_back WHERE chain = $1 AND era <= $2', chain, era)
  yield* insert('taken_back', [{ chain, era, contract: null, from_block: from, to_block: to }])
}

export function* takenBackOf(dictionary: Dictionary, chain: number): Work<TakenBack[]> {
  const find = 'SELECT era, contract, from_block, to_block FROM taken_back WHERE chain = $1 ORDER BY era'
  const found = yield* rows(find, chain)
  const addresses = yield* dictionary.addressesOf(found.flatMap(([, contract]) => contract ?? []))
  return found.map(([era, contract, from, to]) => ({ era, contract: addresses.get(contract), from, to }))
}
