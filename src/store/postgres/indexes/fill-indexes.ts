// Switches indexes of transfers on and off, fills them from stored rows, and removes the records of those that are not
// kept, step by step. A commit adds the records of its own rows whatever is filled, so a step that comes twice, or
// after one, adds what is there.
import type { ChainId } from '../../../model.ts'
import type { IndexWriter } from '../../index-reader.ts'
import { indexViews } from '../../indexes/all-indexes.ts'
import type { IndexView } from '../../indexes/index-view.ts'
import { contractOfKey, positionOfKey } from '../../runs/transfer-view.ts'
import { bytesOf, int4Array } from '../arrays.ts'
import type { Transaction } from '../database.ts'
import { blockMax } from '../place.ts'
import { lockRuns, sweepPacks } from '../runs/runs.ts'
import type { Slots } from '../runs/slots.ts'
import { payloadAt } from '../runs/transfer-runs.ts'
import type { StoreDatabase } from '../store-database.ts'
import { transferOf } from '../stored-rows.ts'
import { hotRowsUpTo } from '../transfer-rows.ts'
import { addHotRecords, addRecordsTo } from './add-records.ts'
import { storedTransfersAfter } from './cold-transfers.ts'
import { beforeAll } from './kept-indexes.ts'
import { countChange } from './row-changes.ts'

/** Sweeping a pack costs as much as adding the records of so many transfers. */
const transfersPerPack = 8

export function indexWriter(store: StoreDatabase): IndexWriter {
  return {
    keepIndexes: (chain, names) =>
      store.writingChain(chain, async (transaction, ordinal) => {
        await lockAll(transaction, ordinal)
        const rows = await transaction.query('SELECT view, kept FROM chain_indexes WHERE chain = $1', ordinal)
        const kept = new Map(rows.map(([view, isKept]) => [Number(view), isKept === 't']))
        for (const index of indexViews)
          if (!names.includes(index.name)) {
            if (kept.get(index.id)) await leaveIndex(transaction, ordinal, index)
          } else if (!kept.get(index.id)) await keepIndex(transaction, ordinal, index, kept.has(index.id))
      }),
    fillIndexes: (chain, transfersMax) => fillIndexes(store, chain, transfersMax),
  }
}

/** Nobody adds or removes rows of the chain meanwhile. */
export async function lockAll(transaction: Transaction, chain: number): Promise<void> {
  await transaction.query('SELECT 1 FROM chains WHERE ordinal = $1 FOR NO KEY UPDATE', chain)
  await lockRuns(transaction, chain)
}

/** Records that are left of before go first: rows have gone meanwhile whose records have not. */
async function keepIndex(transaction: Transaction, chain: number, index: IndexView, hasOld: boolean): Promise<void> {
  const phase = hasOld ? 'remove' : 'cold'
  await transaction.run(
    `INSERT INTO chain_indexes (chain, view, phase, reached, contracts_of)
     SELECT $1::int4, $2::int4, $3::text, $4::bytea, count(*) FROM contracts WHERE chain = $1::int4
     ON CONFLICT (chain, view) DO UPDATE SET kept = true, contracts_of = excluded.contracts_of`,
    ...[chain, index.id, phase, beforeAll],
  )
  if (!hasOld) await addHot(transaction, chain, [index])
}

export async function leaveIndex(transaction: Transaction, chain: number, index: IndexView): Promise<void> {
  await transaction.run('DELETE FROM hot_view_records WHERE view = $1 AND chain = $2', index.id, chain)
  await transaction.run(
    `UPDATE chain_indexes SET kept = false, phase = 'remove', reached = $3, contracts = 0
     WHERE view = $1 AND chain = $2`,
    ...[index.id, chain, beforeAll],
  )
}

async function addHot(transaction: Transaction, chain: number, indexes: readonly IndexView[]): Promise<void> {
  await addHotRecords(transaction, chain, (await hotRowsUpTo(transaction, chain, blockMax)).map(transferOf), indexes)
}

async function fillIndexes(store: StoreDatabase, chain: ChainId, transfersMax: number): Promise<boolean> {
  const ordinal = await store.dictionary.ordinalOf(chain)
  if (ordinal === undefined) return false
  const find = `SELECT view, phase, reached FROM chain_indexes WHERE chain = $1 AND phase IS NOT NULL
    ORDER BY phase DESC, reached`
  const [first, ...others] = (await store.database.read(find, ordinal)).flatMap(([id, phase, reached]) => {
    const index = indexViews.find(each => each.id === Number(id))
    return index === undefined ? [] : { index, phase, reached: bytesOf(reached) }
  })
  if (first === undefined) return false
  await store.settled()
  if (first.phase === 'remove') await removeStep(store, ordinal, first.index, transfersMax)
  else {
    const alike = others.filter(other => other.phase === 'cold' && other.reached.equals(first.reached))
    const indexes = [first, ...alike].map(({ index }) => index)
    await fillStep(store, { chain: ordinal, indexes, reached: first.reached, transfersMax })
  }
  return true
}

