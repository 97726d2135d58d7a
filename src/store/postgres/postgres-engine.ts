// Runs the work of the core on the server: each answer is awaited. A write is one transaction, and on a cluster, where
// a transaction is not visible at one moment, one for each part.

import { findSlots, inShardOrder, type Slots } from '../core/slots.ts'
import type { Ask, Engine, Insert, InsertPacks, Lock, Statement, Work, WriteOptions } from '../core/work.ts'
import { runAwaiting } from '../core/work.ts'
import { arrayOf, writeInt8 } from './arrays.ts'
import { insertValues, isCopied } from './citus/insert-values.ts'
import type { Transaction } from './database.ts'
import { type PackQueries, packBytesOf, readLooks, readRecords, readSpans, readWallet } from './read-packs.ts'
import { labelRevisionRow } from './revision.ts'
import { inText } from './sql.ts'
import type { StoreDatabase } from './store-database.ts'
import { columnTypes } from './tables.ts'

/** The first number of each advisory lock: "RUNS" and "ALMC". The second one is the chain. */
const lockNumbers: Record<Lock['what'], number> = { runs: 0x52554e53, coverage: 0x414c4d43 }

const lockNames = 'SELECT pg_advisory_xact_lock(hashtextextended(name, 0))::text FROM unnest($1::text[]) AS name'

export class PostgresEngine implements Engine {
  readonly #store: StoreDatabase
  readonly #queries: PackQueries
  #slots: Slots | undefined

  constructor(store: StoreDatabase) {
    this.#store = store
    this.#queries = {
      slots: here => this.#knownSlots(here),
      isDistributed: store.distributed,
      ofSlot: (slot, sql, ...values) => store.readOf({ table: 'packs', value: slot }, sql, ...values),
      here: (sql, ...values) => store.readHere(sql, ...values),
    }
  }

  packBytesOf = packBytesOf

  fenced(check: () => Work<void>): PostgresEngine {
    return new PostgresEngine(
      this.#store.fenced(transaction => runAwaiting(check(), ask => this.#answer(transaction, this.#queries, ask))),
    )
  }

  shared: Engine['shared'] = {
    read: work => this.read(work),
    write: work => this.write(work, { unseen: true, of: 'plain' }),
    state: work =>
      runAwaiting(work(), async ask => {
        const { rows, count } = await this.#store.database.write(...inText(ask as Statement))
        return (ask as Statement).kind === 'run' ? count : rows
      }),
  }

  get labelCount(): Engine['labelCount'] {
    const { watch } = this.#store
    return {
      version: () => watch.labels,
      read: `SELECT value FROM revisions WHERE id = ${labelRevisionRow}`,
      up: `UPDATE revisions SET value = value + 1 WHERE id = ${labelRevisionRow} RETURNING value`,
      committed: count => watch.labelsCommitted(count),
    }
  }

  read<T>(work: () => Work<T>): Promise<T> {
    return runAwaiting(work(), ask => this.#read(ask))
  }

  async write<T>(work: () => Work<T>, options: WriteOptions = {}): Promise<T> {
    const store = this.#store
    let running = work()
    let answer: unknown
    for (;;) {
      let isFirst = true
      const step = async (transaction: Transaction): Promise<IteratorResult<Ask, T>> => {
        if (!isFirst) {
          running = work()
          answer = undefined
        }
        isFirst = false
        const queries: PackQueries = {
          ...this.#queries,
          ofSlot: (_slot, sql, ...values) => transaction.query(sql, ...values),
          here: (sql, ...values) => transaction.query(sql, ...values),
        }
        for (let next = running.next(answer); ; next = running.next(answer)) {
          if (next.done) return next
          if (next.value.kind === 'end' && (next.value.of === 'step' || store.distributed)) return next
          answer = await this.#answer(transaction, queries, next.value)
        }
      }
      const ended = await store.writingPart(step, options)
      if (ended.done) return ended.value
      answer = true
    }
  }

  /** Asked for where the reads are: a transaction must not wait for a second connection. */
  async #knownSlots(here: PackQueries['here']): Promise<Slots> {
    this.#slots ??= inShardOrder(await here(findSlots))
    return this.#slots
  }

  async #read(ask: Ask): Promise<unknown> {
    if (ask.kind !== 'rows') return await this.#packs(this.#queries, ask)
    const text = inText(ask)
    return await (ask.of === undefined ? this.#store.database.read(...text) : this.#store.readOf(ask.of, ...text))
  }

  async #packs(queries: PackQueries, ask: Ask): Promise<unknown> {
    switch (ask.kind) {
      case 'records':
        return await readRecords(queries, ask)
      case 'looks':
        return await readLooks(queries, ask)
      case 'spans':
        return await readSpans(queries, ask)
      case 'wallet':
        return await readWallet(queries, ask)
      default:
        throw new Error(`A read asks for ${ask.kind}.`)
    }
  }

  async #answer(transaction: Transaction, queries: PackQueries, ask: Ask): Promise<unknown> {
    switch (ask.kind) {
      case 'rows':
        return await transaction.query(...inText(ask))
      case 'written':
        return await transaction.write(...inText(ask))
      case 'run':
        return await transaction.run(...inText(ask))
      case 'insert':
        return this.#store.distributed && isCopied(ask)
          ? await insertValues(transaction, ask)
          : await insertRows(transaction, ask)
      case 'packs':
        return await insertPacks(transaction, ask)
      case 'next':
        return (await transaction.query("SELECT nextval('run_numbers')"))[0]![0]
      case 'lock':
        return await lockRows(transaction, ask)
      case 'names':
        return await transaction.query(lockNames, arrayOf.text(ask.names))
      case 'end':
        return false
      default:
        return await this.#packs(queries, ask)
    }
  }
}

