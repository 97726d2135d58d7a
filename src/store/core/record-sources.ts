// Where the records of a view lie: packs of runs, and recent blocks. Each is walked in either direction from one key
// to another, both included, without an object for each record. Pure.

import { OpenPack } from '../runs/open-pack.ts'
import { compareKeys, copyBytes, PackReader, wordsOf } from '../runs/pack.ts'
import type { RecordsAsk, RunPacks } from './work.ts'

type Walk = Pick<RecordsAsk, 'view' | 'order' | 'first' | 'last'>

/** Keys and values of records in the order of the walk, each in one piece of memory. */
export type RecordRows = { keys: Uint8Array; values: Uint8Array; lengths: readonly number[] }

export const noRows: RecordRows = { keys: new Uint8Array(0), values: new Uint8Array(0), lengths: [] }

export interface RecordSource {
  /** The key of the record that it stands on, within them. */
  readonly keys: DataView
  readonly keyAt: number
  readonly valueLength: number
  /** At its end: there may be more. */
  readonly isCut: boolean
  copyValue(target: DataView, at: number): void
  /** Stands on the first record; false where there is none. */
  begin(): boolean
  /** False at the end. */
  step(): boolean
}

/** What of packs is open side by side, for any number of walks: none pauses between two records. */
const readers = new Map<number, PackReader[]>()
const openPacks = new Map<number, OpenPack[]>()

/** `place`: its number in the walk. */
export function runSource(walk: Walk, run: RunPacks, place: number): RecordSource {
  const { keyBytes } = walk.view
  return walk.order === 'keys'
    ? new RunForward(walk, run, pooled(readers, PackReader, keyBytes, place))
    : new RunBackward(walk, run, pooled(openPacks, OpenPack, keyBytes, place))
}

function pooled<T>(all: Map<number, T[]>, Made: new (keyBytes: number) => T, keyBytes: number, place: number): T {
  const pool = all.get(keyBytes) ?? []
  all.set(keyBytes, pool)
  pool[place] ??= new Made(keyBytes)
  return pool[place]
}

class RunForward implements RecordSource {
  readonly keyAt = 0
  readonly keys: DataView
  isCut = false
  readonly #walk: Walk
  readonly #run: RunPacks
  readonly #reader: PackReader
  readonly #packKey: Uint8Array

  constructor(walk: Walk, run: RunPacks, reader: PackReader) {
    this.#walk = walk
    this.#run = run
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
    if (!this.#open()) return false
    const { first, last } = this.#walk
    while (compareKeys(this.#reader.key, first) < 0) if (!this.#next()) return false
    return compareKeys(this.#reader.key, last) <= 0
  }

  step(): boolean {
    return this.#next() && compareKeys(this.#reader.key, this.#walk.last) <= 0
  }

  #next(): boolean {
    return this.#reader.next() || this.#open()
  }

  /** Stands on its first record, whose key is the one that the pack is known by. */
  #open(): boolean {
    const bytes = this.#run.next(() => this.#packKey)
    if (bytes === undefined) {
      this.isCut = this.#run.isCut
      return false
    }
    this.#reader.open(bytes)
    this.#reader.next()
    this.#packKey.set(this.#reader.key)
    return true
  }
}

class RunBackward implements RecordSource {
  keyAt = 0
  readonly keys: DataView
  isCut = false
  readonly #walk: Walk
  readonly #run: RunPacks
  readonly #pack: OpenPack
  #record = 0

  constructor(walk: Walk, run: RunPacks, pack: OpenPack) {
    this.#walk = walk
    this.#run = run
    this.#pack = pack
    this.keys = pack.keyWords
  }

  get valueLength(): number {
    return this.#pack.valueLength(this.#record)
  }

  copyValue(target: DataView, at: number): void {
    this.#pack.copyValue(this.#record, target, at)
  }

  begin(): boolean {
    if (!this.#open()) return false
    this.#record = this.#pack.lastUpTo(this.#walk.first)
    return this.#isWithin()
  }

  step(): boolean {
    this.#record--
    return this.#isWithin()
  }

  #isWithin(): boolean {
    if (this.#record < 0 && !this.#open()) return false
    this.keyAt = this.#record * this.#walk.view.keyBytes
    return this.#pack.compare(this.#record, this.#walk.last) >= 0
  }

  /** Stands on its last record. */
  #open(): boolean {
    const bytes = this.#run.next(() => this.#pack.keys.slice(0, this.#walk.view.keyBytes))
    if (bytes === undefined) {
      this.isCut = this.#run.isCut
      return false
    }
    this.#pack.open(bytes)
    this.#record = this.#pack.records - 1
    return true
  }
}

/** All that a walk wants of recent blocks. */
export class RowSource implements RecordSource {
  keyAt = 0
  readonly isCut = false
  readonly keys: DataView
  readonly #keyBytes: number
  readonly #values: DataView
  readonly #lengths: readonly number[]
  #record = 0
  #valueAt = 0

  constructor(keyBytes: number, { keys, values, lengths }: RecordRows) {
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

  begin(): boolean {
    return this.#lengths.length > 0
  }

  step(): boolean {
    this.#valueAt += this.valueLength
    this.#record++
    this.keyAt += this.#keyBytes
    return this.#record < this.#lengths.length
  }
}
