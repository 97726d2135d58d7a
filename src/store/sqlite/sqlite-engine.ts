// Runs the work of the core on the file: a read is one snapshot, and a write one transaction after the other, each run
// to its end at once.
import type { SQLInputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { type Dialect, type DialectText, inDialect, type ListType } from '../core/sql-dialect.ts'
import type { Ask, Bound, Engine, Insert, InsertPacks, Statement, Value, Work, WriteOptions } from '../core/work.ts'
import { runNow } from '../core/work.ts'
import { packBytesMax } from '../runs/pack.ts'
import type { Connection } from './connection.ts'
import { PackReads } from './read-packs.ts'
import type { StoreFile } from './store-file.ts'

const dialect: Dialect = {
  // With a bare parameter as the limit SQLite plans a statement again at each call: 31 µs instead of 11.
  parameter: (at, type) => (type === 'int' ? `(?${at} + 0)` : `?${at}`),
  list(at, type, as) {
    const value = type === 'blobs' ? 'unhex(value)' : 'value'
    return `${as === 'IN' ? 'IN ' : ''}(SELECT ${value} AS value FROM json_each(?${at}))`
  },
  forChange: '',
  jsonNumber: (column, name) => `json_extract(${column}, '$.${name}')`,
}

const texts = new Map<string, DialectText>()

function textOf(sql: string): DialectText {
  let text = texts.get(sql)
  if (text === undefined) {
    text = inDialect(sql, dialect)
    texts.set(sql, text)
  }
  return text
}

function valuesOf(values: readonly Bound[], lists: DialectText['lists']): SQLInputValue[] {
  if (lists.size === 0) return values as SQLInputValue[]
  return values.map((value, at) => {
    const type = lists.get(at)
    return type === undefined ? (value as SQLInputValue) : listOf(value as readonly Value[], type)
  })
}

function listOf(values: readonly Value[], type: ListType): string {
  return JSON.stringify(
    type === 'blobs' ? values.map(value => Buffer.from(value as Uint8Array).toString('hex')) : values,
  )
}

export class SqliteEngine implements Engine {
  readonly #file: StoreFile
  /** Of each connection; that of the writer is opened with its first write. */
  readonly #packs = new Map<Connection, PackReads>()

  constructor(file: StoreFile) {
    this.#file = file
  }

  packBytesOf(): number {
    return packBytes
  }

  async read<T>(work: () => Work<T>): Promise<T> {
    return this.#file.reading(read => read.snapshot(() => runNow(work(), ask => this.#answer(read, true, ask))))
  }

  async write<T>(work: () => Work<T>, { unseen = false }: WriteOptions = {}): Promise<T> {
    const running = work()
    let answer: unknown
    for (;;) {
      const step = (connection: Connection): IteratorResult<Ask, T> => {
        for (let next = running.next(answer); ; next = running.next(answer)) {
          if (next.done) return next
          if (next.value.kind === 'end' && next.value.of === 'step') return next
          answer = this.#answer(connection, false, next.value)
        }
      }
      const ended = await (unseen ? this.#file.writingUnseen(step) : this.#file.writing(step))
      if (ended.done) return ended.value
      answer = true
      await setImmediate()
    }
  }

  #packsOf(connection: Connection, isReader: boolean): PackReads {
    const known = this.#packs.get(connection)
    if (known !== undefined) return known
    const made = new PackReads(connection, isReader)
    this.#packs.set(connection, made)
    return made
  }

  #answer(connection: Connection, isReader: boolean, ask: Ask): unknown {
    switch (ask.kind) {
      case 'rows':
        return rowsOf(connection, ask)
      case 'run': {
        const { text, lists } = textOf(ask.sql)
        return connection.run(text, ...valuesOf(ask.values, lists))
      }
      case 'insert':
        return insertRows(connection, ask)
      case 'packs':
        return insertPacks(connection, ask)
      case 'next':
        return connection.get('UPDATE run_numbers SET last = last + 1 RETURNING last')![0]
      case 'lock':
        return true
      case 'end':
        return false
      case 'records':
        return this.#packsOf(connection, isReader).records(ask)
      case 'looks':
        return this.#packsOf(connection, isReader).looks(ask)
      case 'spans':
        return this.#packsOf(connection, isReader).spans(ask)
      case 'wallet':
        return this.#packsOf(connection, isReader).wallet(ask)
    }
  }
}

/** With its key in the same row a pack fills one page of 4,096 bytes. */
const packBytes = packBytesMax - 60

function rowsOf(connection: Connection, { sql, values }: Statement): unknown[] {
  const { text, lists } = textOf(sql)
  return connection.all(text, ...valuesOf(values, lists))
}

function insertRows(connection: Connection, { table, columns, conflict }: Insert): number {
  const names = columns.map(([name]) => name)
  const sql = `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})
    ${conflict === undefined ? '' : `ON CONFLICT ${conflict}`}`
  const statement = connection.prepare(sql)
  const count = columns[0]![2].length
  for (let at = 0; at < count; at++) statement.run(...columns.map(([, , values]) => values[at] as SQLInputValue))
  return count
}

/** In the order in which they come: they are appended to their table. */
function insertPacks(connection: Connection, { slot, run, packs }: InsertPacks): void {
  const statement = connection.prepare('INSERT INTO packs (slot, run, key, bytes) VALUES (?, ?, ?, ?)')
  for (const { firstKey, bytes } of packs) statement.run(slot, run, firstKey, bytes)
}
