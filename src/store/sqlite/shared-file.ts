// What processes on one store tell each other, in a small file beside it: a request that is only counted never waits
// for a commit of history. Nothing in it is irreplaceable, so backups leave it out. It opens the file and knows its
// schema; `sql.ts` runs statements in it.
import { createPrivate, makeDatabasePrivate } from '../private-file.ts'
import type { FileCondition } from './condition.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { storeFailure } from './failures.ts'
import { writeOptions } from './open-file.ts'
import { tablesShared } from './tables.ts'
import { WriteQueue } from './write-queue.ts'

const options: ConnectionOptions = { ...writeOptions, cacheMegabytes: 1, logPagesMax: 200 }
/** Only for the moments in which another process makes the file or recovers its log. */
const readOptions: ConnectionOptions = { ...options, busyTimeoutMs: 250 }
const waitMsMax = 5_000

// A file of another version is emptied instead of migrated.
const version = 2
const schema = `
DROP TABLE IF EXISTS allowances;
DROP TABLE IF EXISTS indexing_uses;
DROP TABLE IF EXISTS work;
DROP TABLE IF EXISTS heartbeats;
${tablesShared}PRAGMA user_version = ${version};
`

export class SharedFile {
  readonly #path: string
  readonly #queue: WriteQueue
  #read: Connection | undefined

  constructor(path: string, condition: FileCondition) {
    this.#path = path
    this.#queue = new WriteQueue(() => this.#open(options), {
      location: `file:${path}`,
      waitMsMax,
      onEnd: failure => condition.wrote('shared', failure),
    })
  }

  writing<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#queue.transaction(work)
  }

  /** Statements that each stand alone. */
  stating<T>(work: (connection: Connection) => T): Promise<T> {
    return this.#queue.statements(work)
  }

  reading<T>(work: (read: Connection) => T): T {
    try {
      this.#read ??= this.#open(readOptions)
      return work(this.#read)
    } catch (error) {
      throw storeFailure(error, `file:${this.#path}`)
    }
  }

  async close(): Promise<void> {
    await this.#queue.settled()
    this.#read?.close()
    this.#queue.close()
  }

  /** Opens the file at the first use: most commands run alone and never need it. */
  #open(how: ConnectionOptions): Connection {
    createPrivate(this.#path)
    makeDatabasePrivate(this.#path)
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
