// Runs: the records of a view that came with one commit, or of several runs merged, sorted and in packs. Runs are
// written in order, so that a store of any size costs the same for each row; `merge-runs.ts` keeps them few. A run has
// a part in each slot. Every record is in exactly one run at any time. Callers hold the transaction.
import { textOfKey } from '../../hex.ts'
import type { Interval } from '../../model.ts'
import { listForm, packMembers } from '../runs/members.ts'
import { levelOf } from '../runs/merge.ts'
import { compareKeys, type Pack, PackReader, PackWriter } from '../runs/pack.ts'
import { type Span, wordAt } from '../runs/place-key.ts'
import type { View } from '../runs/view.ts'
import type { Slots } from './slots.ts'
import { insert, insertPacks, nextNumber, row, rows, run, type Work } from './work.ts'

/** Where runs are written to. */
export type RunPlace = { slots: Slots; packBytesOf: (view: View) => number }
export type OfChain = Interval & { chain: number }
/** The part of a run in one slot. */
export type Run = Interval & { slot: number; id: number }
type Part = Pick<Run, 'slot' | 'id'>

/** Above every block, and an integer. */
export const blockEnd = 2 ** 32
/**
 * Below every block: where a run begins that is of no blocks in particular. One that begins above the fold is taken for
 * what a fold left that was cut off, and before the first fold every block is above it.
 */
export const blockBegin = -1
export const everyBlock: Interval = { from: 0, to: blockEnd }

/** The packs of one part, in the making. */
class PartWriter extends PackWriter {
  readonly packs: Pack[]
  /** In the order of their numbers, of a view by contract. */
  readonly contracts: number[] = []
  readonly #byContract: boolean
  #contract = -1

