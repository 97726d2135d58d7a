// Solana owners and token accounts. The version (slot, write version) decides, so updates may come in any order.
// Holdings are stored by owner: a portfolio is one walk and, on Citus, one shard. Accounts have an index of their own.
import type { SolanaNetwork, TokenProgram } from '../../model.ts'
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
import { byteaArray, bytesOf, int4Array, int8Array, textArray, textOf } from './arrays.ts'
import { type Row, requestReadMs, type Transaction } from './database.ts'
import { mintsOf, nameColumn, putMints, symbolColumn } from './solana-mints.ts'
import type { StoreDatabase } from './store-database.ts'

/**
 * Owners and accounts are locked by the low bits of their keys: owners first, then accounts, each in order. Rows could
 * not be locked instead, because what must not appear meanwhile has none yet.
 */
const ownerLock = 0x414c4d4f
const accountLock = 0x414c4d41
const lockStripes = 64

async function solanaOwners(
  { database }: StoreDatabase,
  network: number,
  { limit, before = afterAllReadings }: { limit: number; before?: ReadOwner | undefined },
): Promise<ReadOwner[]> {
  const rows = await database.readWithin(
    requestReadMs,
    `SELECT owner, read_at_ms FROM solana_accounts
     WHERE network = $1 AND (read_at_ms, owner) < ($2, $3) AND reading_slot IS NOT NULL
     ORDER BY read_at_ms DESC, owner DESC LIMIT $4`,
    network,
    before.readAtMs,
    before.owner,
    limit,
  )
  return rows.map(([owner, readAtMs]) => ({ owner: bytesOf(owner), readAtMs: Number(readAtMs) }))
}

async function portfolioOf(
  store: StoreDatabase,
  network: SolanaNetwork,
  owner: Uint8Array,
): Promise<{ account: SolanaAccount; holdings: HoldingColumns } | undefined> {
  const rows = await store.readOf(
    { table: 'solana_accounts', value: owner },
    `SELECT a.lamports, a.slot, a.chain_time, a.read_at_ms, h.account, h.mint, h.amount, m.decimals, m.supply,
       ${nameColumn}, ${symbolColumn}, m.token_standard, m.amount_rule
     FROM solana_accounts a
     LEFT JOIN solana_holdings h ON h.owner = a.owner AND h.network = a.network
     LEFT JOIN solana_mints m ON m.mint = h.mint AND m.network = h.network
     WHERE a.network = $1 AND a.owner = $2 AND a.reading_slot IS NOT NULL ORDER BY h.account`,
    networkNumber(network),
    owner,
  )
  if (rows[0] === undefined) return undefined
  const held = rows.map(row => row.slice(4)).filter(([account]) => account !== null)
  return { account: solanaAccountOf(rows[0], owner), holdings: columnsOf(held) }
}

function columnsOf(rows: readonly Row[]): HoldingColumns {
  const column = (index: number) => rows.map(row => row[index] ?? null)
  const numbers = (index: number) => column(index).map(value => (value === null ? null : Number(value)))
  const keys = (index: number) => Buffer.concat(rows.map(row => bytesOf(row[index])))
  return {
    length: rows.length,
    accounts: keys(0),
    mints: keys(1),
    amounts: column(2) as string[],
    decimals: numbers(3),
    supplies: column(4),
    names: column(5).map(textOf) as string[],
    symbols: column(6).map(textOf) as string[],
    tokenStandards: numbers(7),
    amountRules: column(8),
  }
}

/** A reading is the state at the end of its slot: the owner no longer held what it does not list. */
async function putOwner(
  transaction: Transaction,
  network: SolanaNetwork,
  account: SolanaAccount,
  holdings: readonly Holding[],
): Promise<void> {
  const number = networkNumber(network)
  const { owner, slot } = account
  await lock(transaction, ownerLock, [owner])
  const [[readingSlot] = [null]] = await transaction.query(
    'SELECT reading_slot FROM solana_accounts WHERE network = $1 AND owner = $2',
    number,
    owner,
  )
  if (readingSlot !== null && Number(readingSlot) > slot) return
  await putLamports(transaction, network, account)
  await transaction.run(
    'UPDATE solana_accounts SET reading_slot = $3 WHERE network = $1 AND owner = $2 AND reading_slot IS DISTINCT FROM $3',
    number,
    owner,
    slot,
  )
  const stored = await transaction.query(
    'SELECT account FROM solana_holdings WHERE network = $1 AND owner = $2',
    number,
    owner,
  )
  const listed = new Set(holdings.map(holding => keyOf(holding.account)))
  const gone = stored.map(([token]) => bytesOf(token)).filter(token => !listed.has(keyOf(token)))
  const updates: HoldingUpdate[] = [
    ...gone.map(token => ({ account: token, closed: true as const, slot, writeVersion: 0n })),
    ...holdings,
  ]
  await applyUpdates(transaction, number, updates, known => known.slot <= slot)
}

