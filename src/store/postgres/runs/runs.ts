// Runs as rows: writing them, changing their records, dropping them (what they are says `../../runs/view.ts`). A run of
// one commit or merge has one id and a part in each slot; parts are merged on their own. Callers hold the transaction.
import type { Interval } from '../../../model.ts'
import { levelOf } from '../../runs/levels.ts'
import { packMembers } from '../../runs/members.ts'
import { compareKeys, type Pack, PackReader, PackWriter } from '../../runs/pack.ts'
import { wordAt } from '../../runs/place-key.ts'
import { transferView } from '../../runs/transfer-view.ts'
import type { View } from '../../runs/view.ts'
import { byteaArray, bytesOf, int4Array, int8Array } from '../arrays.ts'
import type { Row, Transaction } from '../database.ts'
import { copyPacks } from './copy-packs.ts'
import type { Slots } from './slots.ts'

/** The part of a run in one slot. */
export type Run = Interval & { slot: number; id: number }

export type OfChain = Interval & { chain: number }

/**
 * A page of the server holds two packs of transfers, which a page of answers reads one after the other, and eight packs
 * of what is looked up alone, because the server hands over whole packs.
 */
export function packBytesOf(view: View): number {
  return view === transferView ? 4_000 : 940
}

type Part = Pick<Run, 'slot' | 'id'>

/** "RUNS". Who changes the runs of a chain excludes all others; who relies on them excludes those. */
const runsLock = 0x52554e53

export async function lockRuns(transaction: Transaction, chain: number): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, $2)::text', runsLock, chain)
}

export async function shareRuns(transaction: Transaction, chain: number): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock_shared($1, $2)::text', runsLock, chain)
}

/** False where others have them: a merge does not wait. */
export async function tryLockRuns(transaction: Transaction, chain: number): Promise<boolean> {
  const [[locked] = []] = await transaction.query('SELECT pg_try_advisory_xact_lock($1, $2)', runsLock, chain)
  return locked === 't'
}

/** The packs of one part, in the making. */
class PartWriter extends PackWriter {
  readonly packs: Pack[]
  /** In the order of their numbers, of a view by contract. */
  readonly contracts: number[] = []
  readonly #byContract: boolean
  #contract = -1

  constructor(view: View) {
    const packs: Pack[] = []
    super(view.keyBytes, pack => packs.push(pack), packBytesOf(view))
    this.packs = packs
    this.#byContract = view.byContract
  }

