// The workers of a Citus cluster as reads meet them: which one has a key, how many reads each may have at a time, and
// which do not answer; and when a commit is visible on all. A worker that hangs delays nothing but its own rows. It
// writes nothing.
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../at-most.ts'
import { AlmanacError } from '../../../errors.ts'
import type { Row } from '../../core/work.ts'
import type { StoreProblem } from '../../store.ts'
import { type Database, requestReadMs, type Value } from '../database.ts'

/** A value of the column that a table is distributed by. */
export type ShardKey = {
  table: 'blocks' | 'packs' | 'solana_accounts'
  value: number | Uint8Array
}

const keysMax = 100_000
/** Shards move while workers are added. */
const placesKeptMs = 10_000
/** A read that takes longer has the workers looked at; so has each pause after that, until all answer. */
const slowMs = 1_000
const connectMs = 800
const sizeKeptMs = 60_000
const sizeWaitMs = 1_000

const shardOf = (type: string) => `SELECT get_shard_id_for_distribution_column($1::text::regclass, $2::${type})`
const placesSql = `SELECT shardid, nodeid, nodename || ':' || nodeport
  FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
  WHERE noderole = 'primary' AND logicalrelid = ANY (ARRAY['blocks', 'packs', 'solana_accounts']::regclass[])`
const workersSql = `SELECT nodeid, success FROM run_command_on_workers('SELECT 1') JOIN pg_dist_node USING (nodename, nodeport)`
const sizeSql = `SELECT sum(citus_total_relation_size(logicalrelid, fail_on_error => false))
  FROM pg_dist_partition JOIN pg_class ON oid = logicalrelid WHERE relnamespace = current_schema()::regnamespace`

type Worker = {
  id: number
  name: string
  silent: boolean
  running: number
  waiting: (() => void)[]
  asked: Set<PromiseWithResolvers<Row[]>>
}

