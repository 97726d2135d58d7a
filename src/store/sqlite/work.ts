// Work that processes ask of each other, and their heartbeats: tables of the file beside the store.
import { type Heartbeat, heartbeatsKeptMs, type WorkRequest, type WorkStore, workKeptMs } from '../work-store.ts'
import type { Connection } from './connection.ts'
import type { SharedFile } from './shared-file.ts'

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
