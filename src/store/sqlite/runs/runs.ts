// Runs: the rows of a view that came with one commit, or of several runs merged, sorted and in packs. Runs are written
// in order, so that a store of any size costs the same for each row; `merges.ts` keeps them few. Every record
// is in exactly one run at any time. Callers hold the transaction.

import type { Interval } from '../../../model.ts'
import { levelOf } from '../../runs/levels.ts'
import { packMembers } from '../../runs/members.ts'
import { RunCursor } from '../../runs/merge.ts'
import { compareKeys, type Pack, PackReader, PackWriter } from '../../runs/pack.ts'
import { PackSearch } from '../../runs/pack-search.ts'
import type { View } from '../../runs/view.ts'
import type { RunSummary } from '../../store.ts'
import type { Connection, Row } from '../connection.ts'

export type Run = Interval & { id: number; chain: number; level: number; records: number }

/** Returns how many records there are. Without any there is no run. */
export function addRun(
  connection: Connection,
  view: View,
  { chain, from, to }: Interval & { chain: number },
  write: (writer: PackWriter) => void,
): number {
  const add = 'INSERT INTO runs (chain, view, from_block, to_block) VALUES (?, ?, ?, ?) RETURNING id'
  const id = (connection.get(add, chain, view.id, from, to) as Row)[0] as number
  const contracts: number[] = []
  const insert = packInserter(connection, id)
  let records = 0
  const writer = new PackWriter(view.keyBytes, pack => {
    insert(pack)
    records += pack.records
    if (view.byContract) addContracts(view, pack.bytes, contracts)
  })
  write(writer)
  writer.flush()
  if (records === 0) connection.run('DELETE FROM runs WHERE id = ?', id)
  else
    connection.run(
      'UPDATE runs SET records = ?, level = ?, contracts = ? WHERE id = ?',
      ...[records, levelOf(records), view.byContract ? packMembers(contracts) : null, id],
    )
  return records
}

/** Packs are numbered in the order in which they come: they are appended to their table. */
function packInserter(connection: Connection, run: number): (pack: Pack) => void {
  const insertPack = connection.prepare('INSERT INTO packs (bytes) VALUES (?)')
  const insertKey = connection.prepare('INSERT INTO pack_keys VALUES (?, ?, ?)')
  return ({ bytes, firstKey }) => {
    const { lastInsertRowid } = insertPack.run(bytes)
    insertKey.run(run, firstKey, lastInsertRowid)
  }
}

export function insertPacks(connection: Connection, run: number, packs: readonly Pack[]): void {
  packs.forEach(packInserter(connection, run))
}

function addContracts(view: View, pack: Uint8Array, contracts: number[]): void {
  const reader = new PackReader(view.keyBytes)
  reader.open(pack)
  while (reader.next()) {
    const contract = Math.floor(reader.prefix / 2 ** 16)
    if (contract !== contracts.at(-1)) contracts.push(contract)
  }
}

const columns = 'id, chain, from_block, to_block, level, records'

/** Those that reach into the interval; all runs of the view where no chain is given. */
export function runsOf(connection: Connection, view: View, of?: Interval & { chain: number }): Run[] {
  const rows =
    of === undefined
      ? connection.all(`SELECT ${columns} FROM runs WHERE view = ? ORDER BY id`, view.id)
      : connection.all(
          `SELECT ${columns} FROM runs WHERE view = ? AND chain = ? AND from_block <= ? AND to_block >= ? ORDER BY id`,
          ...[view.id, of.chain, of.to, of.from],
        )
  return rows.map(([id, chain, from, to, level, records]) => ({ id, chain, from, to, level, records }) as Run)
}

export function membersOf(connection: Connection, run: number): Uint8Array {
  return (connection.get('SELECT contracts FROM runs WHERE id = ?', run) as Row)[0] as Uint8Array
}

const findPack = `SELECT bytes FROM packs WHERE id =
  (SELECT pack FROM pack_keys WHERE run = ? AND key <= ? ORDER BY key DESC LIMIT 1)`

/** Stands on the last record of a run at or before a key; false where it has none. */
export function lastUpTo(connection: Connection, search: PackSearch, run: number, key: Uint8Array): boolean {
  const row = connection.get(findPack, run, key)
  return row !== undefined && search.lastUpTo(row[0] as Uint8Array, key)
}

/** The value that a run has of a key. */
export function valueIn(connection: Connection, view: View, run: number, key: Uint8Array): Uint8Array | undefined {
  const search = new PackSearch(view.keyBytes)
  return lastUpTo(connection, search, run, key) && search.isAlike() ? search.value() : undefined
}

/** The packs of run ?1 from the one that may have key ?2. */
export const packsFrom = `FROM pack_keys JOIN packs ON id = pack
  WHERE run = ?1 AND key >= coalesce((SELECT max(key) FROM pack_keys WHERE run = ?1 AND key <= ?2), ?2) ORDER BY key`
