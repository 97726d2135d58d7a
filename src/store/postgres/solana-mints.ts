// Solana mints: what their own account and their metadata account say, each with a version of its own.
import type { SolanaNetwork } from '../../model.ts'
import { type Mint, type MintUpdate, mintOf, networkNumber } from '../solana-store.ts'
import { byteaArray, bytesOf, textOf } from './arrays.ts'
import type { Database, Transaction } from './database.ts'

const lower = (a: string, b: string): string =>
  `CASE WHEN ${a} IS NULL OR ${b} IS NULL THEN 0 ELSE least(${a}, ${b}) END`

export const nameColumn = "coalesce(m.name, m.metadata_name, '')"
export const symbolColumn = "coalesce(m.symbol, m.metadata_symbol, '')"
const mintColumns = `m.program, m.decimals, m.supply, m.token_standard, m.amount_rule,
  ${lower('m.account_slot', 'm.metadata_slot')}, ${lower('m.account_read_at_ms', 'm.metadata_read_at_ms')},
  m.mint, ${nameColumn}, ${symbolColumn}`

/** In the order of `mints`. */
export async function mintsOf(
  database: Database,
  network: SolanaNetwork,
  mints: readonly Uint8Array[],
): Promise<Mint[]> {
  const rows = await database.read(
    `SELECT ${mintColumns} FROM unnest($2::bytea[]) WITH ORDINALITY AS asked (mint, place)
     JOIN solana_mints m ON m.mint = asked.mint AND m.network = $1 WHERE m.program IS NOT NULL ORDER BY asked.place`,
    networkNumber(network),
    byteaArray(mints),
  )
  return rows.map(row =>
    mintOf(row, { mint: bytesOf(row[7]), name: textOf(row[8]) as string, symbol: textOf(row[9]) as string }),
  )
}

const putAccountSql = `INSERT INTO solana_mints AS known
    (network, mint, account_slot, account_read_at_ms, program, decimals, supply, name, symbol, amount_rule)
  VALUES ($1, $2, $3, $4, $5, $6, $7::text::numeric, $8, $9, $10) ON CONFLICT (mint, network) DO UPDATE SET
    account_slot = excluded.account_slot, account_read_at_ms = excluded.account_read_at_ms, program = excluded.program,
    decimals = excluded.decimals, supply = excluded.supply, name = excluded.name, symbol = excluded.symbol,
    amount_rule = excluded.amount_rule
  WHERE known.account_slot IS NULL OR excluded.account_slot >= known.account_slot`

const putMetadataSql = `INSERT INTO solana_mints AS known
    (network, mint, metadata_slot, metadata_read_at_ms, metadata_name, metadata_symbol, token_standard)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (mint, network) DO UPDATE SET
    metadata_slot = excluded.metadata_slot, metadata_read_at_ms = excluded.metadata_read_at_ms,
    metadata_name = excluded.metadata_name, metadata_symbol = excluded.metadata_symbol,
    token_standard = excluded.token_standard
  WHERE known.metadata_slot IS NULL OR excluded.metadata_slot >= known.metadata_slot`

/** In one order for every process: two with the same mints wait for each other and do not deadlock. */
export async function putMints(
  transaction: Transaction,
  network: SolanaNetwork,
  updates: readonly MintUpdate[],
): Promise<void> {
  const number = networkNumber(network)
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text))
  for (const { mint, slot, readAtMs, account, metadata } of [...updates].sort((a, b) =>
    Buffer.compare(a.mint, b.mint),
  )) {
    if (account !== undefined) {
      const { program, decimals, supply, name, symbol, amountRule = null } = account
      const own = [program, decimals, supply.toString(), bytes(name), bytes(symbol), amountRule]
      await transaction.run(putAccountSql, number, mint, slot, readAtMs, ...own)
    }
    if (metadata !== undefined) {
      const { name, symbol, tokenStandard = null } = metadata
      await transaction.run(putMetadataSql, number, mint, slot, readAtMs, bytes(name), bytes(symbol), tokenStandard)
    }
  }
}
