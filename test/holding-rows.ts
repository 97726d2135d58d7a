// The columns of what an owner holds as one object for each holding, for tests to compare.
import { keyBytes } from '../src/base58.ts'
import type { HoldingColumns } from '../src/store/solana-store.ts'

export type HoldingRow = {
  account: Uint8Array
  mint: Uint8Array
  amount: bigint
  decimals: number | null
  supply: string | null
  name: string
  symbol: string
  tokenStandard: number | null
  amountRule: string | null
}

export function holdingRows(columns: HoldingColumns | undefined): HoldingRow[] {
  if (columns === undefined) return []
  const keyAt = (keys: Uint8Array, row: number) => new Uint8Array(keys.subarray(row * keyBytes, (row + 1) * keyBytes))
  return Array.from({ length: columns.length }, (_, row) => ({
    account: keyAt(columns.accounts, row),
    mint: keyAt(columns.mints, row),
    amount: BigInt(columns.amounts[row]!),
    decimals: columns.decimals[row]!,
    supply: columns.supplies[row]!,
    name: columns.names[row]!,
    symbol: columns.symbols[row]!,
    tokenStandard: columns.tokenStandards[row]!,
    amountRule: columns.amountRules[row]!,
  }))
}
