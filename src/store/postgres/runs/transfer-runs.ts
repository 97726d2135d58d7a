// Transfers of whole blocks as runs, with the runs of their counts. A value is the time and the hash of the block and
// then the payload, so that a page is read from packs alone. Callers hold the transaction.
import type { Interval } from '../../../model.ts'
import { bucketMax, bucketOf, countKey, countValue, countView, totalKey } from '../../runs/count-view.ts'
import { compareKeys, valueBytesMax } from '../../runs/pack.ts'
import {
  blockOfKey,
  contractOfKey,
  positionOfKey,
  spanOfBlocks,
  transferKey,
  transferView,
} from '../../runs/transfer-view.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import { idCountOf } from '../../transfer-payload.ts'
import { bytesOf } from '../arrays.ts'
import type { Transaction } from '../database.ts'
import { type StoredRow, transferOf } from '../stored-rows.ts'
import {
  addRun,
  blockEnd,
  type Change,
  changeRun,
  lockRuns,
  type OfChain,
  runsOf,
  shareRuns,
  textOfKey,
} from './runs.ts'
import { type Slots, slotOfContract } from './slots.ts'

const hashAt = 8
export const payloadAt = hashAt + 32

export function timestampOf(value: Uint8Array): number {
  return Buffer.from(value.buffer, value.byteOffset, hashAt).readUIntBE(2, 6)
}

export function hashOf(value: Uint8Array): Uint8Array {
  return value.subarray(hashAt, payloadAt)
}

// A run is written without a pause: one serves all of a thread.
const packed = Buffer.alloc(valueBytesMax)

/** Valid until the next one is packed. */
function packedValue({ timestamp, hash, payload }: Pick<StoredRow, 'timestamp' | 'hash' | 'payload'>): Uint8Array {
  packed.writeUIntBE(timestamp, 2, 6)
  packed.set(hash, hashAt)
  packed.set(payload, payloadAt)
  return packed.subarray(0, payloadAt + payload.length)
}

/** Rows in the order of `storedRows`, none of which is stored yet. Returns those that were added. */
export async function addTransferRun(
  transaction: Transaction,
  slots: Slots,
  place: OfChain,
  rows: readonly StoredRow[],
): Promise<StoredTransfer[]> {
  const counts = new Counts()
  const added: StoredTransfer[] = []
  await addRun(transaction, { view: transferView, ...place }, slots, writerOf => {
    const key = new Uint8Array(transferView.keyBytes)
    const before = new Uint8Array(transferView.keyBytes)
    for (const row of rows) {
      const transfer = transferOf(row)
      transferKey(row.contract, transfer, key)
      // A commit may name a place twice: the first counts.
      if (compareKeys(before, key) === 0) continue
      before.set(key)
      const value = packedValue(row)
      writerOf(slotOfContract(slots, row.contract)).add(key, value, value.length)
      counts.add(row.contract, row.block, idCountOf(row.payload))
      added.push(transfer)
    }
  })
  await counts.store(transaction, slots, place)
  return added
}

