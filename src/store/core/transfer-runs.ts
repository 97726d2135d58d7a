// Writing transfers as runs, with the runs of their counts and of the indexes that follow from them, and removing them
// again. Callers hold the transaction.
import { AlmanacError } from '../../errors.ts'
import { comparePositions, type Interval } from '../../model.ts'
import { SortedRecords } from '../indexes/sorted-records.ts'
import { bucketOf, countKey, countValue, countView } from '../runs/count-view.ts'
import { PackSearch } from '../runs/open-pack.ts'
import { blockOfPlace, fitsKey } from '../runs/place-key.ts'
import {
  contractOfKey,
  payloadAt,
  positionOfKey,
  transferKey,
  transferValue,
  transferView,
} from '../runs/transfer-view.ts'
import type { IndexView, NumberedTransfer } from '../runs/view.ts'
import { idCountOf } from '../transfer-payload.ts'
import { addRun, blockBegin, type Change, changeKeys, type OfChain, type RunPlace } from './runs.ts'
import { slotOfContract, slotOfKey } from './slots.ts'
import { looks, type Work } from './work.ts'

/** With the hash and the time of its block. */
export type BlockTransfer = NumberedTransfer & { timestamp: number; hash: Uint8Array }

/** A place that no key can tell would be stored as another one. No chain has any. */
export function requireFits(transfer: NumberedTransfer): void {
  if (fitsKey(transfer)) return
  const { block, transactionIndex, logIndex, batchIndex } = transfer
  throw new AlmanacError(
    'store_failed',
    `Block ${block}, transaction ${transactionIndex}, log ${logIndex}, position ${batchIndex} does not fit into a store.`,
    { hint: 'check the endpoint that gave this transfer.' },
  )
}

/** None may be stored yet; of those at one place the first counts. Answers which were added. */
export function* addTransfers<T extends BlockTransfer>(
  place: RunPlace,
  of: OfChain,
  views: readonly IndexView[],
  transfers: readonly T[],
): Work<T[]> {
  const sorted = inOrder(transfers)
  if (sorted.length === 0) return sorted
  const counts = new Counts()
  yield* addRun(place, transferView, of, writerOf => {
    const key = new Uint8Array(transferView.keyBytes)
    for (const transfer of sorted) {
      const { contract, payload } = transfer
      const value = transferValue(transfer, payload)
      writerOf(slotOfContract(place.slots, contract)).add(transferKey(contract, transfer, key), value, value.length)
      counts.add(contract, transfer.block, idCountOf(payload))
    }
  })
  yield* counts.store(place, of)
  yield* addIndexRecords(place, of, views, sorted)
  return sorted
}

/** By contract and newest first, each place once. */
function inOrder<T extends BlockTransfer>(transfers: readonly T[]): T[] {
  const sorted = transfers.toSorted(compareTransfers)
  return sorted.filter((transfer, at) => at === 0 || compareTransfers(sorted[at - 1]!, transfer) !== 0)
}

function compareTransfers(a: NumberedTransfer, b: NumberedTransfer): number {
  return a.contract - b.contract || comparePositions(b, a)
}

export function* addIndexRecords(
  place: RunPlace,
  of: OfChain,
  views: readonly IndexView[],
  transfers: readonly NumberedTransfer[],
): Work<void> {
  for (const view of views) {
    const records = recordsOf(view, transfers)
    yield* addRun(place, view, of, writerOf =>
      records.spreadTo((keys, keyAt) => writerOf(slotOfKey(place.slots, view, of.chain, keys, keyAt))),
    )
  }
}

function recordsOf(view: IndexView, transfers: Iterable<NumberedTransfer>): SortedRecords {
  const records = new SortedRecords(view)
  for (const transfer of transfers) view.recordsOf(transfer, records.add)
  return records.sort()
}

export function blocksOf(transfers: Iterable<{ block: number }>): Interval {
  const blocks = { from: Number.POSITIVE_INFINITY, to: -1 }
  for (const { block } of transfers) {
    blocks.from = Math.min(blocks.from, block)
    blocks.to = Math.max(blocks.to, block)
  }
  return blocks
}

/** What transfers add to kept counts, or take back: of a contract as a whole, and of each bucket of blocks. */
class Counts {
  readonly #byContract = new Map<number, Map<number, number>>()
  /** Rows of one bucket come one after the other. */
  readonly #open = { contract: -1, bucket: -1, count: 0 }