type FillStep = { chain: number; indexes: readonly IndexView[]; reached: Buffer; transfersMax: number }

/** On Citus what is reached is told after the records can be seen. */
async function fillStep(store: StoreDatabase, step: FillStep): Promise<void> {
  const { chain, indexes, reached, transfersMax } = step
  const slots = await store.slots()
  const { bulkRows } = store.merging
  let next: Uint8Array | null = reached
  let contracts = 0
  await store.committing({
    oneConnection: true,
    async rows(transaction) {
      ;[next, contracts] = [reached, 0]
      await lockRuns(transaction, chain)
      if (!(await isStillDue(transaction, step))) return
      const { records, isLast } = await storedTransfersAfter(transaction, { chain, slots }, reached, transfersMax)
      const transfers = records.map(({ key, value }) => ({
        ...{ contract: contractOfKey(key), ...positionOfKey(key), payload: value.subarray(payloadAt) },
      }))
      await addRecordsTo(transaction, { chain, slots, bulkRows }, indexes, transfers)
      next = isLast ? null : (records.at(-1)?.key ?? null)
      contracts = new Set(transfers.map(({ contract }) => contract)).difference(new Set([contractOfKey(reached)])).size
    },
    async claim(transaction) {
      await transaction.run(
        `UPDATE chain_indexes SET reached = $4, phase = CASE WHEN $4::bytea IS NULL THEN NULL ELSE phase END,
           contracts = contracts + $5::int8
         WHERE chain = $1 AND view = ANY($2::int4[]) AND phase = 'cold' AND reached = $3`,
        ...[chain, int4Array(indexes.map(({ id }) => id)), reached, next, contracts],
      )
      // Who began to read it before it was left has read a part of it.
      if (next === null) await countChange(transaction, chain, 'takenBack')
    },
  })
}

/** An index that was left meanwhile, by another process, gets no record any more: nothing would remove it. */
async function isStillDue(transaction: Transaction, { chain, indexes, reached }: FillStep): Promise<boolean> {
  const find = `SELECT 1 FROM chain_indexes
    WHERE chain = $1 AND view = ANY($2::int4[]) AND phase = 'cold' AND reached = $3`
  const due = await transaction.query(find, chain, int4Array(indexes.map(({ id }) => id)), reached)
  return due.length === indexes.length
}

async function removeStep(store: StoreDatabase, chain: number, index: IndexView, transfersMax: number): Promise<void> {
  const slots = await store.slots()
  let isDone = false
  await store.committing({
    oneConnection: true,
    check: transaction => lockAll(transaction, chain),
    async rows(transaction) {
      isDone = false
      if ((await dropSomeRecords(transaction, { chain, slots }, index, transfersMax)) > 0) return
      await transaction.run('DELETE FROM runs WHERE chain = $1 AND view = $2', chain, index.id)
      isDone = (await sweepPacks(transaction, slots, Math.ceil(transfersMax / transfersPerPack))) === 0
    },
    async claim(transaction) {
      if (!isDone) return
      const whose = 'WHERE chain = $1 AND view = $2'
      await transaction.run(`DELETE FROM chain_indexes ${whose} AND NOT kept`, chain, index.id)
      const start = `UPDATE chain_indexes SET phase = 'cold', reached = $3 ${whose} AND phase = 'remove'`
      if ((await transaction.run(start, chain, index.id, beforeAll)) > 0) await addHot(transaction, chain, [index])
    },
  })
}

/** Of those that came few at a time. Returns how many there were. */
export async function dropSomeRecords(
  transaction: Transaction,
  { chain, slots }: { chain: number; slots: Slots },
  index: IndexView,
  recordsMax: number,
): Promise<number> {
  const whose = 'FROM view_records WHERE slot = $1 AND view = $2 AND chain = $3'
  for (const slot of slots) {
    const find = `SELECT key ${whose} ORDER BY key LIMIT 1 OFFSET $4`
    const [[last] = []] = await transaction.query(find, slot, index.id, chain, recordsMax)
    const removed =
      last === undefined || last === null
        ? await transaction.run(`DELETE ${whose}`, slot, index.id, chain)
        : await transaction.run(`DELETE ${whose} AND key <= $4::bytea`, slot, index.id, chain, bytesOf(last))
    if (removed > 0) return removed
  }
  return 0
}
