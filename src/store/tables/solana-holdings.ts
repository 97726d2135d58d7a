// Solana owners and token accounts. The version (slot, write version) decides, so updates may come in any order.
// Holdings are stored by owner: a portfolio is one walk and, on a cluster, one shard. Accounts have an index of their
// own.
import { textOfKey } from '../../hex.ts'
import { type Engine, insert, lockNames, put, type Row, row, rowOf, rows, run, type Work } from '../core/work.ts'
import {
  afterAllReadings,
  closedKeptMs,
  forgottenAtOnceMax,
  type Holding,
  type HoldingColumns,
  type HoldingUpdate,
  networkNumber,
  type OwnerReading,
  type ReadOwner,
  type SolanaAccount,
  type SolanaStore,
  type SolanaUpdates,
} from '../solana-store.ts'
import { mintsOf, nameColumns, putMints } from './solana-mints.ts'

export function solanaStore(engine: Engine): SolanaStore {
  const writing = <T>(work: () => Work<T>): Promise<T> => engine.write(work, { of: 'spread' })
  return {
    solanaOwners: (network, page) => engine.read(() => solanaOwners(networkNumber(network), page)),
    portfolioOf: (network, owner) => engine.read(() => portfolioOf(networkNumber(network), owner)),
    mintsOf: (network, mints) => engine.read(() => mintsOf(networkNumber(network), mints)),
    updateAccounts: (network, updates) => writing(() => updateAccounts(networkNumber(network), updates)),
    forgetOwners: (network, readBeforeMs, max) =>
      writing(() => forgetOwners(networkNumber(network), readBeforeMs, max)),
  }
}

/** In one order for every process, so that two with the same accounts wait for each other and do not deadlock. */
function* updateAccounts(
  network: number,
  { mints = [], holdings = [], reading, owners = [] }: SolanaUpdates,
): Work<void> {
  if (mints.length > 0) yield* putMints(network, mints)
  if (holdings.length > 0) yield* applyHoldings(network, holdings)
  if (reading !== undefined) yield* applyReading(network, reading)
  yield* putLamports(
    network,
    [...owners].sort((a, b) => Buffer.compare(a.owner, b.owner)),
  )
}

const readOwners = `SELECT owner, read_at_ms FROM solana_accounts
  WHERE network = $1 AND (read_at_ms, owner) < ($2, $3) AND reading_slot IS NOT NULL
  ORDER BY read_at_ms DESC, owner DESC LIMIT $4`

function* solanaOwners(
  network: number,
  { limit, before = afterAllReadings }: { limit: number; before?: ReadOwner | undefined },
): Work<ReadOwner[]> {
  const found = yield* rows(readOwners, network, before.readAtMs, before.owner, limit)
  return found.map(([owner, readAtMs]) => ({ owner, readAtMs }))
}

// All holdings as one row, a column in each value: drivers pay for each value that they hand over, and 18,000 for 2,000
// holdings would cost twice the whole query.
const portfolio = `SELECT a.lamports, a.slot, a.chain_time, a.read_at_ms, held.*
  FROM solana_accounts a CROSS JOIN (
    SELECT count(*), joined(account), joined(mint), listed(amount), listed(decimals), listed(supply), texts(name),
      texts(symbol), listed(token_standard), listed(amount_rule)
    FROM (
      SELECT h.account, h.mint, h.amount, m.decimals, m.supply, ${nameColumns}, m.token_standard, m.amount_rule
      FROM solana_holdings h LEFT JOIN solana_mints m ON m.mint = h.mint AND m.network = h.network
      WHERE h.network = $1 AND h.owner = $2 by_key(h.account)
    ) AS rows
  ) AS held
  WHERE a.network = $1 AND a.owner = $2 AND a.reading_slot IS NOT NULL`

type Portfolio = { account: SolanaAccount; holdings: HoldingColumns }

function* portfolioOf(network: number, owner: Uint8Array): Work<Portfolio | undefined> {
  const found = yield* rowOf({ table: 'solana_accounts', value: owner }, portfolio, network, owner)
  if (found === undefined) return undefined
  const [lamports, slot, chainTime, readAtMs, ...held] = found
  return { account: { owner, lamports: BigInt(lamports), slot, chainTime, readAtMs }, holdings: columnsOf(held) }
}

function columnsOf([length, accounts, mints, ...lists]: Row): HoldingColumns {
  const bytes = (joined: Uint8Array) => (length === 0 ? new Uint8Array() : joined)
  const [amounts, decimals, supplies, names, symbols, tokenStandards, amountRules] = lists.map(list => {
    if (length === 0) return []
    return typeof list === 'string' ? JSON.parse(list) : textsWithin(list)
  })
  const facts = { decimals, supplies, names, symbols, tokenStandards, amountRules }
  return { length, accounts: bytes(accounts), mints: bytes(mints), amounts, ...facts }
}