  override add(key: Uint8Array, value: Uint8Array, length: number, keyAt = 0, valueAt = 0): void {
    if (this.#byContract) {
      const contract = wordAt(key, keyAt)
      if (contract !== this.#contract) this.contracts.push(contract)
      this.#contract = contract
    }
    super.add(key, value, length, keyAt, valueAt)
  }

  get records(): number {
    return this.packs.reduce((sum, { records }) => sum + records, 0)
  }
}

/** `write` gets a writer for each slot, which takes records in the order of their keys. */
export async function addRun(
  transaction: Transaction,
  { view, chain, from, to }: OfChain & { view: View },
  slots: Slots,
  write: (writerOf: (slot: number) => PackWriter) => void,
): Promise<void> {
  const parts = new Map(slots.map(slot => [slot, new PartWriter(view)]))
  write(slot => parts.get(slot)!)
  for (const part of parts.values()) part.flush()
  const filled = [...parts].filter(([, { packs }]) => packs.length > 0)
  if (filled.length === 0) return
  const [[id] = []] = await transaction.query("SELECT nextval('run_numbers')")
  const members = filled.map(([, { contracts }]) => (view.byContract ? readMembers(packMembers(contracts)) : noMembers))
  await transaction.run(
    `INSERT INTO runs (slot, id, chain, view, from_block, to_block, level, records, ${memberColumns})
     SELECT slot, $1::int8, $2::int4, $3::int4, $4::int8, $5::int8, level, records, nullif(first, -1), is_list = 1, members
     FROM unnest($6::int4[], $7::int4[], $8::int8[], $9::int4[], $10::int4[], $11::bytea[])
       AS given (slot, level, records, first, is_list, members)`,
    ...[Number(id), chain, view.id, from, to],
    int4Array(filled.map(([slot]) => slot)),
    int4Array(filled.map(([, { records }]) => levelOf(records))),
    int8Array(filled.map(([, { records }]) => records)),
    int4Array(members.map(({ first }) => first)),
    int4Array(members.map(({ isList }) => (isList ? 1 : 0))),
    byteaArray(members.map(({ bytes }) => bytes)),
  )
  for (const [slot, { packs }] of filled) await insertPacks(transaction, { slot, id: Number(id) }, packs)
}

export async function insertPacks(transaction: Transaction, { slot, id }: Part, packs: readonly Pack[]): Promise<void> {
  if (packs.length === 0) return
  if (packs.length >= packsWorthCopying) {
    await copyPacks(transaction, { slot, id }, packs)
    return
  }
  await transaction.run(
    `INSERT INTO packs (slot, run, key, bytes) SELECT $1::int4, $2::int8, key, bytes
     FROM unnest($3::bytea[], $4::bytea[]) AS given (key, bytes)`,
    ...[slot, id],
    byteaArray(packs.map(({ firstKey }) => firstKey)),
    byteaArray(packs.map(({ bytes }) => bytes)),
  )
}

// Which contracts a part has: what is asked for in SQL (`hasContract`).

const memberColumns = 'first_contract, has_list, contracts'
const listForm = 0

type Members = { first: number; isList: boolean; bytes: Uint8Array | undefined }

const noMembers: Members = { first: -1, isList: false, bytes: undefined }

/** As `packMembers` packs them. */
export function readMembers(bytes: Uint8Array): Members {
  const first = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32BE(1)
  return { first, isList: bytes[0] === listForm, bytes }
}

/**
 * Whether a run may have a contract. A list is searched as bytes, which finds some that it has not: then a pack is read
 * in vain. Of bits the server reads those alone that it is asked for.
 */
export function hasContract(contract: string): string {
  const byte = `(${contract} - first_contract) / 8 + 6`
  return `CASE WHEN ${contract} < first_contract THEN false
    WHEN has_list THEN position(int4send(${contract}) IN contracts) > 0
    WHEN ${byte} > octet_length(contracts) THEN false
    ELSE get_byte(substring(contracts FROM ${byte} FOR 1), 0) >> ((${contract} - first_contract) % 8) & 1 = 1 END`
}

/** The parts that reach into the interval. */
export async function runsOf(
  transaction: Transaction,
  view: View,
  { chain, from, to }: OfChain,
  contract?: number,
): Promise<Run[]> {
  const having = contract === undefined ? '' : `AND ${hasContract('$5::int4')}`
  const rows = await transaction.query(
    `SELECT slot, id, from_block, to_block FROM runs WHERE view = $1 AND chain = $2
     AND from_block <= $3::int8 AND to_block >= $4::int8 ${having} ORDER BY slot, id`,
    ...[view.id, chain, Math.min(to, blockEnd), from, ...(contract === undefined ? [] : [contract])],
  )
  return rows.map(([slot, id, first, last]) => ({
    ...{ slot: Number(slot), id: Number(id), from: Number(first), to: Number(last) },
  }))
}

/** Above every block, and an integer. */
export const blockEnd = 2 ** 32

/** Key and value are overwritten after the call. The new value, null to delete the record, undefined to leave it. */
export type Change = (key: Uint8Array, value: Uint8Array) => Uint8Array | null | undefined

type Span = { from: Uint8Array; to: Uint8Array }

/** Fewer are there sooner with one statement. */
const packsWorthCopying = 64

/** Bounds what is in memory. */
const packsPerRead = 500
const keysPerRead = 5_000

/** Where the packs of a span begin: with the one that may have its first key. */
export const packsFrom = (run: string, slot: string, from: string): string =>
  `coalesce((SELECT key FROM packs WHERE slot = ${slot} AND run = ${run} AND key <= ${from} ORDER BY key DESC LIMIT 1), ${from})`

function wholeSpan({ keyBytes }: View): Span {
  return { from: new Uint8Array(keyBytes), to: new Uint8Array(keyBytes).fill(0xff) }
}

/** Changes the records from one key to another, both included. `between`: after each read of some packs. */
export async function changeRun(
  transaction: Transaction,
  view: View,
  { slot, id }: Part,
  change: Change,
  { span = wholeSpan(view), between }: { span?: Span | undefined; between?: (() => Promise<void>) | undefined } = {},
): Promise<void> {
  const within: Change = (key, value) =>
    compareKeys(key, span.from) >= 0 && compareKeys(key, span.to) <= 0 ? change(key, value) : undefined
  const first = `SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2
    AND key >= ${packsFrom('$2', '$1', '$3::bytea')} AND key <= $4::bytea ORDER BY key LIMIT ${packsPerRead}`
  const next = `SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2 AND key > $3::bytea AND key <= $4::bytea
    ORDER BY key LIMIT ${packsPerRead}`
  let removed = 0
  for (let rows = await transaction.query(first, slot, id, span.from, span.to); rows.length > 0; ) {
    removed += await changePacks(transaction, view, { slot, id }, rows, within)
    await between?.()
    const last = bytesOf(rows.at(-1)![0])
    rows = rows.length < packsPerRead ? [] : await transaction.query(next, slot, id, last, span.to)
  }
  await subtractRecords(transaction, { slot, id }, removed)
}

/** The same for single keys. */
export async function changeKeys(
  transaction: Transaction,
  view: View,
  { slot, id }: Part,
  change: Change,
  keys: readonly Uint8Array[],
): Promise<void> {
  const find = `SELECT DISTINCT ON (pack.key) pack.key, bytes FROM unnest($3::bytea[]) AS asked CROSS JOIN LATERAL
    (SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2 AND key <= asked ORDER BY key DESC LIMIT 1) AS pack`
  let removed = 0
  for (let at = 0; at < keys.length; at += keysPerRead) {
    const some = keys.slice(at, at + keysPerRead)
    const asked = new Set(some.map(textOfKey))
    const rows = await transaction.query(find, slot, id, byteaArray(some))
    removed += await changePacks(transaction, view, { slot, id }, rows, (key, value) =>
      asked.has(textOfKey(key)) ? change(key, value) : undefined,
    )
  }
  await subtractRecords(transaction, { slot, id }, removed)
}

export function textOfKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}

