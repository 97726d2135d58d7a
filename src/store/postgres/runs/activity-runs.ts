// First and last transactions of wallets as runs. Callers hold the transaction.
import { firstRefOf, type PackedActivity } from '../../packed-activity.ts'
import { activityView, refsOf, writeActivity } from '../../runs/activity-view.ts'
import type { Transaction } from '../database.ts'
import { addRun, type Change, changeKeys, changeRun, lockRuns, type OfChain, runsOf } from './runs.ts'
import { type Slots, slotOfAddress } from './slots.ts'

export async function addActivityRun(
  transaction: Transaction,
  slots: Slots,
  place: OfChain,
  rows: PackedActivity,
): Promise<void> {
  await addRun(transaction, { view: activityView, ...place }, slots, writerOf =>
    writeActivity(rows, address => writerOf(slotOfAddress(slots, address))),
  )
}

export type OnRemoved = (address: Uint8Array, first: Uint8Array) => void

/** Deletes all that runs have of wallets. */
export async function removeWallets(
  transaction: Transaction,
  slots: Slots,
  chain: number,
  wallets: readonly Uint8Array[],
  onRemoved: OnRemoved = () => {},
): Promise<void> {
  if (wallets.length === 0) return
  await lockRuns(transaction, chain)
  const bySlot = Map.groupBy(wallets, address => slotOfAddress(slots, address))
  const remove: Change = (address, value) => {
    onRemoved(address.slice(), refsOf(value).first.slice())
    return null
  }
  for (const run of await runsOf(transaction, activityView, { chain, from: 0, to: Infinity }))
    await changeKeys(transaction, activityView, run, remove, bySlot.get(run.slot) ?? [])
}

/** Deletes the records that have a transaction above the block. */
export async function removeAbove(
  transaction: Transaction,
  chain: number,
  block: number,
  onRemoved: OnRemoved,
): Promise<void> {
  await lockRuns(transaction, chain)
  const above = firstRefOf(block + 1)
  for (const run of await runsOf(transaction, activityView, { chain, from: block + 1, to: Infinity }))
    await changeRun(transaction, activityView, run, (address, value) => {
      const { first, last } = refsOf(value)
      if (Buffer.compare(last ?? first, above) < 0) return undefined
      onRemoved(address.slice(), first.slice())
      return null
    })
}
