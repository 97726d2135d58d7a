// Work that processes ask of each other and their heartbeats, in tables of the file beside the store; leases and
// checkpoints, in tables of the store. The clock may step in both directions.

import type { ChainId } from '../../model.ts'
import { leaseLost } from '../commit-rules.ts'
import type { CheckpointStore, Lease, LeaseStore } from '../store.ts'
import { heartbeatsKeptMs, heldMsMax, type WorkRequest, type WorkStore, workKeptMs } from '../work-store.ts'
import type { Connection } from './connection.ts'
import { noteAsked } from './coverage-table.ts'
import type { SharedFile } from './shared-file.ts'
import type { StoreFile } from './store-file.ts'

const request = `INSERT INTO work VALUES (?1, ?2, ?3, ?4, 0, NULL) ON CONFLICT DO UPDATE SET
  asked_at = iif(outcome IS NULL, asked_at, excluded.asked_at),
  wanted_until = max(wanted_until, excluded.wanted_until),
  taken_until = iif(outcome IS NULL, taken_until, 0),
  outcome = NULL`
const finished = 'SELECT name, outcome FROM work WHERE outcome IS NOT NULL AND name IN (SELECT value FROM json_each(?))'

export function workStore(shared: SharedFile): WorkStore {
  return {
    requestWork: ({ name, topic, waitMs }) =>
      shared.writing(connection => {
        const now = Date.now()
        connection.run(request, name, topic, now, now + waitMs)
      }),
    takeWork: asked => takeWork(shared, asked),
    finishWork: (name, outcome) =>
      shared.writing(connection => {
        connection.run('UPDATE work SET outcome = ? WHERE name = ?', outcome, name)
      }),
    workOutcomes: async names =>
      new Map(shared.reading(read => read.all(finished, JSON.stringify(names))) as [string, string][]),
    putHeartbeat: (process, report) =>
      shared.writing(connection => {
        const now = Date.now()
        const old = 'DELETE FROM heartbeats WHERE process = ? OR abs(at - ?) > ?'
        connection.run(old, process, now, heartbeatsKeptMs)
        if (report !== undefined) connection.run('INSERT INTO heartbeats VALUES (?, ?, ?)', process, now, report)
      }),
    heartbeats: async () => {
      const now = Date.now()
      const rows = shared.reading(read => read.all('SELECT process, at, report FROM heartbeats ORDER BY at DESC'))
      return (rows as [string, number, string][]).map(([process, at, report]) => ({
        ...{ process, ageMs: Math.abs(now - at), report },
      }))
    },
  }
}

async function takeWork(
  shared: SharedFile,
  asked: { topics: readonly string[]; holdMs: number; limit: number },
): Promise<WorkRequest[]> {
  const now = Date.now()
  const wanted = [now, now, now + heldMsMax, JSON.stringify(asked.topics)]
  const waiting = `FROM work WHERE outcome IS NULL AND wanted_until > ? AND taken_until NOT BETWEEN ? + 1 AND ?
    AND topic IN (SELECT value FROM json_each(?))`
  // A look costs no write while there is nothing to take.
  if (shared.reading(read => read.get(`SELECT 1 ${waiting} LIMIT 1`, ...wanted)) === undefined) return []
  return await shared.writing(connection => {
    const forget = 'DELETE FROM work WHERE wanted_until < ? OR (asked_at > ? AND outcome IS NOT NULL)'
    connection.run(forget, now - workKeptMs, now + workKeptMs)
    const next = `SELECT name, topic, wanted_until ${waiting} ORDER BY asked_at LIMIT ?`
    const rows = connection.all(next, ...wanted, asked.limit) as [string, string, number][]
    for (const [name] of rows)
      connection.run('UPDATE work SET taken_until = ? WHERE name = ?', now + asked.holdMs, name)
    return rows.map(([name, topic, wantedUntil]) => ({ name, topic, waitMs: wantedUntil - now }))
  })
}

// Leases: which holder may do a piece of work, and the check that it still may.

const claim = `INSERT INTO leases VALUES (?1, ?2, 1, ?3) ON CONFLICT DO UPDATE SET holder = excluded.holder,
  token = token + (holder IS NOT excluded.holder), expires_at = excluded.expires_at
  WHERE holder IS excluded.holder OR expires_at <= ?4 OR expires_at > ?4 + ${heldMsMax} RETURNING token`
/** The row stays, because the next token must be higher. */
const release = 'UPDATE leases SET holder = NULL, expires_at = 0 WHERE name = ? AND token = ?'

/** Without `fenced`, which needs every table that a lease guards. */
export function leases(file: StoreFile): Omit<LeaseStore, 'fenced'> {
  return {
    claim: (name, holder, ttlMs) =>
      file.writingUnseen(connection => {
        const now = Date.now()
        const row = connection.get(claim, name, holder, now + ttlMs, now)
        return row === undefined ? undefined : { name, token: row[0] as number }
      }),
    release: ({ name, token }) =>
      file.writingUnseen(connection => {
        connection.run(release, name, token)
      }),
  }
}

/** Within the transaction that the lease guards. */
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
    noteAsked: async (chain, contract, day) => {
      const ordinal = file.dictionary.ordinalOf(chain)
      if (ordinal !== undefined) await file.writingUnseen(connection => noteAsked(connection, ordinal, contract, day))
    },
  }
}

export function forgetWallets(connection: Connection, chain: ChainId, below: number): void {
  const forget = `DELETE FROM checkpoints WHERE name LIKE ? AND json_extract(value, '$.block') < ?`
  connection.run(forget, `wallet/${chain}/%`, below)
}

export function putCheckpoint(connection: Connection, name: string, value: string): void {
  connection.run('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)', name, value)
}