const packFrom = `SELECT key, pack, bytes ${packsFrom} LIMIT 1`
export const packsAfter =
  'SELECT key, pack, bytes FROM pack_keys JOIN packs ON id = pack WHERE run = ? AND key > ? ORDER BY key LIMIT ?'
/** Packs read at once, after the first: who walks on walks far. */
export const packsAhead = 8

/** Stands on the first record at or after the key. Undefined where the run has none. */
export function cursorAt(connection: Connection, view: View, run: number, key: Uint8Array): RunCursor | undefined {
  let ahead: Row[] = connection.all(packFrom, run, key)
  let last: Uint8Array | undefined
  const cursor = new RunCursor(view.keyBytes, () => {
    if (ahead.length === 0 && last !== undefined) ahead = connection.all(packsAfter, run, last, packsAhead)
    const row = ahead.shift()
    last = row?.[0] as Uint8Array | undefined
    return row?.[2] as Uint8Array | undefined
  })
  while (cursor.step()) if (compareKeys(cursor.reader.key, key) >= 0) return cursor
  return undefined
}

/** A record that stays as it is while the cursor goes on. */
export type KeptRecord = { key: Uint8Array; value: Uint8Array }

export function* records(read: Connection, view: View, run: number, from: Uint8Array): Generator<KeptRecord> {
  const cursor = cursorAt(read, view, run, from)
  if (cursor === undefined) return
  const { reader } = cursor
  do yield { key: reader.key.slice(), value: reader.value.slice(0, reader.valueLength) }
  while (cursor.step())
}

/** All where no key is given. */
export function recordsAfter(
  read: Connection,
  view: View,
  run: number,
  after: Uint8Array | undefined,
): IteratorObject<KeptRecord> {
  const from = records(read, view, run, after ?? new Uint8Array(view.keyBytes))
  return after === undefined ? from : from.filter(({ key }) => compareKeys(key, after) > 0)
}

/** Key and value are overwritten after the call. */
export type Change = (key: Uint8Array, value: Uint8Array) => Uint8Array | null | undefined

/**
 * Changes the records from one key to another, both included: `change` gives the new value, null to delete the record,
 * or undefined to leave it.
 */
export function changeRun(
  connection: Connection,
  view: View,
  run: number,
  change: Change,
  span: { from: Uint8Array; to: Uint8Array },
): void {
  const within: Change = (key, value) =>
    compareKeys(key, span.from) >= 0 && compareKeys(key, span.to) <= 0 ? change(key, value) : undefined
  // Some packs at a time: a run may have millions.
  for (let rows = connection.all(packFrom, run, span.from); rows.length > 0; ) {
    for (const [key, pack, bytes] of rows) {
      if (compareKeys(key as Uint8Array, span.to) > 0) break
      changePack(connection, view, { run, key: key as Uint8Array, pack: pack as number }, bytes as Uint8Array, within)
    }
    const last = rows.at(-1)![0] as Uint8Array
    rows = compareKeys(last, span.to) > 0 ? [] : connection.all(packsAfter, run, last, packsAhead)
  }
  dropIfEmpty(connection, run)
}

/** Where a walk over runs stands: behind the pack of a key. */
export type RunPlace = { run: number; key: Uint8Array }
/** Before all runs, whose numbers begin at 1. */
export const firstPlace: RunPlace = { run: 0, key: new Uint8Array(0) }

/** What a step of a walk may still cost, in packs that it opens. */
export type Budget = { packs: number }

/**
 * Changes the records of runs in the order of their numbers, from a place on, until the budget is spent: returns the
 * place where the next step goes on, or undefined at the end.
 *
 * Merges may come between steps, and nothing escapes: a merge moves records in the order of keys into a run with a
 * higher number than those that they come from. So what is moved before the walk gets to it is met later, and what is
 * moved behind the walk was met before. Runs are listed again by every step.
 */
export function changeRuns(
  connection: Connection,
  view: View,
  { of, isWanted = () => true }: { of: Interval & { chain: number }; isWanted?: (run: Run) => boolean },
  change: Change,
  { run: first, key }: RunPlace,
  budget: Budget,
): RunPlace | undefined {
  for (const run of runsOf(connection, view, of)) {
    if (run.id < first || !isWanted(run)) continue
    let after = run.id === first ? key : firstPlace.key
    while (true) {
      const rows = connection.all(packsAfter, run.id, after, packsPerRead) as [Uint8Array, number, Uint8Array][]
      for (const [packKey, pack, bytes] of rows) {
        if (budget.packs <= 0) return { run: run.id, key: after }
        changePack(connection, view, { run: run.id, key: packKey, pack }, bytes, change)
        budget.packs--
        after = packKey
      }
      if (rows.length < packsPerRead) break
    }
    dropIfEmpty(connection, run.id)
  }
  return undefined
}

