// Work that processes ask of each other, and their heartbeats: tables of the file beside the store.

import { leaseLost } from '../commit-rules.ts'
import type { CheckpointStore, Lease, LeaseStore } from '../store.ts'
import { type Heartbeat, heartbeatsKeptMs, type WorkRequest, type WorkStore, workKeptMs } from '../store.ts'
import type { Connection } from './connection.ts'
import type { SharedFile } from './shared-file.ts'
import type { StoreFile } from './store-file.ts'

export function workStore(shared: SharedFile): WorkStore {
  return {
    requestWork: request => shared.writing(connection => requestWork(connection, request)),
    takeWork: asked => takeWork(shared, asked),
    finishWork: (name, outcome) => shared.writing(connection => finishWork(connection, name, outcome)),
    workOutcomes: async names => shared.reading(read => workOutcomes(read, names)),
    putHeartbeat: (process, report) => shared.writing(connection => putHeartbeat(connection, process, report)),
    heartbeats: async () => shared.reading(heartbeats),
  }
}

function requestWork(connection: Connection, { name, topic, waitMs }: WorkRequest): void {
  const now = Date.now()
  connection.run(
    `INSERT INTO work VALUES (?1, ?2, ?3, ?4, 0, NULL) ON CONFLICT DO UPDATE SET
         asked_at = iif(outcome IS NULL, asked_at, excluded.asked_at),
         wanted_until = max(wanted_until, excluded.wanted_until),
         taken_until = iif(outcome IS NULL, taken_until, 0),
         outcome = NULL`,
    name,
    topic,
    now,
    now + waitMs,
  )
}

async function takeWork(
  shared: SharedFile,
  asked: { topics: readonly string[]; holdMs: number; limit: number },
): Promise<WorkRequest[]> {
  const topics = JSON.stringify(asked.topics)
  const waiting = `FROM work WHERE outcome IS NULL AND wanted_until > ? AND taken_until <= ?
    AND topic IN (SELECT value FROM json_each(?))`
  const now = Date.now()
  // A look costs no write while there is nothing to take.
  if (shared.reading(read => read.get(`SELECT 1 ${waiting} LIMIT 1`, now, now, topics)) === undefined) return []
  return await shared.writing(connection => {
    connection.run('DELETE FROM work WHERE wanted_until < ?', now - workKeptMs)
    const rows = connection.all(
      `SELECT name, topic, wanted_until ${waiting} ORDER BY asked_at LIMIT ?`,
      now,
      now,
      topics,
      asked.limit,
    ) as [string, string, number][]
    for (const [name] of rows)
      connection.run('UPDATE work SET taken_until = ? WHERE name = ?', now + asked.holdMs, name)
    return rows.map(([name, topic, wantedUntil]) => ({ name, topic, waitMs: wantedUntil - now }))
  })
}

function finishWork(connection: Connection, name: string, outcome: string): void {
  connection.run('UPDATE work SET outcome = ? WHERE name = ?', outcome, name)
}

function workOutcomes(connection: Connection, names: readonly string[]): ReadonlyMap<string, string> {
  const rows = connection.all(
    'SELECT name, outcome FROM work WHERE outcome IS NOT NULL AND name IN (SELECT value FROM json_each(?))',
    JSON.stringify(names),
  )
  return new Map(rows as [string, string][])
}

function putHeartbeat(connection: Connection, process: string, report: string | undefined): void {
  const now = Date.now()
  connection.run('DELETE FROM heartbeats WHERE process = ? OR at < ?', process, now - heartbeatsKeptMs)
  if (report !== undefined) connection.run('INSERT INTO heartbeats VALUES (?, ?, ?)', process, now, report)
}

function heartbeats(connection: Connection): Heartbeat[] {
  const now = Date.now()
  const rows = connection.all('SELECT process, at, report FROM heartbeats ORDER BY at DESC')
  return (rows as [string, number, string][]).map(([process, at, report]) => ({
    process,
    ageMs: Math.max(0, now - at),
    report,
  }))
}

// Leases: which holder may do a piece of work, and the check that it still may. Functions that take a connection run
// in their caller's transaction.

/** Without `fenced`, which needs every table that a lease guards. */
export function leases(file: StoreFile): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) => file.writingUnseen(connection => claim(connection, name, holder, ttlMs)),
    release: lease => file.writingUnseen(connection => release(connection, lease)),
  }
}

function claim(connection: Connection, name: string, holder: string, ttlMs: number): Lease | undefined {
  const now = Date.now()
  const row = connection.get(
    `INSERT INTO leases VALUES (?1, ?2, 1, ?3) ON CONFLICT DO UPDATE SET holder = excluded.holder,
       token = token + (holder IS NOT excluded.holder), expires_at = excluded.expires_at
     WHERE holder IS excluded.holder OR expires_at <= ?4 RETURNING token`,
    name,
    holder,
    now + ttlMs,
    now,
  )
  return row === undefined ? undefined : { name, token: row[0] as number }
}

/** The row stays, because the next token must be higher. */
function release(connection: Connection, { name, token }: Lease): void {
  connection.run('UPDATE leases SET holder = NULL, expires_at = 0 WHERE name = ? AND token = ?', name, token)
}

export function requireLease(connection: Connection, lease: Lease): void {
  const held = connection.get('SELECT 1 FROM leases WHERE name = ? AND token = ?', lease.name, lease.token)
  if (held === undefined) throw leaseLost(lease)
}

// Small named texts that must survive a restart. No answer shows them.

export function checkpointStore(file: StoreFile): CheckpointStore {
  return {
    checkpoint: async name =>
      file.reading(read => read.get('SELECT value FROM checkpoints WHERE name = ?', name)?.[0] as string | undefined),
    putCheckpoint: (name, value) => file.writingUnseen(connection => putCheckpoint(connection, name, value)),
  }
}

export function putCheckpoint(connection: Connection, name: string, value: string): void {
  connection.run('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)', name, value)
}
