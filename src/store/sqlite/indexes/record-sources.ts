// Where the records of an index lie: packs of runs, and rows of a table. Each is walked in either direction from one
// key to another, both included, without an object for each record. Callers hold the snapshot.
import { copyBytes, wordsOf } from '../../runs/copy-bytes.ts'
import { OpenPack } from '../../runs/open-pack.ts'
import { compareKeys, PackReader } from '../../runs/pack.ts'
import type { View } from '../../runs/view.ts'
import type { Connection } from '../connection.ts'
import { packsFrom } from '../runs/runs.ts'

/** In the order of the walk. */
export type Walk = { read: Connection; view: View; order: 'keys' | 'back'; first: Uint8Array; last: Uint8Array }

export interface RecordSource {
  /** The key of the record that it stands on, within them. */
  readonly keys: DataView
  readonly keyAt: number
  readonly valueLength: number
  copyValue(target: DataView, at: number): void
  /** False at the end. */
  step(): boolean
}

const sql = {
  keys: {
    first: `SELECT bytes ${packsFrom} LIMIT ?3`,
    next: 'SELECT bytes FROM pack_keys JOIN packs ON id = pack WHERE run = ? AND key > ? ORDER BY key LIMIT ?',
  },
  back: {
    first:
      'SELECT bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ? AND key <= ? ORDER BY key DESC LIMIT ?',
    next: 'SELECT bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ? AND key < ? ORDER BY key DESC LIMIT ?',
  },
}
/** Packs read at once, after those that were expected twice: who walks on walks far. */
const packsAhead = 8

type StoredPack = [bytes: Uint8Array<ArrayBuffer>]

/** What of packs is open side by side, for any number of walks one after the other. */
const readers = new Map<number, PackReader[]>()
const packs = new Map<number, OpenPack[]>()

/** `place`: its number in the walk. `packs`: how many will be needed, as far as is known. */
export type RunToWalk = { run: number; place: number; packs: number }

/** The source of a run, which stands on its first record. Undefined where it has none. */
export function runSource(walk: Walk, run: RunToWalk): RecordSource | undefined {
  const { keyBytes } = walk.view
  const source =
    walk.order === 'keys'
      ? new RunForward(walk, run, pooled(readers, PackReader, keyBytes, run.place))
      : new RunBackward(walk, run, pooled(packs, OpenPack, keyBytes, run.place))
  return source.begin() ? source : undefined
}

function pooled<T>(all: Map<number, T[]>, Made: new (keyBytes: number) => T, keyBytes: number, place: number): T {
  const pool = all.get(keyBytes) ?? []
  all.set(keyBytes, pool)
  pool[place] ??= new Made(keyBytes)
  return pool[place]
}

/** The packs of a run in the order of a walk. */
class WalkedPacks {
  readonly #walk: Walk
  readonly #run: number
  #packsExpected: number
  #ahead: StoredPack[] = []

  constructor(walk: Walk, { run, packs: expected }: RunToWalk) {
    this.#walk = walk
    this.#run = run
    this.#packsExpected = Math.min(expected, packsAhead)
  }

  first(): Uint8Array<ArrayBuffer> | undefined {
    return this.#read(sql[this.#walk.order].first, this.#walk.first)
  }

  /** After the one with this first key. */
  next(key: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    const [ahead] = this.#ahead.shift() ?? []
    if (ahead !== undefined) return ahead
    const found = this.#read(sql[this.#walk.order].next, key)
    this.#packsExpected = packsAhead
    return found
  }

  #read(statement: string, key: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    this.#ahead = this.#walk.read.all(statement, this.#run, key, this.#packsExpected) as unknown as StoredPack[]
    return this.#ahead.shift()?.[0]
  }
}

class RunForward implements RecordSource {
  readonly keyAt = 0
  readonly keys: DataView
  readonly #walk: Walk
  readonly #packs: WalkedPacks
  readonly #reader: PackReader
  readonly #packKey: Uint8Array

  constructor(walk: Walk, run: RunToWalk, reader: PackReader) {
    this.#walk = walk
    this.#packs = new WalkedPacks(walk, run)
    this.#reader = reader
    this.keys = reader.keyWords
    this.#packKey = new Uint8Array(walk.view.keyBytes)
  }

  get valueLength(): number {
    return this.#reader.valueLength
  }

