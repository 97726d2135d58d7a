// What processes on one store tell each other, in a small file beside it: a commit of history never makes a request wait that
// only wants to be counted. Nothing in it is irreplaceable, so that backups leave it out.
import type { AllowanceGrant, AllowanceRequest } from '../key-store.ts'
import type { Heartbeat, WorkRequest } from '../work-store.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { storeFailure } from './failures.ts'
import { writeOptions } from './open-file.ts'
import { WriteQueue } from './write-queue.ts'

const options: ConnectionOptions = { ...writeOptions, cacheMegabytes: 1, logPagesMax: 200 }
/** Only for the moments in which another process makes the file or recovers its log. */
const readOptions: ConnectionOptions = { ...options, busyTimeoutMs: 250 }
const waitMsMax = 5_000
const dayMs = 86_400_000
/** Finished or forgotten work stays this long, for those who still look for its outcome. */
const workKeptMs = 60_000

// A file of another version is emptied instead of migrated.
const version = 1
const schema = `
DROP TABLE IF EXISTS allowances;
DROP TABLE IF EXISTS indexing_uses;
DROP TABLE IF EXISTS work;
DROP TABLE IF EXISTS heartbeats;
CREATE TABLE allowances (
  key_id TEXT PRIMARY KEY,
  second_ends_at INTEGER NOT NULL,
  used_in_second INTEGER NOT NULL,
  day TEXT NOT NULL,
  used_in_day INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE indexing_uses (day TEXT, key_id TEXT, target TEXT, PRIMARY KEY (day, key_id, target)) WITHOUT ROWID;
CREATE TABLE work (
  name TEXT PRIMARY KEY,
  topic TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  wanted_until INTEGER NOT NULL,
  taken_until INTEGER NOT NULL,
  outcome TEXT
) WITHOUT ROWID;
CREATE TABLE heartbeats (process TEXT PRIMARY KEY, at INTEGER NOT NULL, report TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = ${version};
`

export class SharedFile {
  readonly #path: string
  readonly #queue: WriteQueue
  #read: Connection | undefined

  constructor(path: string) {
    this.#path = path
    this.#queue = new WriteQueue(() => this.#open(options), {
      location: `file:${path}`,
      waitMsMax,
      onRollback: () => {},
    })
  }

  /** `usedToday` is asked for where the file does not know of the day yet. */
  takeAllowance(request: AllowanceRequest, usedToday: (day: string) => number): Promise<AllowanceGrant> {
    const { keyId, wanted, ratePerSecond, quotaPerDay, unused } = request
    return this.#queue.transaction(connection => {
      const now = Date.now()
      const day = dayOf(now)
      const row = connection.get(
        'SELECT second_ends_at, used_in_second, day, used_in_day FROM allowances WHERE key_id = ?',
        keyId,
      ) as [number, number, string, number] | undefined
      const sameSecond = row !== undefined && now < row[0]
      const secondEndsAt = sameSecond ? row[0] : now + 1_000
      const usedInSecond = sameSecond ? row[1] : 0
      const givenBack = unused?.day === day ? unused.count : 0
      const usedInDay = row?.[2] === day ? Math.max(0, row[3] - givenBack) : usedToday(day)
      const left = Math.min(
        (ratePerSecond ?? Number.POSITIVE_INFINITY) - usedInSecond,
        (quotaPerDay ?? Number.POSITIVE_INFINITY) - usedInDay,
      )
      const granted = Math.max(0, Math.floor(Math.min(wanted, left)))
      connection.run(
        'INSERT OR REPLACE INTO allowances VALUES (?, ?, ?, ?, ?)',
        keyId,
        secondEndsAt,
        usedInSecond + granted,
        day,
        usedInDay + granted,
      )
      return {
        granted,
        usedInSecond: usedInSecond + granted,
        secondEndsInMs: secondEndsAt - now,
        day,
        usedInDay: usedInDay + granted,
      }
    })
  }

  takeIndexing({ keyId, target, perDay }: { keyId: string; target: string; perDay: number }): Promise<boolean> {
    return this.#queue.transaction(connection => {
      const day = dayOf(Date.now())
      connection.run('DELETE FROM indexing_uses WHERE day < ?', day)
      const known = 'SELECT 1 FROM indexing_uses WHERE day = ? AND key_id = ? AND target = ?'
      if (connection.get(known, day, keyId, target) !== undefined) return true
      const used = connection.get('SELECT count(*) FROM indexing_uses WHERE day = ? AND key_id = ?', day, keyId)
      if ((used?.[0] as number) >= perDay) return false
      connection.run('INSERT INTO indexing_uses VALUES (?, ?, ?)', day, keyId, target)
      return true
    })
  }

  requestWork({ name, topic, waitMs }: WorkRequest): Promise<void> {
    return this.#queue.transaction(connection => {
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
    })
  }

  async takeWork(asked: { topics: readonly string[]; holdMs: number; limit: number }): Promise<WorkRequest[]> {
    const topics = JSON.stringify(asked.topics)
    const waiting = `FROM work WHERE outcome IS NULL AND wanted_until > ? AND taken_until <= ?
      AND topic IN (SELECT value FROM json_each(?))`
    const now = Date.now()
    // A look costs no write while there is nothing to take.
    if (this.#reading(read => read.get(`SELECT 1 ${waiting} LIMIT 1`, now, now, topics)) === undefined) return []
    return await this.#queue.transaction(connection => {
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

  finishWork(name: string, outcome: string): Promise<void> {
    return this.#queue.transaction(
      connection => void connection.run('UPDATE work SET outcome = ? WHERE name = ?', outcome, name),
    )
  }

  async workOutcomes(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = this.#reading(read =>
      read.all(
        'SELECT name, outcome FROM work WHERE outcome IS NOT NULL AND name IN (SELECT value FROM json_each(?))',
        JSON.stringify(names),
      ),
    )
    return new Map(rows as [string, string][])
  }

  putHeartbeat(process: string, report: string | undefined): Promise<void> {
    return this.#queue.transaction(connection => {
      const now = Date.now()
      connection.run('DELETE FROM heartbeats WHERE process = ? OR at < ?', process, now - dayMs)
      if (report !== undefined) connection.run('INSERT INTO heartbeats VALUES (?, ?, ?)', process, now, report)
    })
  }

  async heartbeats(): Promise<Heartbeat[]> {
    const now = Date.now()
    const rows = this.#reading(read => read.all('SELECT process, at, report FROM heartbeats ORDER BY at DESC'))
    return (rows as [string, number, string][]).map(([process, at, report]) => ({
      process,
      ageMs: Math.max(0, now - at),
      report,
    }))
  }

  async close(): Promise<void> {
    await this.#queue.settled()
    this.#read?.close()
    this.#queue.close()
  }

  #reading<T>(work: (read: Connection) => T): T {
    try {
      this.#read ??= this.#open(readOptions)
      return work(this.#read)
    } catch (error) {
      throw storeFailure(error, `file:${this.#path}`)
    }
  }

  /** Opened when it is first needed: most commands never are among several. */
  #open(how: ConnectionOptions): Connection {
    const connection = new Connection(this.#path, how)
    try {
      const isCurrent = (): boolean => connection.get('PRAGMA user_version')?.[0] === version
      if (!isCurrent()) {
        connection.database.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
        if (!isCurrent()) connection.database.exec(schema)
        connection.database.exec('COMMIT')
      }
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
