// Solana mints: what their own account and their metadata account say, each with a version of its own. Functions that
// take a connection run in their caller's transaction.
import type { SQLInputValue } from 'node:sqlite'
import type { SolanaNetwork } from '../../model.ts'
import {
  type Mint,
  type MintAccount,
  type MintMetadata,
  type MintUpdate,
  mintOf,
  networkNumber,
} from '../solana-store.ts'
import type { Connection } from './connection.ts'

export const nameColumn = "coalesce(m.name, m.metadata_name, '')"
export const symbolColumn = "coalesce(m.symbol, m.metadata_symbol, '')"
const mintColumns = `m.program, m.decimals, m.supply, m.token_standard, m.amount_rule,
  coalesce(min(m.account_slot, m.metadata_slot), 0), coalesce(min(m.account_read_at_ms, m.metadata_read_at_ms), 0),
  ${nameColumn}, ${symbolColumn}`

export function mintsOf(connection: Connection, network: SolanaNetwork, mints: readonly Uint8Array[]): Mint[] {
  const find = `SELECT ${mintColumns} FROM solana_mints m WHERE m.network = ? AND m.mint = ? AND m.program IS NOT NULL`
  return connection.snapshot(() =>
    mints.flatMap(mint => {
      const row = connection.get(find, networkNumber(network), mint)
      return row === undefined ? [] : [mintOf(row, { mint, name: row[7] as string, symbol: row[8] as string })]
    }),
  )
}

/** Each part of a mint replaces the stored one unless that one has a higher slot. */
function replacing(part: 'account' | 'metadata', columns: readonly string[]): string {
  return `ON CONFLICT DO UPDATE SET ${columns.map(column => `${column} = excluded.${column}`)}
    WHERE ${part}_slot IS NULL OR excluded.${part}_slot >= ${part}_slot`
}

const accountColumns = [
  ...['account_slot', 'account_read_at_ms', 'program', 'decimals', 'supply', 'name', 'symbol', 'amount_rule'],
]
const metadataColumns = [
  ...['metadata_slot', 'metadata_read_at_ms', 'metadata_name', 'metadata_symbol', 'token_standard'],
]
/** Followed by the rows; `replaceMintAccount` and `replaceMintMetadata` end the statement. */
export const insertMintAccount = `INSERT INTO main.solana_mints (network, mint, ${accountColumns})`
export const insertMintMetadata = `INSERT INTO main.solana_mints (network, mint, ${metadataColumns})`
export const replaceMintAccount = replacing('account', accountColumns)
export const replaceMintMetadata = replacing('metadata', metadataColumns)
const putAccount = `${insertMintAccount} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${replaceMintAccount}`
const putMetadata = `${insertMintMetadata} VALUES (?, ?, ?, ?, ?, ?, ?) ${replaceMintMetadata}`

/** In the order of the columns, without the network. */
export function accountValues({ mint, slot, readAtMs }: MintUpdate, account: MintAccount): SQLInputValue[] {
  const { program, decimals, supply, name = null, symbol = null, amountRule = null } = account
  return [mint, slot, readAtMs, program, decimals, supply.toString(), name, symbol, amountRule]
}

export function metadataValues({ mint, slot, readAtMs }: MintUpdate, metadata: MintMetadata): SQLInputValue[] {
  const { name = null, symbol = null, tokenStandard = null } = metadata
  return [mint, slot, readAtMs, name, symbol, tokenStandard]
}

export function putMints(connection: Connection, network: number, updates: readonly MintUpdate[]): void {
  for (const update of updates) {
    const { account, metadata } = update
    if (account !== undefined) connection.run(putAccount, network, ...accountValues(update, account))
    if (metadata !== undefined) connection.run(putMetadata, network, ...metadataValues(update, metadata))
  }
}