/** Between bytes that no UTF-8 has. Most texts are ASCII, which is decoded at once. */
function textsWithin({ buffer, byteOffset, length }: Uint8Array): string[] {
  const texts = Buffer.from(buffer, byteOffset, length).toString('latin1').split('\xff')
  return texts.map(text => (isAscii.test(text) ? text : Buffer.from(text, 'latin1').toString()))
}

const isAscii = /^[\0-\x7f]*$/

const readReadingSlot = 'SELECT reading_slot FROM solana_accounts WHERE network = $1 AND owner = $2'
const putReadingSlot = `UPDATE solana_accounts SET reading_slot = $3
  WHERE network = $1 AND owner = $2 AND (reading_slot IS NULL OR reading_slot <> $3)`
const readAccounts = 'SELECT account FROM solana_holdings WHERE network = $1 AND owner = $2'

/** A reading is the state at the end of its slot: the owner no longer held what it does not list. */
function* applyReading(network: number, { account, holdings }: OwnerReading): Work<void> {
  const { owner, slot } = account
  yield* lockKeys('owner', [owner])
  const [readingSlot] = (yield* row(readReadingSlot, network, owner)) ?? [null]
  if (readingSlot !== null && readingSlot > slot) return
  yield* putLamports(network, [account])
  yield* run(putReadingSlot, network, owner, slot)
  const listed = new Set(holdings.map(holding => textOfKey(holding.account)))
  const stored = yield* rows(readAccounts, network, owner)
  const gone = stored.filter(([token]) => !listed.has(textOfKey(token)))
  const updates: HoldingUpdate[] = [
    ...gone.map(([token]) => ({ account: token, closed: true as const, slot, writeVersion: 0n })),
    ...holdings,
  ]
  yield* applyUpdates(network, updates, known => known.slot <= slot, owner)
}

const readReadings = `SELECT owner, reading_slot FROM solana_accounts
  WHERE network = $1 AND owner IN $2:blobs AND reading_slot IS NOT NULL`

function* applyHoldings(network: number, updates: readonly HoldingUpdate[]): Work<void> {
  const owners = distinct(updates.flatMap(update => ('closed' in update ? [] : [update.owner])))
  yield* lockKeys('owner', owners)
  const found = owners.length === 0 ? [] : yield* rows(readReadings, network, owners)
  const readings = new Map<string, number>(found.map(([owner, slot]) => [textOfKey(owner), slot]))
  // An update that is older than the owner's last reading, of an account that the reading does not list, is out of
  // date.
  const fenced = updates.map((update): HoldingUpdate => {
    if ('closed' in update || (readings.get(textOfKey(update.owner)) ?? 0) <= update.slot) return update
    return { account: update.account, closed: true, slot: update.slot, writeVersion: update.writeVersion }
  })
  yield* applyUpdates(network, fenced, (known, update) => !isNewer(known, update))
}

function isNewer(a: HoldingUpdate, b: HoldingUpdate): boolean {
  return a.slot > b.slot || (a.slot === b.slot && a.writeVersion > b.writeVersion)
}

/**
 * Applies updates one after the other to what is stored of their accounts, most of them with this owner, then writes
 * what came out.
 */
function* applyUpdates(
  network: number,
  updates: readonly HoldingUpdate[],
  mayReplace: (known: HoldingUpdate, update: HoldingUpdate) => boolean,
  owner?: Uint8Array,
): Work<void> {
  const accounts = distinct(updates.map(update => update.account))
  yield* lockKeys('account', accounts)
  const before = yield* storedUpdates(network, accounts, owner)
  const after = new Map<string, HoldingUpdate>()
  for (const update of updates) {
    const key = textOfKey(update.account)
    const known = after.get(key) ?? before.get(key)
    if (known === undefined || mayReplace(known, update)) after.set(key, update)
  }
  const changed = [...after].filter(([key, update]) => !isSame(before.get(key), update))
  yield* writeUpdates(
    network,
    changed.map(([, update]) => update),
    changed.flatMap(([key]) => before.get(key) ?? []),
  )
}

const versioned = 'account, slot, write_version'
const readOfOwner = `SELECT ${versioned}, owner, mint, amount, program FROM solana_holdings WHERE network = $1 AND owner = $2`
const readStored = `
  SELECT ${versioned}, owner, mint, amount, program FROM solana_holdings WHERE network = $1 AND account IN $2:blobs
  UNION ALL SELECT ${versioned}, NULL, NULL, NULL, NULL FROM solana_closed WHERE network = $1 AND account IN $2:blobs`

function* storedUpdates(
  network: number,
  accounts: readonly Uint8Array[],
  owner: Uint8Array | undefined,
): Work<Map<string, HoldingUpdate>> {
  const stored = new Map<string, HoldingUpdate>()
  const add = (found: readonly Row[]): void => {
    for (const each of found) stored.set(textOfKey(each[0]), updateOf(each))
  }
  if (owner !== undefined) add(yield* rows(readOfOwner, network, owner))
  const others = accounts.filter(account => !stored.has(textOfKey(account)))
  if (others.length > 0) add(yield* rows(readStored, network, others))
  return stored
}

