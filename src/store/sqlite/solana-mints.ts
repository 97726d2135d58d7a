// Solana mints: what their own account and their metadata account say, each by its own slot. Callers hold the transaction.
import { type SolanaNetwork, solanaNetworks, type TokenProgram } from '../../model.ts'
import type { Mint, MintUpdate } from '../solana-store.ts'
import type { Connection, Row } from './connection.ts'

export function networkNumber(network: SolanaNetwork): number {
  return solanaNetworks.indexOf(network)
}

export const nameColumn = "coalesce(m.name, m.metadata_name, '')"
export const symbolColumn = "coalesce(m.symbol, m.metadata_symbol, '')"
const mintColumns = `m.program, m.decimals, m.supply, ${nameColumn}, ${symbolColumn}, m.token_standard, m.amount_rule,
  coalesce(min(m.account_slot, m.metadata_slot), 0), coalesce(min(m.account_read_at_ms, m.metadata_read_at_ms), 0)`

/** A row of `mintColumns`. */
function mintOf(row: Row, mint: Uint8Array): Mint {
  return {
    program: row[0] as TokenProgram,
    decimals: row[1] as number,
    supply: BigInt(row[2] as string),
    name: row[3] as string,
    symbol: row[4] as string,
    tokenStandard: (row[5] as number | null) ?? undefined,
    amountRule: (row[6] as string | null) ?? undefined,
    slot: row[7] as number,
    readAtMs: row[8] as number,
    mint,
  }
}

export function mintsOf(connection: Connection, network: SolanaNetwork, mints: readonly Uint8Array[]): Mint[] {
  const find = `SELECT ${mintColumns} FROM solana_mints m WHERE m.network = ? AND m.mint = ? AND m.program IS NOT NULL`
  return connection.snapshot(() =>
    mints.flatMap(mint => {
      const row = connection.get(find, networkNumber(network), mint)
      return row === undefined ? [] : [mintOf(row, mint)]
    }),
  )
}

const upsertMintAccount = `INSERT INTO solana_mints
    (network, mint, account_slot, account_read_at_ms, program, decimals, supply, name, symbol, amount_rule)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    account_slot = excluded.account_slot, account_read_at_ms = excluded.account_read_at_ms,
    program = excluded.program, decimals = excluded.decimals, supply = excluded.supply, name = excluded.name,
    symbol = excluded.symbol, amount_rule = excluded.amount_rule
  WHERE account_slot IS NULL OR excluded.account_slot >= account_slot`

const upsertMintMetadata = `INSERT INTO solana_mints
    (network, mint, metadata_slot, metadata_read_at_ms, metadata_name, metadata_symbol, token_standard)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    metadata_slot = excluded.metadata_slot, metadata_read_at_ms = excluded.metadata_read_at_ms,
    metadata_name = excluded.metadata_name, metadata_symbol = excluded.metadata_symbol,
    token_standard = excluded.token_standard
  WHERE metadata_slot IS NULL OR excluded.metadata_slot >= metadata_slot`

export function putMints(connection: Connection, network: SolanaNetwork, updates: readonly MintUpdate[]): void {
  const number = networkNumber(network)
  for (const { mint, slot, readAtMs, account, metadata } of updates) {
    if (account !== undefined) {
      const { program, decimals, supply, name = null, symbol = null, amountRule = null } = account
      const values = [number, mint, slot, readAtMs, program, decimals, supply.toString(), name, symbol, amountRule]
      connection.run(upsertMintAccount, ...values)
    }
    if (metadata !== undefined) {
      const { name = null, symbol = null, tokenStandard = null } = metadata
      connection.run(upsertMintMetadata, number, mint, slot, readAtMs, name, symbol, tokenStandard)
    }
  }
}