/** Returns how many records were deleted. */
async function changePacks(
  transaction: Transaction,
  view: View,
  { slot, id }: Part,
  rows: readonly Row[],
  change: Change,
): Promise<number> {
  const changed = rows.flatMap(row => changedPack(view, row, change) ?? [])
  if (changed.length === 0) return 0
  const drop = 'DELETE FROM packs WHERE slot = $1 AND run = $2 AND key = ANY($3::bytea[])'
  await transaction.run(drop, slot, id, byteaArray(changed.map(({ key }) => key)))
  await insertPacks(
    transaction,
    { slot, id },
    changed.flatMap(({ packs }) => packs),
  )
  return changed.reduce((sum, { removed }) => sum + removed, 0)
}

async function subtractRecords(transaction: Transaction, { slot, id }: Part, removed: number): Promise<void> {
  if (removed === 0) return
  await transaction.run('UPDATE runs SET records = records - $3 WHERE slot = $1 AND id = $2', slot, id, removed)
  await transaction.run('DELETE FROM runs WHERE slot = $1 AND id = $2 AND records = 0 AND NOT growing', slot, id)
}

function changedPack(
  view: View,
  [storedKey, storedBytes]: Row,
  change: Change,
): { key: Buffer; packs: Pack[]; removed: number } | undefined {
  const bytes = bytesOf(storedBytes)
  const reader = new PackReader(view.keyBytes)
  const part = new PartWriter(view)
  let isChanged = false
  let removed = 0
  reader.open(bytes)
  while (reader.next()) {
    const now = change(reader.key, reader.value.subarray(0, reader.valueLength))
    if (now !== undefined) isChanged = true
    if (now === null) removed++
    else if (now === undefined) part.add(reader.key, reader.value, reader.valueLength)
    else part.add(reader.key, now, now.length)
  }
  if (!isChanged) return undefined
  part.flush()
  return { key: bytesOf(storedKey), packs: part.packs, removed }
}

export async function dropRun(transaction: Transaction, { slot, id }: Part): Promise<void> {
  await transaction.run('DELETE FROM packs WHERE slot = $1 AND run = $2', slot, id)
  await transaction.run('DELETE FROM runs WHERE slot = $1 AND id = $2', slot, id)
}

/** Packs of runs that are no more. Returns how many it removed; 0 where there are none left. */
export async function sweepPacks(transaction: Transaction, slots: Slots, packsMax: number): Promise<number> {
  for (const slot of slots)
    for (let run = -1; ; ) {
      const [[next] = []] = await transaction.query(
        'SELECT min(run) FROM packs WHERE slot = $1 AND run > $2',
        slot,
        run,
      )
      if (next === null || next === undefined) break
      run = Number(next)
      const known = await transaction.query('SELECT 1 FROM runs WHERE slot = $1 AND id = $2', slot, run)
      if (known.length > 0) continue
      const find = 'SELECT key FROM packs WHERE slot = $1 AND run = $2 ORDER BY key LIMIT 1 OFFSET $3'
      const [[last] = []] = await transaction.query(find, slot, run, packsMax)
      const drop = 'DELETE FROM packs WHERE slot = $1 AND run = $2'
      if (last === null || last === undefined) return await transaction.run(drop, slot, run)
      return await transaction.run(`${drop} AND key <= $3::bytea`, slot, run, bytesOf(last))
    }
  return 0
}
