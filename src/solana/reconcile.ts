// How far what was stored of an owner departs from a later reading, though nothing newer came in between. Pure.
import { encodeKey, keyBytes } from '../base58.ts'
import type { HoldingColumns } from '../store/solana-store.ts'
import type { OwnerReading } from './source.ts'

/** How many token accounts are stored with another amount, or not at all, or though they are gone. */
export function differencesOf(stored: HoldingColumns | undefined, reading: OwnerReading): number {
  const read = new Map(reading.holdings.map(({ account, amount }) => [encodeKey(account), amount]))
  const held = heldAmounts(stored)
  const wrong = held.filter(([account, amount]) => read.get(account) !== amount).length
  const missing = [...read].filter(([, amount]) => amount > 0n).length - (held.length - wrong)
  return Math.max(wrong, missing)
}

/** The accounts with something in them. */
function heldAmounts(holdings: HoldingColumns | undefined): [account: string, amount: bigint][] {
  if (holdings === undefined) return []
  const rows = holdings.amounts.map((amount, row): [string, bigint] => [
    encodeKey(holdings.accounts.subarray(row * keyBytes, (row + 1) * keyBytes)),
    BigInt(amount),
  ])
  return rows.filter(([, amount]) => amount > 0n)
}
