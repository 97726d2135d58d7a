// Where the records of an index lie: packs of runs, and rows of a table. Each is walked in either direction from one
// key to another, both included, without an object for each record. Callers hold the snapshot.
import { copyBytes, wordsOf } from '../../runs/copy-bytes.ts'
import { OpenPack } from '../../runs/open-pack.ts'
import { compareKeys } from '../../runs/pack.ts'
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
    first: `SELECT key, bytes ${packsFrom} LIMIT 1`,
    next: 'SELECT key, bytes FROM pack_keys JOIN packs ON id = pack WHERE run = ? AND key > ? ORDER BY key LIMIT ?',
  },
  back: {
    first:
      'SELECT key, bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ? AND key <= ? ORDER BY key DESC LIMIT 1',
    next: 'SELECT key, bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ? AND key < ? ORDER BY key DESC LIMIT ?',
  },
}
/** Packs read at once, after the first two: who walks on walks far. */
const packsAhead = 8

type StoredPack = [key: Uint8Array, bytes: Uint8Array<ArrayBuffer>]

/** Packs that are opened side by side, for any number of walks one after the other. */
const opened = new Map<number, OpenPack[]>()

/**
 * The source of a run, which stands on its first record. Undefined where it has none. `place`: its number in the walk.
 */
export function runSource(walk: Walk, run: number, place: number): RecordSource | undefined {
  const { keyBytes } = walk.view
  const pool = opened.get(keyBytes) ?? []
  opened.set(keyBytes, pool)
  pool[place] ??= new OpenPack(keyBytes)
  const source = new RunSource(walk, run, pool[place])
  return source.begin() ? source : undefined
}

class RunSource implements RecordSource {
  keyAt = 0
  readonly keys: DataView
  readonly #walk: Walk
  readonly #run: number
  readonly #pack: OpenPack
  readonly #isUp: boolean
  #record = 0
  /** Beyond the records of the pack that are within the walk. */
  #end = 0
  #packKey = new Uint8Array(0)
  #ahead: StoredPack[] = []
  #packsRead = 0

  constructor(walk: Walk, run: number, pack: OpenPack) {
    this.#walk = walk
    this.#run = run
    this.#pack = pack
    this.#isUp = walk.order === 'keys'
    this.keys = pack.keyWords
  }

  get valueLength(): number {
    return this.#pack.valueLength(this.#record)
  }

  copyValue(target: DataView, at: number): void {
    this.#pack.copyOneOfMany(this.#record, target, at)
  }

  begin(): boolean {
    const { read, order, first } = this.#walk
    const found = read.get(sql[order].first, this.#run, first) as StoredPack | undefined
    if (found === undefined) return false
    this.#open(found)
    this.#record = this.#isUp ? this.#pack.countBelow(first) : this.#pack.lastUpTo(first)
    return this.#isWithin()
  }

  step(): boolean {
    this.#record += this.#isUp ? 1 : -1
    return this.#isWithin()
  }

  #isWithin(): boolean {
    if (this.#record === this.#end && !this.#nextPack()) return false
    this.keyAt = this.#record * this.#walk.view.keyBytes
    return true
  }

  /** False where the walk ends with the pack that is open. */
  #nextPack(): boolean {
    const isWhole = this.#end === (this.#isUp ? this.#pack.records : -1)
    if (!isWhole) return false
    if (this.#ahead.length === 0) {
      const { read, order } = this.#walk
      const count = this.#packsRead++ === 0 ? 1 : packsAhead
      this.#ahead = read.all(sql[order].next, this.#run, this.#packKey, count) as unknown as StoredPack[]
    }
    const next = this.#ahead.shift()
    if (next === undefined) return false
    this.#open(next)
    this.#record = this.#isUp ? 0 : this.#pack.records - 1
    return this.#record !== this.#end
  }

  #open([key, bytes]: StoredPack): void {
    this.#packKey = key as Uint8Array<ArrayBuffer>
    this.#pack.open(bytes)
    const { last } = this.#walk
    this.#end = this.#isUp ? this.#pack.lastUpTo(last) + 1 : this.#pack.countBelow(last) - 1
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