/** Read at once by who walks over everything. */
const packsPerRead = 64

function dropIfEmpty(connection: Connection, run: number): void {
  connection.run('DELETE FROM runs WHERE id = ? AND records = 0 AND growing = 0', run)
}

type PackPlace = { run: number; key: Uint8Array; pack: number }

function changePack(connection: Connection, view: View, place: PackPlace, bytes: Uint8Array, change: Change): void {
  const reader = new PackReader(view.keyBytes)
  reader.open(bytes)
  /** By the number of the record; most packs have none. */
  const changed = new Map<number, Uint8Array | null>()
  for (let record = 0; reader.next(); record++) {
    const now = change(reader.key, reader.value.subarray(0, reader.valueLength))
    if (now !== undefined) changed.set(record, now?.slice() ?? null)
  }
  if (changed.size === 0) return
  const kept: [Uint8Array, Uint8Array][] = []
  reader.open(bytes)
  for (let record = 0; reader.next(); record++) {
    const now = changed.get(record)
    if (now !== null) kept.push([reader.key.slice(), now ?? reader.value.slice(0, reader.valueLength)])
  }
  replacePack(connection, view, place, kept)
  const removed = [...changed.values()].filter(value => value === null).length
  if (removed > 0) connection.run('UPDATE runs SET records = records - ? WHERE id = ?', removed, place.run)
}

/** Puts records in the place of a pack; their keys are of its stretch. */
function replacePack(
  connection: Connection,
  view: View,
  { run, key, pack }: PackPlace,
  records: readonly (readonly [Uint8Array, Uint8Array])[],
): void {
  connection.run('DELETE FROM pack_keys WHERE run = ? AND key = ?', run, key)
  connection.run('DELETE FROM packs WHERE id = ?', pack)
  const writer = new PackWriter(view.keyBytes, packInserter(connection, run))
  for (const [each, value] of records) writer.add(each, value, value.length)
  writer.flush()
}

const packAfter = 'SELECT min(key) FROM pack_keys WHERE run = ? AND key > ?'

/** Removes the records of keys, which are in order, as far as there are any. */
export function removeKeys(connection: Connection, view: View, run: number, keys: readonly Uint8Array[]): void {
  for (let at = 0; at < keys.length; ) {
    const row = connection.get(packFrom, run, keys[at]!) as [Uint8Array, number, Uint8Array] | undefined
    if (row === undefined) break
    const [key, pack, bytes] = row
    const end = (connection.get(packAfter, run, key) as [Uint8Array | null])[0]
    changePack(connection, view, { run, key, pack }, bytes, found => {
      while (at < keys.length && compareKeys(keys[at]!, found) < 0) at++
      return at < keys.length && compareKeys(keys[at]!, found) === 0 ? null : undefined
    })
    while (at < keys.length && (end === null || compareKeys(keys[at]!, end) < 0)) at++
  }
  dropIfEmpty(connection, run)
}

export function removeKey(connection: Connection, view: View, run: number, key: Uint8Array): void {
  changeRun(connection, view, run, () => null, { from: key, to: key })
}

export function dropRun(connection: Connection, run: number): void {
  connection.run('DELETE FROM packs WHERE id IN (SELECT pack FROM pack_keys WHERE run = ?)', run)
  connection.run('DELETE FROM pack_keys WHERE run = ?', run)
  connection.run('DELETE FROM runs WHERE id = ?', run)
}

/** Packs of runs that are no more. Returns how many it removed; 0 where there are none left. */
export function sweepPacks(connection: Connection, packsMax: number): number {
  let run = -1
  while (true) {
    const [next] = connection.get('SELECT min(run) FROM pack_keys WHERE run > ?', run) as Row
    if (next === null) return 0
    run = next as number
    if (connection.get('SELECT 1 FROM runs WHERE id = ?', run) !== undefined) continue
    const some = 'FROM pack_keys WHERE run = ?1 ORDER BY key LIMIT ?2'
    connection.run(`DELETE FROM packs WHERE id IN (SELECT pack ${some})`, run, packsMax)
    return connection.run(
      `DELETE FROM pack_keys WHERE run = ?1 AND key <= (SELECT max(key) FROM (SELECT key ${some}))`,
      ...[run, packsMax],
    )
  }
}

const summarise = `SELECT chains.id, view, count(*), sum(records), sum(iif(target IS NULL, 0, records))
  FROM runs JOIN chains ON chain = ordinal GROUP BY chains.id, view ORDER BY chains.id, view`

/** By chain and view: a look at one small table. */
export function runSummaries(read: Connection, known: readonly View[]): RunSummary[] {
  const names = new Map(known.map(({ id, name }) => [id, name]))
  return read.all(summarise).map(([chain, view, runs, records, mergingRecords]) => {
    const name = names.get(view as number) ?? String(view)
    return { chain, view: name, runs, records, mergingRecords } as RunSummary
  })
}