  constructor(view: View, bytes: number) {
    const packs: Pack[] = []
    super(view.keyBytes, pack => packs.push(pack), bytes)
    this.packs = packs
    this.#byContract = view.keysBeginWith === 'contract'
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

export type WriterOf = (slot: number) => PackWriter

/** `write` gets a writer for each slot, which takes records in the order of their keys. Answers how many it took. */
export function* addRun(
  { slots, packBytesOf }: RunPlace,
  view: View,
  { chain, from, to }: OfChain,
  write: (writerOf: WriterOf) => void,
): Work<number> {
  const parts = new Map(slots.map(slot => [slot, new PartWriter(view, packBytesOf(view))]))
  write(slot => parts.get(slot)!)
  for (const part of parts.values()) part.flush()
  const filled = [...parts].filter(([, { packs }]) => packs.length > 0)
  if (filled.length === 0) return 0
  const id = yield* nextNumber()
  yield* insertRuns(
    filled.map(([slot, { records, contracts }]) => ({
      ...{ slot, id, chain, view, from, to: Math.min(to, blockEnd), level: levelOf(records), records, growing: false },
      members: view.keysBeginWith === 'contract' ? packMembers(contracts) : undefined,
    })),
  )
  for (const [slot, { packs }] of filled) yield* insertPacks(slot, id, packs)
  return filled.reduce((sum, [, { records }]) => sum + records, 0)
}

type NewRun = Run & {
  chain: number
  view: View
  level: number
  records: number
  growing: boolean
  members: Uint8Array | undefined
}

export function* insertRuns(added: readonly NewRun[]): Work<void> {
  yield* insert(
    'runs',
    added.map(({ slot, id, chain, view, from, to, level, records, growing, members }) => ({
      ...{ slot, id, chain, view: view.id, from_block: from, to_block: to, level, records },
      growing: Number(growing),
      first_contract: members && wordAt(members, 1),
      has_list: Number(members?.[0] === listForm),
      contracts: members,
    })),
  )
}

/** Those that reach into the interval, in the order of slots and numbers. */
export function* runsOf(view: View, { chain, from, to }: OfChain): Work<Run[]> {
  const found = yield* rows(
    `SELECT slot, id, from_block, to_block FROM runs WHERE view = $1 AND chain = $2 AND from_block <= $3 AND to_block >= $4
     ORDER BY slot, id`,
    ...[view.id, chain, Math.min(to, blockEnd), from],
  )
  return found.map(([slot, id, first, last]) => ({ slot, id, from: first, to: last }))
}

/** Key and value are overwritten after the call. The new value, null to delete the record, undefined to leave it. */
export type Change = (key: Uint8Array, value: Uint8Array) => Uint8Array | null | undefined

/** `slot`: the only one that has the span. */
type RunWalk = {
  of: OfChain
  span?: Span | undefined
  slot?: number | undefined
  isWanted?: (run: Run) => boolean
  bound?: WalkBound
}

/** Is told how many packs a change opened, and how many it wrote anew. True: the walk ends. */
export type WalkBound = (opened: number, changed: number) => Work<boolean>

// biome-ignore lint/correctness/useYield: another bound ends transactions.
const unbounded: WalkBound = function* () {
  return false
}

const firstPacks = `SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2 AND key <= $4:bytes AND key >= coalesce(
  (SELECT key FROM packs WHERE slot = $1 AND run = $2 AND key <= $3:bytes ORDER BY key DESC LIMIT 1), $3:bytes)
  ORDER BY key LIMIT $5:int`
const nextPacks = `SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2 AND key > $3:bytes AND key <= $4:bytes
  ORDER BY key LIMIT $5:int`
/** Bounds what is in memory. */
const packsPerRead = 64

export type StoredPack = [key: Uint8Array, bytes: Uint8Array]

/**
 * Changes the records of runs in the order of slots and numbers.
 *
 * Merges may come between steps, and nothing escapes: a merge moves records in the order of keys into a run with a
 * higher number than those that they come from. So what is moved before the walk gets to it is met later, and what is
 * moved to where the walk was already was met before. Runs are looked for again after each. False where the bound
 * ended it.
 */
export function* changeRuns(
  place: RunPlace,
  view: View,
  { of, span = wholeSpan(view), slot: only, isWanted = () => true, bound = unbounded }: RunWalk,
  change: Change,
): Work<boolean> {
  const find = `SELECT slot, id, from_block, to_block FROM runs WHERE view = $1 AND chain = $2 AND from_block <= $3
    AND to_block >= $4 AND (slot > $5:int OR slot = $5:int AND id > $6:big) ORDER BY slot, id LIMIT 1`
  for (let [slot, id] = [only ?? -1, -1]; ; ) {
    const found = yield* row(find, view.id, of.chain, Math.min(of.to, blockEnd), of.from, slot, id)
    if (found === undefined || (only !== undefined && found[0] !== only)) return true
    slot = found[0]
    id = found[1]
    const next: Run = { slot, id, from: found[2], to: found[3] }
    if (!isWanted(next)) continue
    if (!(yield* changeRun({ place, view, change }, next, span, bound))) return false
  }
}

function wholeSpan({ keyBytes }: View): Span {
  return { from: new Uint8Array(keyBytes), to: new Uint8Array(keyBytes).fill(0xff) }
}

/** Which records are changed, and how. */
type Rewrite = { place: RunPlace; view: View; change: Change }

/** The records from one key to another, both included. */
function* changeRun(rewrite: Rewrite, part: Part, { from, to }: Span, bound: WalkBound): Work<boolean> {
  const change: Change = (key, value) =>
    compareKeys(key, from) >= 0 && compareKeys(key, to) <= 0 ? rewrite.change(key, value) : undefined
  let packs = (yield* rows(firstPacks, part.slot, part.id, from, to, packsPerRead)) as StoredPack[]
  while (packs.length > 0) {
    const changed = yield* changePacks({ ...rewrite, change }, part, packs)
    if (yield* bound(packs.length, changed)) return false
    const [last] = packs.at(-1)!
    packs =
      packs.length < packsPerRead
        ? []
        : ((yield* rows(nextPacks, part.slot, part.id, last, to, packsPerRead)) as StoredPack[])
  }
  return true
}

const keysPerRead = 2_000

/** `isOf`: whether a run can have a key. */
type KeyWalk = {
  of: OfChain
  keysBySlot: ReadonlyMap<number, readonly Uint8Array[]>
  isOf?: (run: Run, key: Uint8Array) => boolean
}

/** The same for single keys, which lie in their slots. */
export function* changeKeys(
  place: RunPlace,
  view: View,
  { of, keysBySlot, isOf = () => true }: KeyWalk,
  change: Change,
): Work<void> {
  if (keysBySlot.size === 0) return
  for (const part of yield* runsOf(view, of)) {
    const keys = keysBySlot.get(part.slot)?.filter(key => isOf(part, key)) ?? []
    for (let at = 0; at < keys.length; at += keysPerRead)
      yield* changeSomeKeys({ place, view, change }, part, keys.slice(at, at + keysPerRead))
  }
}

const findPackKeys = `SELECT DISTINCT (SELECT key FROM packs WHERE slot = $1 AND run = $2 AND key <= asked.value
  ORDER BY key DESC LIMIT 1) AS pack_key FROM EACH $3:blobs AS asked`

function* changeSomeKeys(rewrite: Rewrite, part: Part, keys: readonly Uint8Array[]): Work<void> {
  const wanted = new Set(keys.map(textOfKey))
  const change: Change = (key, value) => (wanted.has(textOfKey(key)) ? rewrite.change(key, value) : undefined)
  const found = (yield* rows(findPackKeys, part.slot, part.id, keys)).flatMap(([key]) => (key === null ? [] : [key]))
  const read = 'SELECT key, bytes FROM packs WHERE slot = $1 AND run = $2 AND key IN $3:blobs'
  for (let at = 0; at < found.length; at += packsPerRead) {
    const packs = (yield* rows(read, part.slot, part.id, found.slice(at, at + packsPerRead))) as StoredPack[]
    yield* changePacks({ ...rewrite, change }, part, packs)
  }
}

/** Answers how many it wrote anew. */
function* changePacks(rewrite: Rewrite, { slot, id }: Part, packs: readonly StoredPack[]): Work<number> {
  const changed = packs.flatMap(pack => changedPack(rewrite, pack) ?? [])
  if (changed.length === 0) return 0
  const gone = changed.map(({ key }) => key)
  yield* run('DELETE FROM packs WHERE slot = $1 AND run = $2 AND key IN $3:blobs', slot, id, gone)
  yield* insertPacks(
    slot,
    id,
    changed.flatMap(each => each.packs),
  )
  const removed = changed.reduce((sum, each) => sum + each.removed, 0)
  if (removed > 0) {
    yield* run('UPDATE runs SET records = records - $3 WHERE slot = $1 AND id = $2', slot, id, removed)
    yield* run('DELETE FROM runs WHERE slot = $1 AND id = $2 AND records = 0 AND growing = 0', slot, id)
  }
  return changed.length
}

function changedPack(
  { place, view, change }: Rewrite,
  [storedKey, bytes]: StoredPack,
): { key: Uint8Array; packs: Pack[]; removed: number } | undefined {
  const reader = new PackReader(view.keyBytes)
  /** By the number of the record; most packs have none. */
  const changed = new Map<number, Uint8Array | null>()
  reader.open(bytes)
  for (let record = 0; reader.next(); record++) {
    const now = change(reader.key, reader.value.subarray(0, reader.valueLength))
    if (now !== undefined) changed.set(record, now?.slice() ?? null)
  }
  if (changed.size === 0) return undefined
  const packs: Pack[] = []
  const writer = new PackWriter(view.keyBytes, pack => packs.push(pack), place.packBytesOf(view))
  let removed = 0
  reader.open(bytes)
  for (let record = 0; reader.next(); record++) {
    const now = changed.get(record)
    if (now === null) removed++
    else if (now === undefined) writer.add(reader.key, reader.value, reader.valueLength)
    else writer.add(reader.key, now, now.length)
  }
  writer.flush()
  return { key: storedKey, packs, removed }
}

export function* dropRun({ slot, id }: Part): Work<void> {
  yield* run('DELETE FROM packs WHERE slot = $1 AND run = $2', slot, id)
  yield* run('DELETE FROM runs WHERE slot = $1 AND id = $2', slot, id)
}

/** The rows of runs go at once, and their packs are swept later. Answers how many records they had. */
export function* dropRunsOf(chain: number, view?: View): Work<number> {
  const found = yield* row(
    'SELECT coalesce(sum(records), 0) FROM runs WHERE chain = $1 AND ($2:int IS NULL OR view = $2:int)',
    ...[chain, view?.id ?? null],
  )
  yield* run('DELETE FROM runs WHERE chain = $1 AND ($2:int IS NULL OR view = $2:int)', chain, view?.id ?? null)
  return Number(found?.[0] ?? 0)
}

/** Removes packs whose runs are gone. Answers how many; 0 where none are left. */
export function* sweepPacks(slots: Slots, packsMax: number): Work<number> {
  for (const slot of slots)
    for (let after = -1; ; ) {
      const next = yield* row('SELECT min(run) FROM packs WHERE slot = $1 AND run > $2', slot, after)
      if (next === undefined || next[0] === null) break
      after = next[0]
      const known = yield* row('SELECT 1 FROM runs WHERE slot = $1 AND id = $2', slot, after)
      if (known !== undefined) continue
      const find = 'SELECT key FROM packs WHERE slot = $1 AND run = $2 ORDER BY key LIMIT 1 OFFSET $3:int'
      const last = yield* row(find, slot, after, packsMax)
      const drop = 'DELETE FROM packs WHERE slot = $1 AND run = $2'
      if (last === undefined) return yield* run(drop, slot, after)
      return yield* run(`${drop} AND key <= $3`, slot, after, last[0])
    }
  return 0
}