/** What rows add to kept counts, or take back. */
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

  async store(transaction: Transaction, slots: Slots, place: OfChain): Promise<void> {
    this.#close()
    await addRun(transaction, { view: countView, ...place }, slots, writerOf => {
      for (const contract of [...this.#byContract.keys()].sort((a, b) => a - b)) {
        const writer = writerOf(slotOfContract(slots, contract))
        for (const [bucket, count] of [...this.#byContract.get(contract)!].sort(([a], [b]) => a - b)) {
          const value = countValue(count)
          writer.add(countKey(contract, bucket), value, value.length)
        }
      }
    })
  }
}

export type OfRows = { chain: number; contract?: number | undefined }

/** Is told each transfer that goes, and given the time to remove what follows from them. */
type Gone = { add: (transfer: StoredTransfer) => void; flush: () => Promise<void> }

/** Deletes the rows of an interval, of one contract or of all. Returns how many there were. */
export async function removeTransfers(
  transaction: Transaction,
  slots: Slots,
  { chain, contract }: OfRows,
  interval: Interval,
  gone: Gone,
): Promise<number> {
  return await subtracting(transaction, slots, { chain, ...interval }, gone, remove =>
    changeRows(transaction, { chain, contract }, interval, remove, () => gone.flush()),
  )
}

/** Counts what `work` removes. */
async function subtracting(
  transaction: Transaction,
  slots: Slots,
  place: OfChain,
  gone: Gone,
  work: (remove: Change) => Promise<void>,
): Promise<number> {
  const counts = new Counts()
  let removed = 0
  await work((key, value) => {
    const payload = value.slice(payloadAt)
    counts.add(contractOfKey(key), blockOfKey(key), -idCountOf(payload))
    gone.add({ contract: contractOfKey(key), ...positionOfKey(key), payload })
    removed++
    return null
  })
  if (removed > 0) await counts.store(transaction, slots, { ...place, to: Math.min(place.to, blockEnd) })
  return removed
}

/** Of one contract; a pack has more. */
const rowsPerPack = 16

/** About so many rows of a contract, from one run that has any; 0 where none has. */
export async function removeSomeTransfers(
  transaction: Transaction,
  slots: Slots,
  { chain, contract }: { chain: number; contract: number },
  rowsMax: number,
  gone: Gone,
): Promise<number> {
  const every = { chain, from: 0, to: Infinity }
  const span = spanOfBlocks(contract, every)
  await lockRuns(transaction, chain)
  for (const run of await runsOf(transaction, transferView, every, contract)) {
    const find = `SELECT key FROM packs WHERE slot = $1 AND run = $2 AND key > $3::bytea AND key < $4::bytea
      ORDER BY key LIMIT 1 OFFSET $5`
    const packs = Math.ceil(rowsMax / rowsPerPack)
    const [[beyond] = []] = await transaction.query(find, run.slot, run.id, span.from, span.to, packs)
    const to = beyond === null || beyond === undefined ? span.to : bytesOf(beyond)
    const removed = await subtracting(transaction, slots, { ...every, from: run.from, to: run.to }, gone, remove =>
      changeRun(transaction, transferView, run, remove, { span: { from: span.from, to }, between: () => gone.flush() }),
    )
    if (removed > 0) return removed
  }
  return 0
}

/** Gives rows of blocks that turned out to be others the hash and the time of the right ones. */
export async function correctBlocks(
  transaction: Transaction,
  chain: number,
  blocks: ReadonlyMap<number, { timestamp: number; hash: Uint8Array }>,
): Promise<void> {
  const numbers = [...blocks.keys()]
  const interval = { from: Math.min(...numbers), to: Math.max(...numbers) }
  await changeRows(transaction, { chain }, interval, (key, value) => {
    const block = blocks.get(blockOfKey(key))
    return block === undefined ? undefined : packedValue({ ...block, payload: value.subarray(payloadAt) })
  })
}

async function changeRows(
  transaction: Transaction,
  { chain, contract }: OfRows,
  interval: Interval,
  change: Change,
  between?: () => Promise<void>,
): Promise<void> {
  const runs = await runsOf(transaction, transferView, { chain, ...interval }, contract)
  if (runs.length === 0) return
  await lockRuns(transaction, chain)
  const span = contract === undefined ? undefined : spanOfBlocks(contract, interval)
  const within: Change = (key, value) => {
    const block = blockOfKey(key)
    return block < interval.from || block > interval.to ? undefined : change(key, value)
  }
  // Again, because a merge may have moved rows before it was locked out.
  for (const run of await runsOf(transaction, transferView, { chain, ...interval }, contract))
    await changeRun(transaction, transferView, run, within, { span, between })
}

/** Deletes the counts of a contract. */
export async function removeCounts(transaction: Transaction, chain: number, contract: number): Promise<void> {
  await lockRuns(transaction, chain)
  const span = { from: totalKey(contract), to: countKey(contract, bucketMax) }
  for (const run of await runsOf(transaction, countView, { chain, from: 0, to: Infinity }, contract))
    await changeRun(transaction, countView, run, () => null, { span })
}

/** Without those that a run has. Rows of whole blocks come first as a rule, so there is seldom a run to look into. */
export async function withoutStored(
  transaction: Transaction,
  chain: number,
  rows: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  if (rows.length === 0) return rows
  let [from, to] = [Infinity, -Infinity]
  for (const { block } of rows) {
    from = Math.min(from, block)
    to = Math.max(to, block)
  }
  const interval = { from, to }
  if ((await runsOf(transaction, transferView, { chain, ...interval })).length === 0) return rows
  const contracts = new Set(rows.map(row => row.contract))
  const stored = await keysIn(transaction, chain, interval, contracts)
  return rows.filter(row => !stored.has(textOfKey(transferKey(row.contract, transferOf(row)))))
}

/** The keys that runs have of contracts in an interval, as texts. */
async function keysIn(
  transaction: Transaction,
  chain: number,
  interval: Interval,
  contracts: Iterable<number>,
): Promise<ReadonlySet<string>> {
  await shareRuns(transaction, chain)
  const keys = new Set<string>()
  const note: Change = key => void keys.add(textOfKey(key))
  for (const contract of contracts)
    for (const run of await runsOf(transaction, transferView, { chain, ...interval }, contract))
      await changeRun(transaction, transferView, run, note, { span: spanOfBlocks(contract, interval) })
  return keys
}
