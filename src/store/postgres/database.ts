// Connections to the server: prepared statements, and transactions with their retries. It knows no table.
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Row } from '../core/work.ts'
import {
  isConnectionFailure,
  isLockTimeout,
  isLostName,
  isReadTimeout,
  isRolledBackForOthers,
  storeFailure,
} from './failures.ts'

export type Value = string | number | bigint | boolean | Uint8Array | null

export type DatabaseOptions = {
  connectionString: string
  /** Fit for a log: no password. */
  location: string
  connectionsMax: number
  /**
   * Named statements are planned once for each connection; others at each call. PgBouncer in transaction mode supports
   * them from 1.21 on where max_prepared_statements is above 0. Where names turn out not to work they are given up.
   */
  namedStatements: boolean
  /** Tests wait for less. */
  stallMsMax?: number | undefined
}

const connectTimeoutMs = 10_000
const statementTimeoutMs = 120_000
/** For a read that a request waits for: as long as the request may take by default. */
export const requestReadMs = 15_000
const slowMsMax = 86_400_000
const idleTimeoutMs = 60_000
const attemptsMax = 5
/**
 * A process that stops in the middle of a transaction, as a paused machine does, must not hold its locks for long: the
 * server ends it after this time, and other processes wait longer than that.
 */
const stallMsUsual = 10_000
/** The code of a notice that is not a warning: severities may be in any language. */
const plainNotice = '00000'

