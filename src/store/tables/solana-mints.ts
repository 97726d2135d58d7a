// Solana mints: what their own account and their metadata account say, each with a version of its own.
import { textOfKey } from '../../hex.ts'
import { type Cells, type Meeting, put, type Row, rows, textOf, type Work } from '../core/work.ts'
import type { Mint, MintAccount, MintMetadata, MintUpdate } from '../solana-store.ts'

/** `m` is the row of the mint. The extension's name and symbol win. */
export const nameColumns =
  "coalesce(m.name, m.metadata_name, '') AS name, coalesce(m.symbol, m.metadata_symbol, '') AS symbol"

/** Both parts are known up to the lower one; 0 where one was never read. */
const lower = (
  column: string,
): string => `CASE WHEN m.account_${column} <= m.metadata_${column} THEN m.account_${column}
  WHEN m.metadata_${column} < m.account_${column} THEN m.metadata_${column} ELSE 0 END`
const find = `SELECT m.mint, m.program, m.decimals, m.supply, m.token_standard, m.amount_rule, ${lower('slot')},
    ${lower('read_at_ms')}, ${nameColumns}
  FROM solana_mints m WHERE m.network = $1 AND m.mint IN $2:blobs AND m.program IS NOT NULL`

/** In the order of `mints`. */
export function* mintsOf(network: number, mints: readonly Uint8Array[]): Work<Mint[]> {
  if (mints.length === 0) return []
  const byKey = new Map((yield* rows(find, network, mints)).map(each => [textOfKey(each[0]), mintOf(each)]))
  return mints.flatMap(mint => byKey.get(textOfKey(mint)) ?? [])
}

function mintOf([mint, program, decimals, supply, tokenStandard, amountRule, slot, readAtMs, name, symbol]: Row): Mint {
  return {
    ...{ mint, program, decimals, supply: BigInt(supply), name: textOf(name)!, symbol: textOf(symbol)! },
    ...{ tokenStandard: tokenStandard ?? undefined, amountRule: amountRule ?? undefined, slot, readAtMs },
  }
}

/** A part of a mint replaces the stored one unless that has a higher slot. */
export const mintParts = { account: newerOf('account_slot'), metadata: newerOf('metadata_slot') }

function newerOf(slot: string): Meeting {
  return { where: `solana_mints.${slot} IS NULL OR excluded.${slot} >= solana_mints.${slot}` }
}

export function accountCells({ mint, slot, readAtMs }: MintUpdate, account: MintAccount) {
  const { program, decimals, supply, name, symbol, amountRule } = account
  return {
    ...{ mint, account_slot: slot, account_read_at_ms: readAtMs, program, decimals, supply: supply.toString() },
    ...{ name, symbol, amount_rule: amountRule },
  }
}

export function metadataCells({ mint, slot, readAtMs }: MintUpdate, { name, symbol, tokenStandard }: MintMetadata) {
  return {
    ...{ mint, metadata_slot: slot, metadata_read_at_ms: readAtMs },
    ...{ metadata_name: name, metadata_symbol: symbol, token_standard: tokenStandard },
  }
}

/** In one order for every process: two with the same mints wait for each other and do not deadlock. */
export function* putMints(network: number, updates: readonly MintUpdate[]): Work<void> {
  const accounts = new Map<string, Cells>()
  const metadata = new Map<string, Cells>()
  const byMint = [...updates].sort((a, b) => Buffer.compare(a.mint, b.mint) || a.slot - b.slot)
  for (const update of byMint) {
    const key = textOfKey(update.mint)
    if (update.account !== undefined) accounts.set(key, { network, ...accountCells(update, update.account) })
    if (update.metadata !== undefined) metadata.set(key, { network, ...metadataCells(update, update.metadata) })
  }
  yield* put('solana_mints', [...accounts.values()], mintParts.account)
  yield* put('solana_mints', [...metadata.values()], mintParts.metadata)
}
