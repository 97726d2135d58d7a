// Notices within a moment that any process committed something an answer can show. It polls, because LISTEN does not
// work through PgBouncer; commits of this process are known at once.
import type { Database, Transaction } from './database.ts'

/** Each process counts its commits in one of these rows: two processes seldom wait for each other. */
const revisionRows = 64
/** The row after them counts the changes of labels. */
export const labelRevisionRow = 64

/** The maximum age of an answer that another process's commit has changed. */
const pollMs = 200

/** All stores of this process on one database share one watch, and so do their caches. */
const watches = new Map<string, RevisionWatch>()

export function watchRevision(address: string, database: Database): RevisionWatch {
  const watch = watches.get(address) ?? new RevisionWatch(address)
  watches.set(address, watch)
  watch.join(database)
  return watch
}

export class RevisionWatch {
  readonly #address: string
  readonly #databases = new Set<Database>()
  /** Rows only count up, and a commit holds its row to its end: a higher value is a new commit. */
  readonly #known = new Map<number, number>()
  readonly #ownRow = Math.floor(Math.random() * revisionRows)
  #value = 1
  #seenAtMs = Number.NEGATIVE_INFINITY
  #failures = 0
  #timer: NodeJS.Timeout | undefined

  constructor(address: string) {
    this.#address = address
  }

  get value(): number {
    return this.#value
  }

  /** The number of known commits of all processes: the same on a replica that has replayed them. */
  get commits(): number {
    let sum = 0
    for (const value of this.#known.values()) sum += value
    return sum
  }

  /** When that was last read, by `performance.now()`; long ago where it never was. */
  get seenAtMs(): number {
    return this.#seenAtMs
  }

  /**
   * Changes after labels changed, and at each failed poll, after which that is unknown. Both parts only count up, so
   * their sum never repeats.
   */
  get labels(): number {
    return (this.#known.get(labelRevisionRow) ?? 0) + this.#failures
  }

  /** After the commit of a transaction that counted a change of labels. */
  labelsCommitted(value: number): void {
    this.#learn(labelRevisionRow, value)
  }

  join(database: Database): void {
    this.#databases.add(database)
    this.#timer ??= setTimeout(() => this.#poll(), pollMs).unref()
  }

  leave(database: Database): void {
    this.#databases.delete(database)
    if (this.#databases.size > 0) return
    clearTimeout(this.#timer)
    watches.delete(this.#address)
  }

  /**
   * The last statement of a transaction that changed what answers show. Call `committed` with the result after the
   * commit.
   */
  async countUp(transaction: Transaction): Promise<number> {
    const [[value] = []] = await transaction.query(
      'UPDATE revisions SET value = value + 1 WHERE id = $1 RETURNING value',
      this.#ownRow,
    )
    return value
  }

  committed(value: number): void {
    this.#learn(this.#ownRow, value)
  }

  async refresh(): Promise<void> {
    const [database] = this.#databases
    if (database === undefined) return
    const first = this.#known.size === 0
    const before = this.#value
    const askedMs = performance.now()
    for (const [id, value] of await database.read('SELECT id, value FROM revisions')) this.#learn(id, value)
    if (first) this.#value = before
    this.#seenAtMs = askedMs
  }

  #learn(row: number, value: number): void {
    if (value <= (this.#known.get(row) ?? -1)) return
    this.#known.set(row, value)
    this.#value += 1
  }

  async #poll(): Promise<void> {
    try {
      await this.refresh()
    } catch {
      // What was committed meanwhile is unknown: cached answers must not pass for current ones.
      this.#value += 1
      this.#failures += 1
    }
    if (this.#databases.size > 0) this.#timer = setTimeout(() => this.#poll(), pollMs).unref()
  }
}