async function insertRows(transaction: Transaction, { table, columns, conflict }: Insert): Promise<void> {
  const names = columns.map(([name]) => name).join()
  const arrays = columns.map(([, type], at) => `$${at + 1}::${columnTypes[type]}[]`)
  await transaction.run(
    `INSERT INTO ${table} (${names}) SELECT * FROM unnest(${arrays.join()}) AS given (${names})
     ${conflict === undefined ? '' : `ON CONFLICT ${conflict}`}`,
    ...columns.map(([, type, values]) => arrayOf[type](values)),
  )
}

async function insertPacks(transaction: Transaction, ask: InsertPacks): Promise<void> {
  const { slot, run, packs } = ask
  if (packs.length >= packsWorthCopying) return await transaction.copy(copySql, pieces(ask))
  await transaction.run(
    `INSERT INTO packs (slot, run, key, bytes) SELECT $1::int4, $2::int8, key, bytes
     FROM unnest($3::bytea[], $4::bytea[]) AS given (key, bytes)`,
    ...[slot, run],
    arrayOf.bytes(packs.map(({ firstKey }) => firstKey)),
    arrayOf.bytes(packs.map(({ bytes }) => bytes)),
  )
}

async function lockRows(transaction: Transaction, { what, how, chain }: Lock): Promise<boolean> {
  const name = `pg_${how === 'try' ? 'try_' : ''}advisory_xact_lock${how === 'shared' ? '_shared' : ''}`
  const [[locked] = []] = await transaction.query(`SELECT ${name}($1, $2)::text`, lockNumbers[what], chain)
  return how !== 'try' || locked === 'true'
}

// Many packs of a run by COPY, which takes them in half the time of an INSERT.

/** Fewer are there sooner with one statement. */
const packsWorthCopying = 64
const copySql = 'COPY packs (slot, run, key, bytes) FROM STDIN (FORMAT binary)'
const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailer = Buffer.from([0xff, 0xff])
const pieceBytes = 256 * 1024
/** The field count, four lengths, the slot and the run. */
const fixedBytes = 2 + 4 * 4 + 4 + 8

/** In PostgreSQL's binary format, in pieces of bounded size. */
function* pieces({ slot, run, packs }: InsertPacks): Generator<Uint8Array> {
  yield signature
  let piece = Buffer.allocUnsafe(pieceBytes)
  let at = 0
  for (const { firstKey, bytes } of packs) {
    if (at + fixedBytes + firstKey.length + bytes.length > piece.length) {
      yield piece.subarray(0, at)
      piece = Buffer.allocUnsafe(pieceBytes)
      at = 0
    }
    at = piece.writeInt16BE(4, at)
    at = piece.writeInt32BE(4, at)
    at = piece.writeInt32BE(slot, at)
    at = piece.writeInt32BE(8, at)
    at = writeInt8(piece, run, at)
    at = writeBytes(piece, bytes, writeBytes(piece, firstKey, at))
  }
  yield piece.subarray(0, at)
  yield trailer
}

function writeBytes(piece: Buffer, bytes: Uint8Array, start: number): number {
  const at = piece.writeInt32BE(bytes.length, start)
  piece.set(bytes, at)
  return at + bytes.length
}