  copyValue(target: DataView, at: number): void {
    copyBytes(this.#reader.valueWords, 0, target, at, this.#reader.valueLength)
  }

  begin(): boolean {
    if (!this.#open(this.#packs.first())) return false
    const { first, last } = this.#walk
    while (compareKeys(this.#reader.key, first) < 0) if (!this.#next()) return false
    return compareKeys(this.#reader.key, last) <= 0
  }

  step(): boolean {
    return this.#next() && compareKeys(this.#reader.key, this.#walk.last) <= 0
  }

  #next(): boolean {
    return this.#reader.next() || this.#open(this.#packs.next(this.#packKey))
  }

  /** Stands on its first record, whose key is the one that the pack is known by. */
  #open(bytes: Uint8Array | undefined): boolean {
    if (bytes === undefined) return false
    this.#reader.open(bytes)
    this.#reader.next()
    this.#packKey.set(this.#reader.key)
    return true
  }
}

class RunBackward implements RecordSource {
  keyAt = 0
  readonly keys: DataView
  readonly #walk: Walk
  readonly #packs: WalkedPacks
  readonly #pack: OpenPack
  #record = 0

  constructor(walk: Walk, run: RunToWalk, pack: OpenPack) {
    this.#walk = walk
    this.#packs = new WalkedPacks(walk, run)
    this.#pack = pack
    this.keys = pack.keyWords
  }

  get valueLength(): number {
    return this.#pack.valueLength(this.#record)
  }

  copyValue(target: DataView, at: number): void {
    this.#pack.copyOneOfMany(this.#record, target, at)
  }

  begin(): boolean {
    const found = this.#packs.first()
    if (found === undefined) return false
    this.#pack.open(found)
    this.#record = this.#pack.lastUpTo(this.#walk.first)
    return this.#isWithin()
  }

  step(): boolean {
    this.#record--
    return this.#isWithin()
  }

  #isWithin(): boolean {
    if (this.#record < 0 && !this.#openNext()) return false
    this.keyAt = this.#record * this.#walk.view.keyBytes
    return this.#pack.compare(this.#record, this.#walk.last) >= 0
  }

  #openNext(): boolean {
    const next = this.#packs.next(this.#pack.keys.slice(0, this.#walk.view.keyBytes))
    if (next === undefined) return false
    this.#pack.open(next)
    this.#record = this.#pack.records - 1
    return true
  }
}

// node:sqlite pays for each value that it hands over: all rows are three.
function tableSql(order: Walk['order']): string {
  return `SELECT CAST(group_concat(key, '') AS BLOB), CAST(group_concat(value, '') AS BLOB), group_concat(length(value))
    FROM (SELECT key, value FROM view_records WHERE view = ? AND chain = ? AND key BETWEEN ? AND ?
      ORDER BY key ${order === 'keys' ? 'ASC' : 'DESC'} LIMIT ? + 0)`
}
const ofTable = { keys: tableSql('keys'), back: tableSql('back') }

/** The rows of the table, at most as many as are asked for. */
export function tableSource(walk: Walk, chain: number, limit: number): RecordSource | undefined {
  const { read, view, order, first, last } = walk
  const span = compareKeys(first, last) <= 0 ? [first, last] : [last, first]
  const row = read.get(ofTable[order], view.id, chain, ...span, limit) as [Uint8Array | null, Uint8Array, string]
  return row[0] === null ? undefined : new TableSource(view.keyBytes, row[0], row[1], row[2].split(',').map(Number))
}

class TableSource implements RecordSource {
  keyAt = 0
  readonly keys: DataView
  readonly #keyBytes: number
  readonly #values: DataView
  readonly #lengths: readonly number[]
  #record = 0
  #valueAt = 0

  constructor(keyBytes: number, keys: Uint8Array, values: Uint8Array, lengths: readonly number[]) {
    this.#keyBytes = keyBytes
    this.keys = wordsOf(keys)
    this.#values = wordsOf(values)
    this.#lengths = lengths
  }

  get valueLength(): number {
    return this.#lengths[this.#record]!
  }

  copyValue(target: DataView, at: number): void {
    copyBytes(this.#values, this.#valueAt, target, at, this.valueLength)
  }

  step(): boolean {
    this.#valueAt += this.valueLength
    this.#record++
    this.keyAt += this.#keyBytes
    return this.#record < this.#lengths.length
  }
}