export class CitusWorkers {
  readonly #database: Database
  /** Half of the connections: the other half is for what other workers have. */
  readonly #readsMax: number
  readonly #shards = new LRUCache<string, number>(atMost(keysMax))
  readonly #workers = new Map<number, Worker>()
  #places = new Map<number, Worker>()
  #placesReadMs = Number.NEGATIVE_INFINITY
  #readingPlaces: Promise<void> | undefined
  #looking = false
  #closed = false
  #size: { bytes: number; atMs: number } | undefined
  #measuring: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
    this.#readsMax = Math.ceil(database.connectionsMax / 2)
  }

  async read(key: ShardKey, sql: string, ...values: Value[]): Promise<Row[]> {
    const worker = await this.#workerOf(key)
    if (worker === undefined) return await this.#database.readWithin(requestReadMs, sql, ...values)
    if (worker.silent) throw this.#silentFailure(worker)
    const asked = Promise.withResolvers<Row[]>()
    worker.asked.add(asked)
    const slow = setTimeout(() => void this.#lookUntilAllAnswer(), slowMs)
    const start = () => {
      worker.running++
      const read = this.#database.readWithin(requestReadMs, sql, ...values)
      // A worker that was found to be silent fails `asked` sooner; the connection is free when the read ends.
      read.then(asked.resolve, asked.reject).finally(() => {
        worker.running--
        worker.waiting.shift()?.()
      })
    }
    if (worker.running < this.#readsMax) start()
    else worker.waiting.push(start)
    try {
      return await asked.promise
    } finally {
      clearTimeout(slow)
      worker.asked.delete(asked)
    }
  }

  /** Names workers by `nodeid` of `pg_dist_node`, because no host is told to those who have no key. */
  async problems(): Promise<StoreProblem[]> {
    const silent = await this.#silentWorkers()
    if (silent.length === 0) return []
    const [who, them] = silent.length === 1 ? ['Worker', 'it holds'] : ['Workers', 'they hold']
    const reason = `${who} ${silent.join(', ')} of the database ${silent.length === 1 ? 'does' : 'do'} not answer: requests for what ${them} fail.`
    return [{ problem: 'worker_dead', reason }]
  }

  /** Of the tables on all workers, as it was a minute ago at most. */
  async sizeBytes(): Promise<number> {
    if (this.#size === undefined || performance.now() - this.#size.atMs > sizeKeptMs) {
      this.#measuring ??= this.#measure().finally(() => (this.#measuring = undefined))
      if (this.#size === undefined) await Promise.race([this.#measuring, delay(sizeWaitMs, undefined, { ref: false })])
    }
    return this.#size?.bytes ?? 0
  }

  close(): void {
    this.#closed = true
  }

  async #measure(): Promise<void> {
    const [row] = await this.#database.readWithin(requestReadMs, sizeSql).catch(() => [])
    if (row !== undefined) this.#size = { bytes: Number(row[0]), atMs: performance.now() }
  }

  async #workerOf({ table, value }: ShardKey): Promise<Worker | undefined> {
    const isNumber = typeof value === 'number'
    const name = `${table} ${isNumber ? value : Buffer.from(value).toString('base64')}`
    let shard = this.#shards.get(name)
    if (shard === undefined) {
      const [row] = await this.#database.read(shardOf(isNumber ? 'int4' : 'bytea'), table, value)
      shard = Number(row?.[0])
      this.#shards.set(name, shard)
    }
    if (performance.now() - this.#placesReadMs > placesKeptMs) {
      this.#readingPlaces ??= this.#readPlaces().finally(() => (this.#readingPlaces = undefined))
      if (this.#places.size === 0) await this.#readingPlaces
      else this.#readingPlaces.catch(() => {})
    }
    return this.#places.get(shard)
  }

  async #readPlaces(): Promise<void> {
    const places = new Map<number, Worker>()
    for (const [shard, node, name] of await this.#database.read(placesSql)) {
      const id = Number(node)
      const known = this.#workers.get(id)
      const fresh = { id, silent: false, running: 0, waiting: [], asked: new Set<never>() }
      const worker = known ?? { ...fresh, name: name as string }
      this.#workers.set(id, worker)
      places.set(Number(shard), worker)
    }
    this.#places = places
    this.#placesReadMs = performance.now()
  }

  async #lookUntilAllAnswer(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      for (let some = true; some && !this.#closed; ) {
        const silent = new Set(await this.#silentWorkers())
        for (const worker of this.#workers.values()) this.#learn(worker, silent.has(worker.id))
        some = silent.size > 0
        if (some) await delay(slowMs, undefined, { ref: false })
      }
    } catch {
      // The coordinator does not answer: reads fail by themselves.
      for (const worker of this.#workers.values()) worker.silent = false
    } finally {
      this.#looking = false
    }
  }

  #learn(worker: Worker, silent: boolean): void {
    worker.silent = silent
    if (!silent) return
    worker.waiting.length = 0
    for (const { reject } of worker.asked) reject(this.#silentFailure(worker))
  }

  /** New connections, which Citus gives up in time: those that it keeps open would wait as long as a worker hangs. */
  async #silentWorkers(): Promise<number[]> {
    const rows = await this.#database.transaction(async transaction => {
      await transaction.script(
        `SET LOCAL citus.node_connection_timeout = ${connectMs}; SET LOCAL statement_timeout = ${connectMs * 5}`,
      )
      return await transaction.query(workersSql)
    })
    return rows.filter(([, success]) => success !== 't').map(([id]) => Number(id))
  }

  #silentFailure({ name }: Worker): AlmanacError {
    return new AlmanacError(
      'store_failed',
      `Worker ${name} of the database ${this.#database.location} does not answer.`,
      {
        ...{ retryable: true, retryAfterMs: 1_000 },
        hint: 'check that the worker runs; what other workers hold is answered.',
      },
    )
  }
}

// What a commit leaves open: it has two phases, so the coordinator's part is visible first and each worker's on its
// own; that of a worker which is lost in between waits until Citus recovers it.

const pauseMs = 100

const prepared =
  "SELECT string_agg(gid, ' ') FROM pg_prepared_xacts WHERE gid LIKE 'citus%' AND database = current_database()"
const preparedSql = `SELECT true, (${prepared}) UNION ALL SELECT success, result FROM run_command_on_workers($sql$${prepared}$sql$)`

/** Waits until all that was committed before the call is visible on every worker. */
export async function visibleEverywhere(database: Database): Promise<void> {
  const deadlineMs = performance.now() + database.stallMsMax
  let left: ReadonlySet<string> | undefined
  for (;;) {
    const now = await preparedNow(database)
    // Those that come later are not waited for: under load there are always some.
    if (now !== undefined) left = left?.intersection(now) ?? now
    if (left?.size === 0) return
    if (performance.now() > deadlineMs)
      throw new AlmanacError(
        'store_failed',
        `The database ${database.location} has ${left === undefined ? 'a worker that does not answer' : 'commits that a worker has not finished'}.`,
        {
          hint: 'check that every worker runs; citus.recover_2pc_interval says how soon Citus finishes such commits.',
          ...{ retryable: true, retryAfterMs: 1_000 },
        },
      )
    await delay(pauseMs)
  }
}

/** Undefined where a worker does not answer. */
async function preparedNow(database: Database): Promise<ReadonlySet<string> | undefined> {
  const rows = await database.read(preparedSql)
  if (rows.some(([success]) => success !== 't')) return undefined
  return new Set(rows.flatMap(([, gids]) => gids?.split(' ') ?? []).filter(gid => gid !== ''))
}