  add(contract: number, block: number, count: number): void {
    const open = this.#open
    const bucket = bucketOf(block)
    if (open.contract !== contract || open.bucket !== bucket) {
      this.#close()
      open.contract = contract
      open.bucket = bucket
    }
    open.count += count
  }

  #close(): void {
    const { contract, bucket, count } = this.#open
    this.#open.count = 0
    if (contract < 0) return
    const buckets = this.#byContract.get(contract) ?? new Map<number, number>()
    this.#byContract.set(contract, buckets)
    for (const each of [-1, bucket]) buckets.set(each, (buckets.get(each) ?? 0) + count)
  }

  *store(place: RunPlace, of: OfChain): Work<void> {
    this.#close()
    yield* addRun(place, countView, of, writerOf => {
      for (const contract of [...this.#byContract.keys()].sort((a, b) => a - b)) {
        const writer = writerOf(slotOfContract(place.slots, contract))
        for (const [bucket, count] of [...this.#byContract.get(contract)!].sort(([a], [b]) => a - b)) {
          const value = countValue(count)
          writer.add(countKey(contract, bucket), value, value.length)
        }
      }
    })
  }
}

const looksAtOnce = 2_000

/** Without those that a run has. */
export function* withoutStored<T extends BlockTransfer>(chain: number, transfers: readonly T[]): Work<T[]> {
  const missing: T[] = []
  const search = new PackSearch(transferView.keyBytes)
  for (let at = 0; at < transfers.length; at += looksAtOnce) {
    const some = transfers.slice(at, at + looksAtOnce)
    const asked = some.map(transfer => ({
      ...{ contract: transfer.contract, key: transferKey(transfer.contract, transfer) },
      blocks: { from: transfer.block, to: transfer.block },
    }))
    const { packs } = yield* looks({ kind: 'looks', chain, view: transferView, looks: asked })
    const stored = new Set<number>()
    for (const { looks: wanted, bytes } of packs)
      for (const look of wanted) if (search.lastUpTo(bytes, asked[look]!.key) && search.isAlike()) stored.add(look)
    missing.push(...some.filter((_, look) => !stored.has(look)))
  }
  return missing
}

/** Transfers that are on their way out of runs: their counts and the records of indexes follow them. */
export class RemovedTransfers {
  count = 0
  readonly #place: RunPlace
  readonly #chain: number
  readonly #views: readonly IndexView[]
  readonly #isWhole: (run: Interval) => boolean
  #transfers: NumberedTransfer[] = []

  /** `isWhole`: runs of indexes that go as they are. */
  constructor(place: RunPlace, chain: number, views: readonly IndexView[], isWhole: (run: Interval) => boolean) {
    this.#place = place
    this.#chain = chain
    this.#views = views
    this.#isWhole = isWhole
  }

  /** Removes the records of a walk over transfers that are of these blocks. */
  remove(isOf: (block: number) => boolean): Change {
    return (key, value) => {
      const position = positionOfKey(key)
      if (!isOf(position.block)) return undefined
      this.#transfers.push({ contract: contractOfKey(key), ...position, payload: value.slice(payloadAt) })
      return null
    }
  }

  /** Before the end of each transaction. */
  *flush(): Work<void> {
    const transfers = this.#transfers
    if (transfers.length === 0) return
    this.#transfers = []
    this.count += transfers.length
    const of = { chain: this.#chain, ...blocksOf(transfers) }
    const counts = new Counts()
    for (const { contract, block, payload } of transfers) counts.add(contract, block, -idCountOf(payload))
    // What is subtracted counts whatever the fold is: finality may be taken back to below these blocks.
    yield* counts.store(this.#place, { ...of, from: blockBegin })
    for (const view of this.#views) yield* this.#removeFrom(view, of, transfers)
  }

  *#removeFrom(view: IndexView, of: OfChain, transfers: readonly NumberedTransfer[]): Work<void> {
    const records = recordsOf(view, transfers)
    const keys = Array.from({ length: records.length }, (_, rank) => records.keyAt(rank))
    const keysBySlot = Map.groupBy(keys, key => slotOfKey(this.#place.slots, view, this.#chain, key))
    const isOf = (run: Interval, key: Uint8Array): boolean => {
      const block = blockOfPlace(key, view.placeAt)
      return block >= run.from && block <= run.to && !this.#isWhole(run)
    }
    yield* changeKeys(this.#place, view, { of, keysBySlot, isOf }, () => null)
  }
}
