// Work that processes ask of each other, and their heartbeats. Time is the server's. Whoever waits asks again: a notification
// would not pass through PgBouncer.

import { leaseLost } from '../commit-rules.ts'
import type { CheckpointStore, Lease, LeaseStore } from '../store.ts'
import { type Heartbeat, heartbeatsKeptMs, type WorkRequest, type WorkStore, workKeptMs } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Database, Transaction } from './database.ts'
import type { StoreDatabase } from './store-database.ts'

export function workStore(database: Database): WorkStore {
  return {
    requestWork: request => requestWork(database, request),
    takeWork: asked => takeWork(database, asked),
    finishWork: (name, outcome) => finishWork(database, name, outcome),
    workOutcomes: names => workOutcomes(database, names),
    putHeartbeat: (process, report) => putHeartbeat(database, process, report),
    heartbeats: () => heartbeats(database),
  }
}

const milliseconds = (parameter: string): string => `${parameter}::float8 * interval '1 millisecond'`

async function requestWork(database: Database, { name, topic, waitMs }: WorkRequest): Promise<void> {
  await database.write(
    `INSERT INTO work AS known (name, topic, asked_at, wanted_until, taken_until)
     VALUES ($1, $2, clock_timestamp(), clock_timestamp() + ${milliseconds('$3')}, '-infinity')
     ON CONFLICT (name) DO UPDATE SET
       asked_at = CASE WHEN known.outcome IS NULL THEN known.asked_at ELSE excluded.asked_at END,
       wanted_until = greatest(known.wanted_until, excluded.wanted_until),
       taken_until = CASE WHEN known.outcome IS NULL THEN known.taken_until ELSE excluded.taken_until END,
       outcome = NULL`,
    name,
    topic,
    waitMs,
  )
}

const waiting = `outcome IS NULL AND wanted_until > clock_timestamp() AND taken_until <= clock_timestamp() AND topic = ANY($1::text[])`

async function takeWork(
  database: Database,
  { topics, holdMs, limit }: { topics: readonly string[]; holdMs: number; limit: number },
): Promise<WorkRequest[]> {
  const rows = await database.write(
    `WITH forgotten AS (DELETE FROM work WHERE wanted_until < clock_timestamp() - interval '${workKeptMs} milliseconds'),
     next AS (SELECT name FROM work WHERE ${waiting} ORDER BY asked_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     UPDATE work SET taken_until = clock_timestamp() + ${milliseconds('$3')} FROM next WHERE work.name = next.name
     RETURNING work.name, topic, extract(epoch FROM wanted_until - clock_timestamp()) * 1000`,
    textArray(topics),
    limit,
    holdMs,
  )
  return rows.map(([name, topic, waitMs]) => ({
    name: name as string,
    topic: topic as string,
    waitMs: Math.max(0, Number(waitMs)),
  }))
}

async function finishWork(database: Database, name: string, outcome: string): Promise<void> {
  await database.write('UPDATE work SET outcome = $2 WHERE name = $1', name, outcome)
}

async function workOutcomes(database: Database, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.read(
    'SELECT name, outcome FROM work WHERE name = ANY($1::text[]) AND outcome IS NOT NULL',
    textArray(names),
  )
  return new Map(rows as [string, string][])
}

async function putHeartbeat(database: Database, process: string, report: string | undefined): Promise<void> {
  if (report === undefined) await database.write('DELETE FROM heartbeats WHERE process = $1', process)
  else
    await database.write(
      `WITH old AS (DELETE FROM heartbeats WHERE at < clock_timestamp() - interval '${heartbeatsKeptMs} milliseconds' AND process <> $1)
       INSERT INTO heartbeats VALUES ($1, clock_timestamp(), $2)
       ON CONFLICT (process) DO UPDATE SET at = excluded.at, report = excluded.report`,
      process,
      report,
    )
}

async function heartbeats(database: Database): Promise<Heartbeat[]> {
  const rows = await database.read(
    'SELECT process, extract(epoch FROM clock_timestamp() - at) * 1000, report FROM heartbeats ORDER BY at DESC',
  )
  return rows.map(([process, ageMs, report]) => ({
    process: process as string,
    ageMs: Math.max(0, Number(ageMs)),
    report: report as string,
  }))
}

// Leases: which holder may do a piece of work, and the check that it still may. Time is the server's.

/** Without `fenced`, which needs every table that a lease guards. */
export function leases(store: StoreDatabase): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) => store.writingUnseen(transaction => claim(transaction, name, holder, ttlMs)),
    release: lease => store.writingUnseen(transaction => release(transaction, lease)),
  }
}

async function claim(
  transaction: Transaction,
  name: string,
  holder: string,
  ttlMs: number,
): Promise<Lease | undefined> {
  const [row] = await transaction.query(
    `INSERT INTO leases AS known (name, holder, token, expires_at)
     VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
       token = known.token + (known.holder IS DISTINCT FROM excluded.holder)::int4
     WHERE known.holder IS NOT DISTINCT FROM excluded.holder OR known.expires_at <= clock_timestamp() RETURNING token`,
    name,
    holder,
    ttlMs,
  )
  return row === undefined ? undefined : { name, token: Number(row[0]) }
}

/** The row stays, because the next token must be higher. */
async function release(transaction: Transaction, { name, token }: Lease): Promise<void> {
  await transaction.run(
    "UPDATE leases SET holder = NULL, expires_at = '-infinity' WHERE name = $1 AND token = $2",
    name,
    token,
  )
}

/**
 * At the end of a transaction: from here to the commit nobody else can claim the name. A holder that stops right here, as a
 * paused machine does, is rolled back by the server (`idle_in_transaction_session_timeout`), and the claim goes through.
 */
export async function requireLease(transaction: Transaction, lease: Lease): Promise<void> {
  const held = await transaction.query(
    'SELECT 1 FROM leases WHERE name = $1 AND token = $2 FOR SHARE',
    lease.name,
    lease.token,
  )
  if (held.length === 0) throw leaseLost(lease)
}

// Small named texts that must survive a restart. No answer shows them.

export function checkpointStore(store: StoreDatabase): CheckpointStore {
  return {
    checkpoint: name => checkpoint(store.database, name),
    putCheckpoint: (name, value) => store.writingUnseen(transaction => putCheckpoint(transaction, name, value)),
  }
}

async function checkpoint(database: Database, name: string): Promise<string | undefined> {
  const [row] = await database.read('SELECT value FROM checkpoints WHERE name = $1', name)
  return row?.[0] ?? undefined
}

export async function putCheckpoint(transaction: Transaction, name: string, value: string): Promise<void> {
  await transaction.run(
    'INSERT INTO checkpoints VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    name,
    value,
  )
}
