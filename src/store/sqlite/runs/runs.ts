// Runs: the rows of a view that came with one commit, or of several runs merged, sorted and in packs. Runs are written
// once and in order, so that a store of any size costs the same for each row; `merges.ts` keeps them few. Callers
// hold the transaction.

import { RunCursor } from '../../runs/merge.ts'
import { compareKeys, PackReader, PackWriter } from '../../runs/pack.ts'
import type { View } from '../../runs/view.ts'
import type { Connection, Row } from '../connection.ts'

export const runStates = {
  /** Read by answers. */
  whole: 0,
  /** What a merge has made so far. */
  growing: 1,
  /** Merged into another: its packs are taken away step by step. */
  merged: 2,
} as const

export type Run = { id: number; chain: number; level: number; records: number }

/** Runs of one level are of like size; each level is eight times as large as the one below. */
export const runsPerMerge = 8
const smallestRun = 4_096

export function levelOf(records: number): number {
  return Math.max(0, Math.floor(Math.log(records / smallestRun) / Math.log(runsPerMerge)))
}

export function addRun(connection: Connection, view: View, chain: number, write: (writer: PackWriter) => void): void {
  const id = newRun(connection, view, chain, runStates.whole)
  const packs = packInserter(connection, view, id)
  write(packs.writer)
  packs.writer.flush()
  connection.run('UPDATE runs SET records = ?, level = ? WHERE id = ?', packs.records(), levelOf(packs.records()), id)
}

export function newRun(connection: Connection, view: View, chain: number, state: number): number {
  const insert = 'INSERT INTO runs (chain, view, state) VALUES (?, ?, ?) RETURNING id'
  return (connection.get(insert, chain, view.id, state) as Row)[0] as number
}

/** Packs are numbered in the order in which they come: they are appended to their table. */
export function packInserter(
  connection: Connection,
  view: View,
  run: number,
): { writer: PackWriter; records: () => number } {
  const insertPack = connection.prepare('INSERT INTO packs (bytes) VALUES (?)')
  const insertKey = connection.prepare('INSERT INTO pack_keys VALUES (?, ?, ?)')
  let records = 0
  const writer = new PackWriter(view.keyBytes, pack => {
    const { lastInsertRowid } = insertPack.run(pack.bytes)
    insertKey.run(run, pack.firstKey, lastInsertRowid)
    records += pack.records
  })
  return { writer, records: () => records }
}

/** The runs that answers read, of one chain or of all. */
export function wholeRuns(connection: Connection, view: View): Run[] {
  return connection
    .all(
      'SELECT id, chain, level, records FROM runs WHERE view = ? AND state = ? ORDER BY id',
      view.id,
      runStates.whole,
    )
    .map(([id, chain, level, records]) => ({ id, chain, level, records }) as Run)
}

/** Those of a chain that answers read or will read: a change of what is stored changes all of them. */
export function livingRuns(connection: Connection, view: View, chain: number): number[] {
  return connection
    .all('SELECT id FROM runs WHERE view = ? AND chain = ? AND state <> ?', view.id, chain, runStates.merged)
    .map(([id]) => id as number)
}

const findPack = `SELECT bytes FROM packs WHERE id =
  (SELECT pack FROM pack_keys WHERE run = ? AND key <= ? ORDER BY key DESC LIMIT 1)`

/** The value that a run has of a key. */
export function valueIn(connection: Connection, view: View, run: number, key: Uint8Array): Uint8Array | undefined {
  const row = connection.get(findPack, run, key)
  if (row === undefined) return undefined
  const reader = new PackReader(view.keyBytes)
  reader.open(row[0] as Uint8Array)
  while (reader.next()) {
    const order = compareKeys(reader.key, key)
    if (order === 0) return reader.value.slice(0, reader.valueLength)
    if (order > 0) return undefined
  }
  return undefined
}

const packFrom = `SELECT key, bytes FROM pack_keys JOIN packs ON id = pack
  WHERE run = ?1 AND key >= coalesce((SELECT max(key) FROM pack_keys WHERE run = ?1 AND key <= ?2), ?2) ORDER BY key LIMIT 1`
const packAfter =
  'SELECT key, bytes FROM pack_keys JOIN packs ON id = pack WHERE run = ? AND key > ? ORDER BY key LIMIT 1'

/** Stands on the first record at or after the key. Undefined where the run has none. */
export function cursorAt(connection: Connection, view: View, run: number, key: Uint8Array): RunCursor | undefined {
  let last: Uint8Array | undefined
  const cursor = new RunCursor(view.keyBytes, () => {
    const row = last === undefined ? connection.get(packFrom, run, key) : connection.get(packAfter, run, last)
    if (row === undefined) return undefined
    last = row[0] as Uint8Array
    return row[1] as Uint8Array
  })
  while (cursor.step()) if (compareKeys(cursor.reader.key, key) >= 0) return cursor
  return undefined
}

/** Changes values in place: `change` gives the new one, null to delete the record, or undefined to leave it. */
export function changeRun(
  connection: Connection,
  view: View,
  run: number,
  change: (key: Uint8Array, value: Uint8Array) => Uint8Array | null | undefined,
): void {
  for (const [key, pack] of connection.all('SELECT key, pack FROM pack_keys WHERE run = ? ORDER BY key', run))
    changePack(connection, view, { run, key: key as Uint8Array, pack: pack as number }, change)
}

type PackPlace = { run: number; key: Uint8Array; pack: number }

function changePack(
  connection: Connection,
  view: View,
  { run, key, pack }: PackPlace,
  change: (key: Uint8Array, value: Uint8Array) => Uint8Array | null | undefined,
): void {
  const reader = new PackReader(view.keyBytes)
  reader.open((connection.get('SELECT bytes FROM packs WHERE id = ?', pack) as Row)[0] as Uint8Array)
  let removed = 0
  let changed = 0
  const kept: { bytes: Uint8Array }[] = []
  const writer = new PackWriter(view.keyBytes, made => kept.push(made))
  while (reader.next()) {
    const value = reader.value.slice(0, reader.valueLength)
    const now = change(reader.key, value)
    if (now === null) {
      removed++
      continue
    }
    if (now !== undefined) changed++
    writer.add(reader.key, now ?? value, (now ?? value).length)
  }
  if (removed + changed === 0) return
  writer.flush()
  // Values only shrink, so what was one pack is one pack or none; its key may stay below its first record.
  if (kept[0] === undefined) {
    connection.run('DELETE FROM pack_keys WHERE run = ? AND key = ?', run, key)
    connection.run('DELETE FROM packs WHERE id = ?', pack)
  } else connection.run('UPDATE packs SET bytes = ? WHERE id = ?', kept[0].bytes, pack)
  connection.run('UPDATE runs SET records = records - ? WHERE id = ?', removed, run)
}

/** The same for the one record of a key. */
export function removeKey(connection: Connection, view: View, run: number, key: Uint8Array): void {
  const row = connection.get(
    'SELECT key, pack FROM pack_keys WHERE run = ? AND key <= ? ORDER BY key DESC LIMIT 1',
    run,
    key,
  )
  if (row === undefined) return
  const place = { run, key: row[0] as Uint8Array, pack: row[1] as number }
  changePack(connection, view, place, found => (compareKeys(found, key) === 0 ? null : undefined))
}
