// Solana owners and token accounts. Versions decide: (slot, write version), so that updates may come in any order.
// Callers hold the transaction.
import type { SQLInputValue } from 'node:sqlite'
import { hexOf } from '../../hex.ts'
import { type SolanaNetwork, solanaNetworks, type TokenProgram } from '../../model.ts'
import {
  closedKeptMs,
  forgottenAtOnceMax,
  type Holding,
  type HoldingColumns,
  type HoldingUpdate,
  type Mint,
  type MintUpdate,
  type SolanaAccount,
  type SolanaStore,
} from '../solana-store.ts'
import type { Connection, Row } from './connection.ts'
import type { StoreFile } from './store-file.ts'

// Solana mints: what their own account and their metadata account say, each by its own slot. Callers hold the transaction.

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

function versionBytes(writeVersion: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64BE(writeVersion)
  return bytes
}

export function portfolioOf(
  connection: Connection,
  network: SolanaNetwork,
  owner: Uint8Array,
): { account: SolanaAccount; holdings: HoldingColumns } | undefined {
  return connection.snapshot(() => {
    const account = connection.get(
      'SELECT lamports, slot, chain_time, read_at_ms FROM solana_accounts WHERE network = ? AND owner = ? AND reading_slot IS NOT NULL',
      networkNumber(network),
      owner,
    )
    if (account === undefined) return undefined
    const rows = connection.get(portfolioRows, networkNumber(network), owner) as Row
    return {
      account: {
        owner,
        lamports: BigInt(account[0] as string),
        slot: account[1] as number,
        chainTime: account[2] as number,
        readAtMs: account[3] as number,
      },
      holdings: columnsOf(rows),
    }
  })
}

// All holdings as one row: node:sqlite pays for each value that it hands over, and 18,000 for 2,000 holdings would cost
// twice the whole query. The index is named because without it the order by account would be had from the primary key, by
// walking every holding there is; its own order within an owner is that of the accounts.
const portfolioRows = `SELECT CAST(group_concat(h.account, '') AS BLOB), CAST(group_concat(h.mint, '') AS BLOB),
    group_concat(h.amount), json_group_array(m.decimals), json_group_array(m.supply), json_group_array(${nameColumn}),
    json_group_array(${symbolColumn}), json_group_array(m.token_standard), json_group_array(m.amount_rule)
  FROM solana_holdings h INDEXED BY solana_holdings_by_owner
    LEFT JOIN solana_mints m ON m.network = h.network AND m.mint = h.mint
  WHERE h.network = ? AND h.owner = ?`

function columnsOf(row: Row): HoldingColumns {
  const amounts = row[2] === null ? [] : (row[2] as string).split(',')
  const [decimals, supplies, names, symbols, tokenStandards, amountRules] = row
    .slice(3)
    .map(text => JSON.parse(text as string))
  return {
    length: amounts.length,
    accounts: (row[0] as Uint8Array | null) ?? new Uint8Array(),
    mints: (row[1] as Uint8Array | null) ?? new Uint8Array(),
    amounts,
    decimals,
    supplies,
    names,
    symbols,
    tokenStandards,
    amountRules,
  }
}

/** A reading is the state at the end of its slot: what it does not list, the owner no longer held then. */
export function putOwner(
  connection: Connection,
  network: SolanaNetwork,
  account: SolanaAccount,
  holdings: readonly Holding[],
): void {
  const number = networkNumber(network)
  const { owner, slot } = account
  const newer = connection.get(
    'SELECT 1 FROM solana_accounts WHERE network = ? AND owner = ? AND reading_slot > ?',
    number,
    owner,
    slot,
  )
  if (newer !== undefined) return
  putLamports(connection, network, account)
  connection.run(
    'UPDATE solana_accounts SET reading_slot = ?1 WHERE network = ?2 AND owner = ?3 AND reading_slot IS NOT ?1',
    slot,
    number,
    owner,
  )
  const listed = new Set(holdings.map(holding => hexOf(holding.account)))
  const stored = connection.all('SELECT account FROM solana_holdings WHERE network = ? AND owner = ?', number, owner)
  const gone = stored.filter(([token]) => !listed.has(hexOf(token as Uint8Array)))
  const put = connection.prepare(upsertHolding('slot <= ?10'))
  for (const [token] of gone)
    put.run(...holdingValues(number, { account: token as Uint8Array, closed: true, slot, writeVersion: 0n }), slot)
  for (const holding of holdings) put.run(...holdingValues(number, holding), slot)
  purgeTombstones(connection)
}