function updateOf([account, slot, version, owner, mint, amount, program]: Row): HoldingUpdate {
  const writeVersion = Buffer.from(version.buffer, version.byteOffset, 8).readBigUInt64BE()
  if (owner === null) return { account, slot, writeVersion, closed: true }
  return { account, slot, writeVersion, owner, mint, amount: BigInt(amount), program }
}

function isSame(a: HoldingUpdate | undefined, b: HoldingUpdate): boolean {
  if (a === undefined || 'closed' in a !== 'closed' in b || a.slot !== b.slot || a.writeVersion !== b.writeVersion)
    return false
  if ('closed' in a || 'closed' in b) return true
  const keys = (holding: Holding): string => textOfKey(holding.owner) + textOfKey(holding.mint) + holding.program
  return keys(a) === keys(b) && a.amount === b.amount
}

const removeHeld = 'DELETE FROM solana_holdings WHERE network = $1 AND (owner, account) IN $2:rows(bytes, bytes)'
const removeClosed = 'DELETE FROM solana_closed WHERE network = $1 AND account IN $2:blobs'
const forgetClosed = `DELETE FROM solana_closed WHERE (account, network) IN
  (SELECT account, network FROM solana_closed WHERE closed_at_ms < $1 LIMIT ${forgottenAtOnceMax})`

/** Deletes the old rows first, because an account that changed hands is stored under another key. */
function* writeUpdates(
  network: number,
  updates: readonly HoldingUpdate[],
  replaced: readonly HoldingUpdate[],
): Work<void> {
  const held = updates.filter(update => !('closed' in update)) as Holding[]
  const stays = new Set(held.map(holding => textOfKey(holding.owner) + textOfKey(holding.account)))
  const left = replaced.flatMap(old =>
    'closed' in old || stays.has(textOfKey(old.owner) + textOfKey(old.account)) ? [] : [[old.owner, old.account]],
  )
  if (left.length > 0) yield* run(removeHeld, network, left)
  const reopened = replaced.flatMap(old => ('closed' in old ? [old.account] : []))
  if (reopened.length > 0) yield* run(removeClosed, network, reopened)
  yield* put(
    'solana_holdings',
    held.map(({ owner, account, mint, program, amount, slot, writeVersion }) => ({
      ...{ network, owner, account, mint, program, amount: amount.toString(), slot },
      write_version: versionBytes(writeVersion),
    })),
  )
  const closed = updates.filter(update => 'closed' in update)
  if (closed.length === 0) return
  const now = Date.now()
  yield* insert(
    'solana_closed',
    closed.map(({ account, slot, writeVersion }) => ({
      ...{ network, account, slot, write_version: versionBytes(writeVersion), closed_at_ms: now },
    })),
  )
  yield* run(forgetClosed, now - closedKeptMs)
}

const noVersion = Buffer.alloc(8)

/** A write version as 8 bytes that compare as it does. */
function versionBytes(writeVersion: bigint): Buffer {
  if (writeVersion === 0n) return noVersion
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64BE(writeVersion)
  return bytes
}

function* putLamports(network: number, accounts: readonly SolanaAccount[]): Work<void> {
  const cells = accounts.map(({ owner, lamports, slot, chainTime, readAtMs }) => ({
    ...{ network, owner, lamports: lamports.toString(), slot, chain_time: chainTime, read_at_ms: readAtMs },
  }))
  yield* put('solana_accounts', cells, { where: 'excluded.slot >= solana_accounts.slot' })
}

function* forgetOwners(network: number, readBeforeMs: number, max: number): Work<number> {
  const find = 'SELECT owner FROM solana_accounts WHERE network = $1 AND read_at_ms < $2 LIMIT $3'
  const owners = (yield* rows(find, network, readBeforeMs, max)).map(([owner]) => owner)
  for (const table of ['solana_holdings', 'solana_accounts'])
    if (owners.length > 0) yield* run(`DELETE FROM ${table} WHERE network = $1 AND owner IN $2:blobs`, network, owners)
  return owners.length
}

/**
 * Owners and accounts are locked by the low bits of their keys: owners first, then accounts. Rows could not be locked
 * instead, because what must not appear meanwhile has none yet.
 */
function* lockKeys(kind: 'owner' | 'account', keys: readonly Uint8Array[]): Work<void> {
  if (keys.length > 0) yield* lockNames(keys.map(key => `solana ${kind} ${(key.at(-1) ?? 0) % lockStripes}`))
}

const lockStripes = 64

function distinct(keys: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(keys.map(key => [textOfKey(key), key])).values()]
}
