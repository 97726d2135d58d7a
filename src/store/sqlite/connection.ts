// One connection to the file, with its settings and its prepared statements. It knows no table.
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'

export type Row = SQLOutputValue[]

export type ConnectionOptions = {
  readOnly: boolean
  busyTimeoutMs: number
  cacheMegabytes: number
  /** A commit that leaves the log longer than this moves it into the file. */
  logPagesMax: number
}

const logBytesKept = 64 * 2 ** 20

export class Connection {
  readonly database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(path: string, options: ConnectionOptions) {
    this.database = new DatabaseSync(path, { readOnly: options.readOnly, timeout: options.busyTimeoutMs })
    this.database.exec(`PRAGMA cache_size = -${options.cacheMegabytes * 1024};
      PRAGMA synchronous = NORMAL;
      PRAGMA temp_store = MEMORY;
      PRAGMA wal_autocheckpoint = ${options.logPagesMax};
      PRAGMA journal_size_limit = ${logBytesKept}`)
    this.database.function('now_ms', () => Date.now())
    this.database.function('today', () => new Date(Date.now()).toISOString().slice(0, 10))
  }

  /** Prepared once for each text; rows are arrays, which cost less than objects. */
  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.database.prepare(sql)
      statement.setReturnArrays(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.prepare(sql).run(...values).changes)
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.prepare(sql).get(...values) as unknown as Row | undefined
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.prepare(sql).all(...values) as unknown as Row[]
  }

  /** Several reads of one moment: commits meanwhile are not seen. */
  snapshot<T>(read: () => T): T {
    this.run('BEGIN')
    try {
      return read()
    } finally {
      if (this.database.isTransaction) this.run('COMMIT')
    }
  }

  close(): void {
    this.#statements.clear()
    if (this.database.isOpen) this.database.close()
  }
}
