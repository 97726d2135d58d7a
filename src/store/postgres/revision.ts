// Knows within a moment that something an answer can show was committed, by whichever process. It polls, because LISTEN does
// not work behind PgBouncer; what this process commits itself is known at once.
import { changesKept } from '../label-changes.ts'
import type { Database, Transaction } from './database.ts'
import { labelRevisionRow, revisionRows } from './migrations.ts'

/** How old an answer may be that another process's commit has changed. */
const pollMs = 200

/** Every store of this process on one database shares one watch, and so do their caches. */
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
  /** Rows only count up, and a commit holds its row to its end: a higher value is a commit that was not known. */
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

  /** How many commits are known of, by all processes: the same number on a replica that has replayed them. */
  get commits(): number {
    let sum = 0
    for (const value of this.#known.values()) sum += value
    return sum
  }

  /** When that was last asked for with success, by `performance.now()`; long ago where it never was. */
  get seenAtMs(): number {
    return this.#seenAtMs
  }

  /**
   * Another number after labels were changed. While the server cannot be asked nobody knows, and it is another one too; both
   * only count up, and so their sum never comes back.
   */
  get labels(): number {
    return (this.#known.get(labelRevisionRow) ?? 0) + this.#failures
  }

  /** Called where labels are changed, within the transaction. `ranges` say where (label-changes.ts). */
  async countLabels(transaction: Transaction, ranges: Uint8Array): Promise<number> {
    const [[value] = []] = await transaction.query(
      'UPDATE revisions SET value = value + 1 WHERE id = $1 RETURNING value',
      labelRevisionRow,
    )
    const count = Number(value)
    await transaction.query('INSERT INTO label_changes VALUES ($1, $2)', count, ranges)
    await transaction.query('DELETE FROM label_changes WHERE count <= $1', count - changesKept)
    return count
  }

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

  /** The last statement of a transaction that changed what answers show. Call `committed` with the result afterwards. */
  async countUp(transaction: Transaction): Promise<number> {
    const [[value] = []] = await transaction.query(
      'UPDATE revisions SET value = value + 1 WHERE id = $1 RETURNING value',
      this.#ownRow,
    )
    return Number(value)
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
    for (const [id, value] of await database.read('SELECT id, value FROM revisions'))
      this.#learn(Number(id), Number(value))
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
      // Nobody knows what was committed meanwhile: what is cached must not be answered as if it were current.
      this.#value += 1
      this.#failures += 1
    }
    if (this.#databases.size > 0) this.#timer = setTimeout(() => this.#poll(), pollMs).unref()
  }
}
