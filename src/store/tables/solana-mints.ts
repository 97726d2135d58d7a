// Solana mints: what their own account and their metadata account say, each with a version of its own.
import type { TokenProgram } from '../../model.ts'
import type { Mint, MintAccount, MintMetadata, MintUpdate } from '../solana-store.ts'
import { type Cell, over, type Row, replacing, rowsOver, runOver, type Sql, textOf } from './sql.ts'

/** `m` is the row of the mint. The extension's name and symbol win. */
export const nameColumns =
  "coalesce(m.name, m.metadata_name, '') AS name, coalesce(m.symbol, m.metadata_symbol, '') AS symbol"

/** Both parts are known up to the lower one; 0 where one was never read. */
const lower = (
  column: string,
): string => `CASE WHEN m.account_${column} <= m.metadata_${column} THEN m.account_${column}
  WHEN m.metadata_${column} < m.account_${column} THEN m.metadata_${column} ELSE 0 END`
const find = over(
  'mint bytea',
  `SELECT m.mint, m.program, m.decimals, m.supply, m.token_standard, m.amount_rule, ${lower('slot')},
     ${lower('read_at_ms')}, ${nameColumns}
   FROM solana_mints m WHERE m.network = $1 AND m.mint IN given AND m.program IS NOT NULL`,
)

/** In the order of `mints`. */
export function* mintsOf(network: number, mints: readonly Uint8Array[]): Sql<Mint[]> {
  const found = yield* rowsOver(
    find,
    mints.map(mint => [mint]),
    network,
  )
  const byKey = new Map(found.map(row => [keyText(row[0] as Uint8Array), mintOf(row)]))
  return mints.flatMap(mint => byKey.get(keyText(mint)) ?? [])
}

function mintOf([mint, program, decimals, supply, tokenStandard, amountRule, slot, readAtMs, name, symbol]: Row): Mint {
  return {
    ...{ mint: mint as Uint8Array, program: program as TokenProgram, decimals: decimals as number },
    ...{ supply: BigInt(supply as string), name: textOf(name!)!, symbol: textOf(symbol!)! },
    tokenStandard: (tokenStandard ?? undefined) as number | undefined,
    amountRule: (amountRule ?? undefined) as string | undefined,
    ...{ slot: slot as number, readAtMs: readAtMs as number },
  }
}

/** A key in a Map. */
export function keyText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** The columns of each part, the rows of which replace stored ones unless these have a higher slot. */
export const accountPart = mintPart('account', [
  ...['account_slot int8', 'account_read_at_ms int8', 'program text', 'decimals int4', 'supply text', 'name utf8'],
  ...['symbol utf8', 'amount_rule text'],
])
export const metadataPart = mintPart('metadata', [
  ...['metadata_slot int8', 'metadata_read_at_ms int8', 'metadata_name utf8', 'metadata_symbol utf8'],
  'token_standard int8',
])

function mintPart(part: string, typed: readonly string[]) {
  const columns = typed.map(column => column.split(' ')[0]!)
  const insert = `solana_mints AS known (network, mint, ${columns})`
  const onConflict = `ON CONFLICT (mint, network) DO UPDATE SET ${replacing(...columns)}
    WHERE known.${part}_slot IS NULL OR excluded.${part}_slot >= known.${part}_slot`
  const put = over(
    `mint bytea, ${typed}`,
    `INSERT INTO ${insert} SELECT CAST($1 AS int4), mint, ${columns} FROM given WHERE true ${onConflict}`,
  )
  return { insert, onConflict, put }
}

/** In the order of the columns, after the mint. */
export function accountCells({ mint, slot, readAtMs }: MintUpdate, account: MintAccount): Cell[] {
  const { program, decimals, supply, name = null, symbol = null, amountRule = null } = account
  return [mint, slot, readAtMs, program, decimals, supply.toString(), name, symbol, amountRule]
}

export function metadataCells({ mint, slot, readAtMs }: MintUpdate, metadata: MintMetadata): Cell[] {
  const { name = null, symbol = null, tokenStandard = null } = metadata
  return [mint, slot, readAtMs, name, symbol, tokenStandard]
}

/** In one order for every process: two with the same mints wait for each other and do not deadlock. */
export function* putMints(network: number, updates: readonly MintUpdate[]): Sql<void> {
  const accounts = new Map<string, Cell[]>()
  const metadata = new Map<string, Cell[]>()
  const byMint = [...updates].sort((a, b) => Buffer.compare(a.mint, b.mint) || a.slot - b.slot)
  for (const update of byMint) {
    if (update.account !== undefined) accounts.set(keyText(update.mint), accountCells(update, update.account))
    if (update.metadata !== undefined) metadata.set(keyText(update.mint), metadataCells(update, update.metadata))
  }
  yield* runOver(accountPart.put, [...accounts.values()], network)
  yield* runOver(metadataPart.put, [...metadata.values()], network)
}
