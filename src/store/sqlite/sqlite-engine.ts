// Runs the work of the core on the file: a read is one snapshot, and a write one transaction after the other, each run
// to its end at once.
import type { SQLInputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { Ask, Engine, Insert, InsertPacks, Statement, Work, WriteOptions } from '../core/work.ts'
import { runNow } from '../core/work.ts'
import { packBytesMax } from '../runs/pack.ts'
import type { Connection } from './connection.ts'
import { PackReads } from './read-packs.ts'
import type { SharedFile } from './shared-file.ts'
import { textOf, valuesOf } from './sql.ts'
import type { StoreFile } from './store-file.ts'

const labelCount = 'SELECT labels FROM revision'

export class SqliteEngine implements Engine {
  readonly #file: StoreFile
  readonly #sharedFile: SharedFile | undefined
  /** Of each connection; that of the writer is opened with its first write. */
  readonly #packs = new Map<Connection, PackReads>()

  /** `shared` is absent while a store is copied: other processes are told nothing then. */
  constructor(file: StoreFile, shared?: SharedFile) {
    this.#file = file
    this.#sharedFile = shared
  }

  fenced(check: () => Work<void>): SqliteEngine {
    const fence = (connection: Connection): void => this.#run(connection, check)
    return new SqliteEngine(this.#file.fenced(fence), this.#sharedFile)
  }

  get shared(): Engine['shared'] {
    const file = this.#sharedFile!
    return {
      read: async work => file.reading(read => this.#run(read, work)),
      write: work => file.writing(connection => this.#run(connection, work)),
      state: work => file.stating(connection => this.#run(connection, work)),
    }
  }

  labelCount: Engine['labelCount'] = {
    version: () => this.#file.reading(read => read.get(labelCount)?.[0] as number),
    read: labelCount,
    up: 'UPDATE revision SET labels = labels + 1 RETURNING labels',
    committed: () => {},
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

  #run<T>(connection: Connection, work: () => Work<T>): T {
    return runNow(work(), ask => this.#answer(connection, false, ask))
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
      case 'written':
        return rowsOf(connection, ask)
      case 'run': {
        const text = textOf(ask.sql)
        return connection.run(text.text, ...valuesOf(ask.values, text))
      }
      case 'insert':
        return insertRows(connection, ask)
      case 'packs':
        return insertPacks(connection, ask)
      case 'next':
        return connection.get('UPDATE run_numbers SET last = last + 1 RETURNING last')![0]
      case 'lock':
      case 'names':
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
  const text = textOf(sql)
  return connection.all(text.text, ...valuesOf(values, text))
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