const readingSlots =
  'SELECT owner, reading_slot FROM solana_accounts WHERE network = $1 AND owner = ANY($2::bytea[]) AND reading_slot IS NOT NULL'

async function applyHoldings(
  transaction: Transaction,
  network: SolanaNetwork,
  updates: readonly HoldingUpdate[],
): Promise<void> {
  const number = networkNumber(network)
  const owners = updates.flatMap(update => ('closed' in update ? [] : [update.owner]))
  await lock(transaction, ownerLock, owners)
  const found = await transaction.query(readingSlots, number, byteaArray(owners))
  const readings = new Map(found.map(([owner, slot]) => [keyOf(bytesOf(owner)), Number(slot)]))
  // An update that is older than the owner's last reading, of an account that the reading does not list, is out of
  // date.
  const fenced = updates.map((update): HoldingUpdate => {
    if ('closed' in update || (readings.get(keyOf(update.owner)) ?? 0) <= update.slot) return update
    return { account: update.account, closed: true, slot: update.slot, writeVersion: update.writeVersion }
  })
  await applyUpdates(transaction, number, fenced, (known, update) => !isNewer(known, update))
}

type Version = { slot: number; writeVersion: bigint }

function isNewer(a: Version, b: Version): boolean {
  return a.slot > b.slot || (a.slot === b.slot && a.writeVersion > b.writeVersion)
}

/** Applies updates one after the other to what is stored of their accounts, then writes what came out. */
async function applyUpdates(
  transaction: Transaction,
  network: number,
  updates: readonly HoldingUpdate[],
  mayReplace: (known: HoldingUpdate, update: HoldingUpdate) => boolean,
): Promise<void> {
  if (updates.length === 0) return
  const accounts = updates.map(update => update.account)
  await lock(transaction, accountLock, accounts)
  const before = await storedUpdates(transaction, network, accounts)
  const after = new Map<string, HoldingUpdate>()
  for (const update of updates) {
    const key = keyOf(update.account)
    const known = after.get(key) ?? before.get(key)
    if (known === undefined || mayReplace(known, update)) after.set(key, update)
  }
  const changed = [...after].filter(([key, update]) => !isSame(before.get(key), update))
  await writeUpdates(
    transaction,
    network,
    changed.map(([, update]) => update),
    changed.flatMap(([key]) => before.get(key) ?? []),
  )
}

async function storedUpdates(
  transaction: Transaction,
  network: number,
  accounts: readonly Uint8Array[],
): Promise<Map<string, HoldingUpdate>> {
  const rows = await transaction.query(
    `SELECT account, slot, write_version, owner, mint, amount, program FROM solana_holdings
     WHERE network = $1 AND account = ANY($2::bytea[])
     UNION ALL SELECT account, slot, write_version, NULL, NULL, NULL, NULL FROM solana_closed
     WHERE network = $1 AND account = ANY($2::bytea[])`,
    network,
    byteaArray(accounts),
  )
  return new Map(
    rows.map(([stored, slot, writeVersion, owner, mint, amount, program]): [string, HoldingUpdate] => {
      const account = bytesOf(stored)
      const version = { account, slot: Number(slot), writeVersion: BigInt(writeVersion as string) }
      if (owner === null) return [keyOf(account), { ...version, closed: true }]
      const held = { owner: bytesOf(owner), mint: bytesOf(mint), amount: BigInt(amount as string) }
      return [keyOf(account), { ...version, ...held, program: program as TokenProgram }]
    }),
  )
}

/** Deletes the old rows first, because an account that changed hands is stored under another key. */
async function writeUpdates(
  transaction: Transaction,
  network: number,
  updates: readonly HoldingUpdate[],
  replaced: readonly HoldingUpdate[],
): Promise<void> {
  const held = updates.filter(update => !('closed' in update)) as Holding[]
  const closed = updates.filter(update => 'closed' in update)
  const stays = new Set(held.map(holding => keyOf(holding.owner) + keyOf(holding.account)))
  const left = replaced
    .filter(old => !('closed' in old))
    .filter(old => !stays.has(keyOf((old as Holding).owner) + keyOf(old.account))) as Holding[]
  const reopened = replaced.filter(old => 'closed' in old)
  if (left.length > 0)
    await transaction.run(
      `DELETE FROM solana_holdings WHERE network = $1 AND (owner, account) IN (SELECT * FROM unnest($2::bytea[], $3::bytea[]))`,
      network,
      byteaArray(left.map(holding => holding.owner)),
      byteaArray(left.map(holding => holding.account)),
    )
  if (reopened.length > 0)
    await transaction.run(
      'DELETE FROM solana_closed WHERE network = $1 AND account = ANY($2::bytea[])',
      network,
      byteaArray(reopened.map(old => old.account)),
    )
  if (held.length > 0) await writeHeld(transaction, network, held)
  if (closed.length > 0) await writeClosed(transaction, network, closed)
}

