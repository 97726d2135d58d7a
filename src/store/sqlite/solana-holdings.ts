// Solana owners and token accounts. The version (slot, write version) decides, so updates may come in any order.
// Functions that take a connection run in their caller's transaction.
import type { SQLInputValue } from 'node:sqlite'
import { hexOf } from '../../hex.ts'
import type { SolanaNetwork } from '../../model.ts'
import {
  afterAllReadings,
  closedKeptMs,
  forgottenAtOnceMax,
  type Holding,
  type HoldingColumns,
  type HoldingUpdate,
  networkNumber,
  type ReadOwner,
  type SolanaAccount,
  type SolanaStore,
  solanaAccountOf,
} from '../solana-store.ts'
import type { Connection, Row } from './connection.ts'
import { mintsOf, nameColumn, putMints, symbolColumn } from './solana-mints.ts'
import type { StoreFile } from './store-file.ts'

/** A write version as 8 bytes that compare as it does. */
export function versionBytes(writeVersion: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64BE(writeVersion)
  return bytes
}

function solanaOwners(connection: Connection, network: number, limit: number, before = afterAllReadings): ReadOwner[] {
  const find = `SELECT owner, read_at_ms FROM solana_accounts INDEXED BY solana_accounts_by_reading
    WHERE network = ? AND (read_at_ms, owner) < (?, ?) AND reading_slot IS NOT NULL
    ORDER BY read_at_ms DESC, owner DESC LIMIT ?`
  const rows = connection.all(find, network, before.readAtMs, before.owner, limit)
  return rows.map(([owner, readAtMs]) => ({ owner: owner as Uint8Array, readAtMs: readAtMs as number }))
}

function portfolioOf(
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
    return { account: solanaAccountOf(account, owner), holdings: columnsOf(rows) }
  })
}

// All holdings as one row: node:sqlite pays for each value that it hands over, and 18,000 for 2,000 holdings would cost
// twice the whole query. The index is named because SQLite would otherwise walk the primary key, every holding there
// is, for the order by account; within an owner the index has that order.
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

/** A reading is the state at the end of its slot: the owner no longer held what it does not list. */
function putOwner(
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

function applyHoldings(connection: Connection, network: SolanaNetwork, updates: readonly HoldingUpdate[]): void {
  const number = networkNumber(network)
  const put = connection.prepare(upsertHolding('(excluded.slot, excluded.write_version) >= (slot, write_version)'))
  for (const update of updates) put.run(...holdingValues(number, fenced(connection, number, update)))
  purgeTombstones(connection)
}

/**
 * An update that is older than the owner's last reading, of an account that the reading does not list, is out of date.
 */
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

function putLamports(connection: Connection, network: SolanaNetwork, account: SolanaAccount): void {
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

function forgetOwners(connection: Connection, network: number, readBeforeMs: number, max: number): number {
  const find = 'SELECT owner FROM solana_accounts WHERE network = ? AND read_at_ms < ? LIMIT ?'
  const owners = connection.all(find, network, readBeforeMs, max)
  for (const [owner] of owners) {
    connection.run('DELETE FROM solana_holdings WHERE network = ? AND owner = ?', network, owner as Uint8Array)
    connection.run('DELETE FROM solana_accounts WHERE network = ? AND owner = ?', network, owner as Uint8Array)
  }
  return owners.length
}

export function solanaStore(file: StoreFile): SolanaStore {
  return {
    solanaOwners: async (network, { limit, before }) =>
      file.reading(read => solanaOwners(read, networkNumber(network), limit, before)),
    portfolioOf: async (network, owner) => file.reading(read => portfolioOf(read, network, owner)),
    putOwner: (network, account, holdings) =>
      file.writing(({ connection }) => putOwner(connection, network, account, holdings)),
    mintsOf: async (network, mints) => file.reading(read => mintsOf(read, network, mints)),
    putMints: (network, updates) =>
      file.writing(({ connection }) => putMints(connection, networkNumber(network), updates)),
    applyHoldings: (network, updates) => file.writing(({ connection }) => applyHoldings(connection, network, updates)),
    forgetOwners: (network, readBeforeMs, max) =>
      file.writing(({ connection }) => forgetOwners(connection, networkNumber(network), readBeforeMs, max)),
    putLamports: (network, account) => file.writing(({ connection }) => putLamports(connection, network, account)),
  }
}