export function applyHoldings(connection: Connection, network: SolanaNetwork, updates: readonly HoldingUpdate[]): void {
  const number = networkNumber(network)
  const put = connection.prepare(upsertHolding('(excluded.slot, excluded.write_version) >= (slot, write_version)'))
  for (const update of updates) put.run(...holdingValues(number, fenced(connection, number, update)))
  purgeTombstones(connection)
}

/** An update from before the owner's last reading, of an account that the reading does not list: it was already over then. */
function fenced(connection: Connection, network: number, update: HoldingUpdate): HoldingUpdate {
  if ('closed' in update) return update
  const reading = connection.get(
    'SELECT reading_slot FROM solana_accounts WHERE network = ? AND owner = ? AND reading_slot > ?',
    network,
    update.owner,
    update.slot,
  )
  if (reading === undefined) return update
  return { account: update.account, closed: true, slot: update.slot, writeVersion: update.writeVersion }
}

function upsertHolding(replaces: string): string {
  return `INSERT INTO solana_holdings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO UPDATE SET
      owner = excluded.owner, mint = excluded.mint, amount = excluded.amount, program = excluded.program,
      slot = excluded.slot, write_version = excluded.write_version, closed_at_ms = excluded.closed_at_ms
    WHERE ${replaces} AND (owner, mint, amount, program, slot, write_version)
      IS NOT (excluded.owner, excluded.mint, excluded.amount, excluded.program, excluded.slot, excluded.write_version)`
}

function holdingValues(network: number, update: HoldingUpdate): SQLInputValue[] {
  const version = [update.slot, versionBytes(update.writeVersion)]
  if ('closed' in update) return [network, update.account, null, null, null, null, ...version, Date.now()]
  const { account, owner, mint, amount, program } = update
  return [network, account, owner, mint, amount.toString(), program, ...version, null]
}

function purgeTombstones(connection: Connection): void {
  connection.run(
    `DELETE FROM solana_holdings WHERE (network, account) IN
       (SELECT network, account FROM solana_holdings WHERE closed_at_ms < ? LIMIT ${forgottenAtOnceMax})`,
    Date.now() - closedKeptMs,
  )
}

export function putLamports(connection: Connection, network: SolanaNetwork, account: SolanaAccount): void {
  connection.run(
    `INSERT INTO solana_accounts VALUES (?, ?, ?, ?, ?, ?, NULL) ON CONFLICT DO UPDATE SET lamports = excluded.lamports,
       slot = excluded.slot, chain_time = excluded.chain_time, read_at_ms = excluded.read_at_ms
     WHERE excluded.slot >= slot`,
    networkNumber(network),
    account.owner,
    account.lamports.toString(),
    account.slot,
    account.chainTime,
    account.readAtMs,
  )
}

// What is kept of Solana accounts and mints: reads of one moment, writes of one transaction. The tables have files of their own.

export function solanaStore(file: StoreFile): SolanaStore {
  return {
    portfolioOf: async (network, owner) => file.reading(read => portfolioOf(read, network, owner)),
    putOwner: (network, account, holdings) =>
      file.writing(({ connection }) => putOwner(connection, network, account, holdings)),
    mintsOf: async (network, mints) => file.reading(read => mintsOf(read, network, mints)),
    putMints: (network, updates) => file.writing(({ connection }) => putMints(connection, network, updates)),
    applyHoldings: (network, updates) => file.writing(({ connection }) => applyHoldings(connection, network, updates)),
    putLamports: (network, account) => file.writing(({ connection }) => putLamports(connection, network, account)),
  }
}