async function writeHeld(transaction: Transaction, network: number, held: readonly Holding[]): Promise<void> {
  await transaction.run(
    `INSERT INTO solana_holdings (network, owner, account, mint, program, amount, slot, write_version)
     SELECT $1::int4, owner, account, mint, program, amount::numeric, slot, version::numeric
     FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::text[], $6::text[], $7::int8[], $8::text[])
       AS given (owner, account, mint, program, amount, slot, version)
     ON CONFLICT (owner, account, network) DO UPDATE SET mint = excluded.mint, program = excluded.program,
       amount = excluded.amount, slot = excluded.slot, write_version = excluded.write_version`,
    network,
    byteaArray(held.map(holding => holding.owner)),
    byteaArray(held.map(holding => holding.account)),
    byteaArray(held.map(holding => holding.mint)),
    textArray(held.map(holding => holding.program)),
    textArray(held.map(holding => holding.amount.toString())),
    int8Array(held.map(holding => holding.slot)),
    textArray(held.map(holding => holding.writeVersion.toString())),
  )
}

async function writeClosed(transaction: Transaction, network: number, closed: readonly HoldingUpdate[]): Promise<void> {
  const now = Date.now()
  await transaction.run(
    `INSERT INTO solana_closed (network, account, slot, write_version, closed_at_ms)
     SELECT $1::int4, account, slot, version::numeric, $5::int8
     FROM unnest($2::bytea[], $3::int8[], $4::text[]) AS given (account, slot, version)`,
    network,
    byteaArray(closed.map(update => update.account)),
    int8Array(closed.map(update => update.slot)),
    textArray(closed.map(update => update.writeVersion.toString())),
    now,
  )
  await transaction.run(
    `DELETE FROM solana_closed WHERE (account, network) IN
       (SELECT account, network FROM solana_closed WHERE closed_at_ms < $1 LIMIT ${forgottenAtOnceMax})`,
    now - closedKeptMs,
  )
}

async function putLamports(transaction: Transaction, network: SolanaNetwork, account: SolanaAccount): Promise<void> {
  await transaction.run(
    `INSERT INTO solana_accounts AS known (network, owner, lamports, slot, chain_time, read_at_ms)
     VALUES ($1, $2, $3::text::numeric, $4, $5, $6)
     ON CONFLICT (owner, network) DO UPDATE SET lamports = excluded.lamports, slot = excluded.slot,
       chain_time = excluded.chain_time, read_at_ms = excluded.read_at_ms WHERE excluded.slot >= known.slot`,
    networkNumber(network),
    account.owner,
    account.lamports.toString(),
    account.slot,
    account.chainTime,
    account.readAtMs,
  )
}

async function lock(transaction: Transaction, kind: number, keys: readonly Uint8Array[]): Promise<void> {
  if (keys.length === 0) return
  const stripes = [...new Set(keys.map(key => (key[key.length - 1] ?? 0) % lockStripes))].sort((a, b) => a - b)
  await transaction.query(
    'SELECT pg_advisory_xact_lock($1, stripe)::text FROM unnest($2::int4[]) AS stripe',
    kind,
    int4Array(stripes),
  )
}

function keyOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function isSame(a: HoldingUpdate | undefined, b: HoldingUpdate): boolean {
  if (a === undefined || 'closed' in a !== 'closed' in b || a.slot !== b.slot || a.writeVersion !== b.writeVersion)
    return false
  if ('closed' in a || 'closed' in b) return true
  const keys = (holding: Holding): string => keyOf(holding.owner) + keyOf(holding.mint) + holding.program
  return keys(a) === keys(b) && a.amount === b.amount
}

async function forgetOwners(
  transaction: Transaction,
  network: number,
  readBeforeMs: number,
  max: number,
): Promise<number> {
  const find = 'SELECT owner FROM solana_accounts WHERE network = $1 AND read_at_ms < $2 LIMIT $3'
  const rows = await transaction.query(find, network, readBeforeMs, max)
  const owners = byteaArray(rows.map(([owner]) => bytesOf(owner)))
  for (const table of ['solana_holdings', 'solana_accounts'])
    await transaction.run(`DELETE FROM ${table} WHERE network = $1 AND owner = ANY($2::bytea[])`, network, owners)
  return rows.length
}

export function solanaStore(store: StoreDatabase): SolanaStore {
  const { database } = store
  return {
    solanaOwners: (network, page) => solanaOwners(store, networkNumber(network), page),
    portfolioOf: (network, owner) => portfolioOf(store, network, owner),
    putOwner: (network, account, holdings) =>
      store.writingSpread(transaction => putOwner(transaction, network, account, holdings)),
    mintsOf: (network, mints) => mintsOf(database, network, mints),
    putMints: (network, updates) => store.writingSpread(transaction => putMints(transaction, network, updates)),
    applyHoldings: (network, updates) =>
      store.writingSpread(transaction => applyHoldings(transaction, network, updates)),
    forgetOwners: (network, readBeforeMs, max) =>
      store.writingSpread(transaction => forgetOwners(transaction, networkNumber(network), readBeforeMs, max)),
    putLamports: (network, account) => store.writingSpread(transaction => putLamports(transaction, network, account)),
  }
}
