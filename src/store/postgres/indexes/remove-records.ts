// Removes the records of transfers that go: each transfer tells the keys of its own. Callers hold the transaction, and
// the chain's runs alone.
import type { Interval } from '../../../model.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { blockOfPlace } from '../../runs/place-key.ts'
import type { StoredTransfer } from '../../runs/view.ts'
import { byteaArray, bytesOf } from '../arrays.ts'
import type { Transaction } from '../database.ts'
import { changeKeys, dropRun, runsOf } from '../runs/runs.ts'
import type { Slots } from '../runs/slots.ts'
import { transferOf } from '../stored-rows.ts'
import { blocksOf, recordsOf, slotOfRecord } from './derived-records.ts'
import { liveIndexes } from './kept-indexes.ts'

/** Bounds what is in memory. */
const transfersAtOnce = 10_000

export type RemovedFrom = { chain: number; slots: Slots }

export class RemovedTransfers {
  readonly #transaction: Transaction
  readonly #from: RemovedFrom
  readonly #indexes: readonly IndexView[]
  #transfers: StoredTransfer[] = []

  constructor(transaction: Transaction, from: RemovedFrom, indexes: readonly IndexView[]) {
    this.#transaction = transaction
    this.#from = from
    this.#indexes = indexes
  }

  static async of(transaction: Transaction, from: RemovedFrom): Promise<RemovedTransfers> {
    return new RemovedTransfers(transaction, from, await liveIndexes(transaction, from.chain))
  }

  add(transfer: StoredTransfer): void {
    if (this.#indexes.length > 0) this.#transfers.push(transfer)
  }

  async flush({ isLast = false } = {}): Promise<void> {
    if (this.#transfers.length === 0 || (!isLast && this.#transfers.length < transfersAtOnce)) return
    const transfers = this.#transfers
    this.#transfers = []
    for (const index of this.#indexes) await this.#removeFrom(index, transfers)
  }

  async #removeFrom(index: IndexView, transfers: readonly StoredTransfer[]): Promise<void> {
    const { chain, slots } = this.#from
    const records = recordsOf(index, transfers)
    const all = Array.from({ length: records.length }, (_, rank) => records.keyAt(rank))
    const bySlot = Map.groupBy(all, key => slotOfRecord(slots, index, chain, key))
    const drop = 'DELETE FROM view_records WHERE slot = $1 AND view = $2 AND chain = $3 AND key = ANY($4::bytea[])'
    for (const [slot, keys] of bySlot) await this.#transaction.run(drop, slot, index.id, chain, byteaArray(keys))
    const contracts = new Set(transfers.map(({ contract }) => contract))
    const only = index.byContract && contracts.size === 1 ? transfers[0]!.contract : undefined
    for (const run of await runsOf(this.#transaction, index, { chain, ...blocksOf(transfers) }, only)) {
      const isOfRun = (key: Uint8Array): boolean => {
        const block = blockOfPlace(key, index.placeAt)
        return block >= run.from && block <= run.to
      }
      const keys = bySlot.get(run.slot)?.filter(isOfRun) ?? []
      await changeKeys(this.#transaction, index, run, () => null, keys)
    }
  }

  /** Before whole blocks go: runs of no other blocks go as they are. */
  async dropRunsWithin(interval: Interval): Promise<void> {
    for (const index of this.#indexes)
      for (const run of await runsOf(this.#transaction, index, { chain: this.#from.chain, ...interval }))
        if (run.from >= interval.from && run.to <= interval.to) await dropRun(this.#transaction, run)
  }

  /** Before rows are deleted from the table of cold transfers. */
  async takeFromTable(contract: number | undefined, { from, to }: Interval): Promise<void> {
    if (this.#indexes.length === 0) return
    const [whose, which] =
      contract === undefined
        ? ['contract IN (SELECT id FROM contracts WHERE chain = $1)', this.#from.chain]
        : ['contract = $1', contract]
    const find = `SELECT contract, block, place, place >> 32, place & 4294967295, payload FROM transfers
      WHERE ${whose} AND block BETWEEN $2::int8 AND $3::int8
        AND (contract > $4 OR contract = $4 AND (block, place) < ($5::int8, $6::int8))
      ORDER BY contract, block DESC, place DESC LIMIT ${transfersAtOnce}`
    for (let after: [number, number, string] | undefined = [-1, 0, '0']; after !== undefined; ) {
      const rows = await this.#transaction.query(find, which, from, to, ...after)
      for (const [number, block, , high, low, payload] of rows)
        this.add(
          transferOf({
            ...{ contract: Number(number), block: Number(block) },
            ...{ placeHigh: Number(high), placeLow: Number(low), payload: bytesOf(payload) },
          }),
        )
      await this.flush()
      const last = rows.length < transfersAtOnce ? undefined : rows.at(-1)
      after = last === undefined ? undefined : [Number(last[0]), Number(last[1]), last[2] as string]
    }
  }
}