function transactionSql(stallMsMax: number) {
  const lockTimeout = `SET LOCAL lock_timeout = ${stallMsMax * 1.2}`
  return {
    begin: `BEGIN; SET LOCAL client_min_messages = warning; SET LOCAL idle_in_transaction_session_timeout = ${stallMsMax}; ${lockTimeout}; SET LOCAL statement_timeout = 110000`,
    /** Workers get it with their part of the transaction. Citus sends them the text of the whole call: it is alone. */
    lockTimeout,
    /**
     * No timeout of the server applies while it waits for the rows of a COPY: a process that stops there, or is cut
     * off, would keep its locks for hours. A process that gave up waiting for such a lock ends it.
     */
    endStalled: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity AS session
      WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
        AND state = 'active' AND query LIKE 'COPY %' AND wait_event = 'ClientRead'
        AND query_start < clock_timestamp() - interval '${stallMsMax} milliseconds'
        AND EXISTS (SELECT 1 FROM pg_locks WHERE pg_locks.pid = session.pid AND relation = to_regclass('packs'))`,
  }
}

type Statement = pg.QueryArrayConfig<Value[]> & { query_timeout?: number }

const text = (value: string): string => value
/** Of int8, int2, int4, float4, float8 and bytea; other values are text. Integers are within 2^53. */
const parsers = new Map<number, (value: string) => unknown>([
  ...[20, 21, 23, 700, 701].map(type => [type, Number] as const),
  [17, value => Buffer.from(value.slice(2), 'hex')],
])
const types = { getTypeParser: (type: number) => parsers.get(type) ?? text }

export class Database {
  readonly location: string
  readonly connectionsMax: number
  readonly stallMsMax: number
  readonly #pool: pg.Pool
  readonly #sql: ReturnType<typeof transactionSql>
  #namedStatements: boolean
  readonly #names = new Map<string, string>()
  /**
   * Counts transactions that may not have ended everywhere: those that failed, and those that Citus warned of, because
   * a worker did not take part in the second phase of the commit.
   */
  doubts = 1
  /** Whether rows are spread over workers by Citus, once that is known. */
  distributed = false

  constructor(options: DatabaseOptions) {
    const { connectionString, location, connectionsMax, namedStatements, stallMsMax = stallMsUsual } = options
    this.location = location
    this.stallMsMax = stallMsMax
    this.#sql = transactionSql(stallMsMax)
    this.connectionsMax = connectionsMax
    this.#namedStatements = namedStatements
    this.#pool = new pg.Pool({
      connectionString,
      max: connectionsMax,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleTimeoutMs,
      query_timeout: statementTimeoutMs,
      keepAlive: true,
      allowExitOnIdle: true,
    })
    // The next call replaces an idle connection that the server ended, and reports what is wrong if it lasts.
    this.#pool.on('error', () => {})
    // The same between two statements of a transaction: the next one fails, and nothing must end the process before.
    this.#pool.on('connect', client => client.on('error', () => {}))
    this.#pool.on('connect', client =>
      client.on('notice', ({ code }) => {
        if (code !== plainNotice) this.doubts++
      }),
    )
  }

  /** One statement, one snapshot. Retried once on another connection: reading twice changes nothing. */
  read(sql: string, ...values: Value[]): Promise<Row[]> {
    return this.readWithin(statementTimeoutMs, sql, ...values)
  }

  async readWithin(timeoutMs: number, sql: string, ...values: Value[]): Promise<Row[]> {
    try {
      try {
        return await this.#readOnce(timeoutMs, sql, values)
      } catch (error) {
        if (isReadTimeout(error) || (!isConnectionFailure(error) && !this.#givesUpNames(error))) throw error
        return await this.#readOnce(timeoutMs, sql, values)
      }
    } catch (error) {
      throw storeFailure(error, this.location)
    }
  }

  async #readOnce(timeoutMs: number, sql: string, values: readonly Value[]): Promise<Row[]> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      const statement: Statement = { ...this.statement(sql, values), query_timeout: timeoutMs }
      return (await client.query<Row>(statement)).rows
    } catch (error) {
      if (isConnectionFailure(error)) broken = error as Error
      // The server would work on for a client that is gone.
      if (isReadTimeout(error)) cancel(client)
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** One statement that writes, in its own transaction. Retried only where nothing of it can have happened. */
  async write(sql: string, ...values: Value[]): Promise<{ rows: Row[]; count: number }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows, rowCount } = await this.#pool.query<Row>(this.statement(sql, values))
        return { rows, count: rowCount ?? 0 }
      } catch (error) {
        const harmless = isRolledBackForOthers(error) || this.#givesUpNames(error)
        if (!harmless || attempt === attemptsMax) throw storeFailure(error, this.location)
      }
    }
  }

  /** A statement that runs in no transaction and may take hours, such as VACUUM. */
  async slow(sql: string): Promise<void> {
    try {
      await this.#pool.query({ text: sql, query_timeout: slowMsMax } as Statement)
    } catch (error) {
      throw storeFailure(error, this.location)
    }
  }

  /** Runs `work` in one transaction; rolled back when it throws and retried when the server asks for that. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const progress = { begun: false }
      try {
        return await this.#attempt(work, progress)
      } catch (error) {
        // A connection lost later than this may have lost only the news of a commit: the caller decides.
        const harmless =
          isRolledBackForOthers(error) ||
          this.#givesUpNames(error) ||
          (isConnectionFailure(error) && !progress.begun && attempt === 1) ||
          (isLockTimeout(error) && attempt === 1 && (await this.#endStalled()))
        if (!harmless || attempt === attemptsMax) throw storeFailure(error, this.location)
        await delay(Math.random() * 20 * attempt)
      }
    }
  }

  /** A pooler that gives each transaction any session loses names, or finds them taken. Nothing was written then. */
  #givesUpNames(error: unknown): boolean {
    if (!isLostName(error)) return false
    this.#namedStatements = false
    return true
  }

  /** Whether any was ended. */
  async #endStalled(): Promise<boolean> {
    return (await this.read(this.#sql.endStalled)).length > 0
  }

  async #attempt<T>(work: (transaction: Transaction) => Promise<T>, progress: { begun: boolean }): Promise<T> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      if (this.distributed) {
        await client.query(`${this.#sql.begin}; SET LOCAL citus.propagate_set_commands = 'local'`)
        await client.query(this.#sql.lockTimeout)
      } else await client.query(this.#sql.begin)
      progress.begun = true
      const result = await work(new Transaction(this, client))
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
      return result
    } catch (error) {
      this.doubts++
      try {
        await client.query('ROLLBACK')
      } catch (rollbackError) {
        broken = rollbackError as Error
      }
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** The name is a hash of the text: every process gives one statement one name. */
  statement(sql: string, values: readonly Value[]): Statement {
    const config = { text: sql, values: values as Value[], rowMode: 'array' as const, types }
    if (!this.#namedStatements) return config
    let name = this.#names.get(sql)
    if (name === undefined) {
      name = `almanac_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}`
      this.#names.set(sql, name)
    }
    return { ...config, name }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}

const cancelMsMax = 5_000
const cancelCode = 80_877_102

/** As the protocol has it: on a connection of its own, which a pooler passes on to the right server. */
function cancel(client: pg.PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Record<string, number> & { host: string }
  const request = Buffer.alloc(16)
  for (const [at, value] of [16, cancelCode, processID, secretKey].entries()) request.writeInt32BE(value ?? 0, at * 4)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port as number, host)
  socket.on('error', () => {}).setTimeout(cancelMsMax, () => socket.destroy())
  socket.end(request)
}

export class Transaction {
  /** Whether any row was written so far. */
  changed = false
  readonly #database: Database
  readonly #client: pg.PoolClient

  constructor(database: Database, client: pg.PoolClient) {
    this.#database = database
    this.#client = client
  }

  async query(sql: string, ...values: Value[]): Promise<Row[]> {
    return (await this.#client.query<Row>(this.#database.statement(sql, values))).rows
  }

  /** Returns how many rows were written. */
  async run(sql: string, ...values: Value[]): Promise<number> {
    const { rowCount } = await this.#client.query(this.#database.statement(sql, values))
    const written = rowCount ?? 0
    if (written > 0) this.changed = true
    return written
  }

  /** A statement that writes and returns what it wrote; no row means that it wrote nothing. */
  async write(sql: string, ...values: Value[]): Promise<Row[]> {
    const rows = await this.query(sql, ...values)
    if (rows.length > 0) this.changed = true
    return rows
  }

  /** Several statements without values. */
  async script(sql: string): Promise<void> {
    await this.#client.query(sql)
  }

  /** One that may take hours; the server's own limit is the caller's to lift. */
  async slow(sql: string): Promise<void> {
    await this.#client.query({ text: sql, query_timeout: slowMsMax } as Statement)
  }

  /** COPY … FROM STDIN, fed with the chunks as fast as the server takes them. */
  async copy(sql: string, chunks: Iterable<Uint8Array>): Promise<void> {
    const stream = this.#client.query(copyFrom(sql))
    const done = finished(stream)
    // The failure is reported by awaiting `done`; a write in between must not report it a second time.
    done.catch(() => {})
    for (const chunk of chunks) {
      if (stream.destroyed) break
      if (!stream.write(chunk)) await Promise.race([new Promise(resolve => stream.once('drain', resolve)), done])
    }
    stream.end()
    await done
    this.changed = true
  }
}
