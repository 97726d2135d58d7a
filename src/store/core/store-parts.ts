// The parts of a store for copying it and for comparing two, of any engine: rows of tables as they are, recent blocks
// with all of their parts, and what runs hold as rows, whatever runs there are. No other process may write meanwhile.

import { joinActivity, mergePacked, type PackedActivity, packedRow } from '../packed-activity.ts'
import {
  copyCheckpointName,
  type PartName,
  type PartPage,
  type PartRow,
  type PartTable,
  type PartValue,
  partTables,
  type ReadableName,
  type StoreParts,
} from '../parts.ts'
import { activityView, refsOf } from '../runs/activity-view.ts'
import { bucketOfKey, countOf, countView } from '../runs/count-view.ts'
import { contractOfKey, hashOf, payloadAt, positionOfKey, timestampOf, transferView } from '../runs/transfer-view.ts'
import type { View } from '../runs/view.ts'
import { type Table, tableOf } from '../schema.ts'
import { addParts, lockChain, type NewPart } from './chain-row.ts'
import { Core } from './core.ts'
import { addActivity } from './fold.ts'
import { liveIndexes } from './kept-indexes.ts'
import { Merges, recordsPerTransfer } from './merge-runs.ts'
import { recordsFrom } from './read-records.ts'
import { packTransfers, recentBlock } from './recent-block.ts'
import { blockBegin, blockEnd } from './runs.ts'
import { neighbour } from './transfer-pages.ts'
import { addTransfers, type BlockTransfer, blocksOf } from './transfer-runs.ts'
import { type Engine, put, row, rows, run, textOf, type Work } from './work.ts'

type TableName = keyof typeof partTables

type CopiedTable = Table & { where: string | undefined; rowsMax: number | undefined }

function copiedTable(name: TableName): CopiedTable {
  const { columns: names, where, rowsMax }: PartTable = partTables[name]
  const { columns, key } = tableOf(name)
  return { columns: columns.filter(column => names?.includes(column.name) ?? true), key, where, rowsMax }
}

function isTable(part: ReadableName): part is TableName {
  return part in partTables
}

/** `keepNumbers`: after chains and contracts were written with numbers of their own. */
export type PartsEngine = { engine: Engine; location: string; keepNumbers(): Promise<void>; close(): Promise<void> }

export function storeParts({ engine, location, keepNumbers, close }: PartsEngine): StoreParts {
  const core = new Core(engine)
  const merges = new Merges(core)
  return {
    location,
    readPart: (part, cursor, limit) => engine.read(() => readPart(part, cursor, limit)),
    async writePart(part, given, checkpoint) {
      const chains = await engine.write(() => writePart(core, part, given, checkpoint))
      if (part === 'chains' || part === 'contracts') await keepNumbers()
      for (const [chain, count] of chains) await merges.pay(chain, recordsPerTransfer * count)
    },
    transferRows: () =>
      engine.read(function* () {
        const found = yield* row('SELECT sum(records) FROM runs WHERE view = $1', transferView.id)
        return Number(found?.[0] ?? 0)
      }),
    copyCheckpoint: () =>
      engine.read(function* () {
        return (yield* row('SELECT value FROM checkpoints WHERE name = $1', copyCheckpointName))?.[0]
      }),
    endCopy: () =>
      engine.write(function* () {
        yield* run('DELETE FROM checkpoints WHERE name = $1', copyCheckpointName)
      }),
    close,
  }
}

// Cursors are keys as JSON; those of bytes `{ "hex": … }`.

type KeyText = string | number | { hex: string }

function cursorOf(key: readonly PartValue[]): string {
  const texts = key.map(value => (value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value))
  return JSON.stringify(texts)
}

function keyOf(cursor: string | undefined): (number | string | Uint8Array)[] | undefined {
  if (cursor === undefined) return undefined
  return (JSON.parse(cursor) as KeyText[]).map(text => (typeof text === 'object' ? Buffer.from(text.hex, 'hex') : text))
}

function* readPart(part: ReadableName, cursor: string | undefined, limit: number): Work<PartPage> {
  const after = keyOf(cursor)
  if (isTable(part)) return yield* readTable(part, after, limit)
  if (part === 'recent_blocks') return yield* readRecent(after as number[] | undefined, limit)
  return yield* readRuns(runParts[part], after as [number, Uint8Array] | undefined, limit)
}

function* readTable(table: TableName, after: readonly PartValue[] | undefined, limit: number): Work<PartPage> {
  const { columns, key, where: given, rowsMax = limit } = copiedTable(table)
  const most = Math.min(limit, rowsMax)
  const names = columns.map(({ name }) => name)
  const beyond = after && `(${key.join()}) > (${key.map((_, at) => `$${at + 2}`).join()})`
  const conditions = [given, beyond].filter(each => each !== undefined)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const find = `SELECT ${names.join()} FROM ${table} ${where} ORDER BY ${key.join()} LIMIT $1:int`
  const found = yield* rows(find, most, ...(after ?? []))
  const last = found.length < most ? undefined : found.at(-1)
  const keyAt = key.map(column => names.indexOf(column))
  const utf8At = columns.flatMap(({ type }, at) => (type === 'utf8' ? [at] : []))
  for (const each of found) for (const at of utf8At) each[at] = textOf(each[at]) ?? null
  return { rows: found, next: last && cursorOf(keyAt.map(at => last[at])) }
}

function* readRecent([chain = -1, number = -1]: number[] = [], limit: number): Work<PartPage> {
  const find = `SELECT chain, number FROM recent_blocks WHERE part = 0 AND (chain, number) > ($1, $2)
    ORDER BY chain, number LIMIT $3:int`
  const blocks: PartRow[] = []
  const numbers = yield* rows(find, chain, number, limit)
  const findParts = `SELECT number, part, hash, timestamp, transfers, activity FROM recent_blocks
    WHERE chain = $1 AND number = $2 ORDER BY part`
  for (const [of, at] of numbers) {
    const parts = yield* rows(findParts, of, at)
    const block = recentBlock(parts)
    const activity = mergePacked(joinActivity(parts.map(part => part[5] as PackedActivity)))
    blocks.push([of, at, block.hash, block.timestamp, packTransfers(block.transfers()), activity])
  }
  return { rows: blocks, next: numbers.length < limit ? undefined : cursorOf(numbers.at(-1)!) }
}

type RunPart = { view: View; rowOf: (chain: number, key: Uint8Array, value: Uint8Array) => PartRow | undefined }

const runParts: Record<'transfers' | 'activity' | 'transfer_counts', RunPart> = {
  transfers: {
    view: transferView,
    rowOf(_, key, value) {
      const { block, transactionIndex, logIndex, batchIndex } = positionOfKey(key)
      const place = [contractOfKey(key), block, transactionIndex, logIndex, batchIndex]
      return [...place, value.slice(payloadAt), timestampOf(value), hashOf(value).slice()]
    },
  },
  activity: {
    view: activityView,
    rowOf(chain, key, value) {
      const { first, last } = refsOf(value)
      return [key.slice(), chain, first.slice(), last?.slice() ?? null]
    },
  },
  transfer_counts: {
    view: countView,
    rowOf(_, key, value) {
      const [bucket, count] = [bucketOfKey(key), countOf(value)]
      return bucket < 0 || count === 0 ? undefined : [contractOfKey(key), bucket, count]
    },
  },
}

/** Chain by chain, in the order of keys. */
function* readRuns({ view, rowOf }: RunPart, after: [number, Uint8Array] | undefined, limit: number): Work<PartPage> {
  const [chain, key] = after ?? [(yield* nextChain(-1)) ?? -1, undefined]
  if (chain < 0) return { rows: [], next: undefined }
  const from = key === undefined ? new Uint8Array(view.keyBytes) : neighbour(key, 1)
  const found = from === undefined ? [] : yield* recordsFrom({ view, chain }, from, limit)
  const shown = found.map(([at, value]) => rowOf(chain, at, value)).filter(each => each !== undefined)
  if (found.length >= limit) return { rows: shown, next: cursorOf([chain, found.at(-1)![0]]) }
  const next = yield* nextChain(chain)
  // Behind no key: a chain begins.
  return { rows: shown, next: next === undefined ? undefined : cursorOf([next]) }
}

function* nextChain(after: number): Work<number | undefined> {
  return (yield* row('SELECT min(ordinal) FROM chains WHERE ordinal > $1', after))?.[0] ?? undefined
}

/** Rows that are not there yet and, in the same transaction, the checkpoint. Answers how many transfers chains got. */
function* writePart(
  core: Core,
  part: PartName,
  given: readonly PartRow[],
  checkpoint: string,
): Work<ReadonlyMap<number, number>> {
  let written: ReadonlyMap<number, number> = new Map()
  if (isTable(part)) yield* writeTable(part, given)
  else if (part === 'recent_blocks') yield* writeRecent(given)
  else if (part === 'activity') yield* writeActivity(core, given)
  else written = yield* writeTransfers(core, given)
  yield* writeTable('checkpoints', [[copyCheckpointName, checkpoint]])
  return written
}

function* writeTable(table: TableName, given: readonly PartRow[]): Work<void> {
  const { columns } = copiedTable(table)
  const cells = given.map(each => Object.fromEntries(columns.map(({ name }, at) => [name, each[at]])))
  yield* put(table, cells)
}

function* writeRecent(given: readonly PartRow[]): Work<void> {
  for (const [chain, its] of Map.groupBy(given, each => each[0] as number)) {
    const before = yield* lockChain(chain)
    const tip = Math.max(before.tip, ...its.map(([, number]) => number as number))
    const parts = its.map(([, number, hash, timestamp, transfers, activity]) => {
      return { number, part: 0, hash, timestamp, transfers, activity } as NewPart
    })
    yield* addParts(before, { tip }, parts)
  }
}

function* writeTransfers(core: Core, given: readonly PartRow[]): Work<Map<number, number>> {
  const transfers = given.map((each): BlockTransfer => {
    const [contract, block, transactionIndex, logIndex, batchIndex] = each as number[]
    const [payload, timestamp, hash] = each.slice(5) as [Uint8Array, number, Uint8Array]
    return { contract, block, transactionIndex, logIndex, batchIndex, payload, timestamp, hash } as BlockTransfer
  })
  const numbers = [...new Set(transfers.map(({ contract }) => contract))]
  const chains = new Map(
    (yield* rows('SELECT id, chain FROM contracts WHERE id IN $1:ints', numbers)) as [number, number][],
  )
  const written = new Map<number, number>()
  for (const [chain, its] of Map.groupBy(transfers, ({ contract }) => chains.get(contract)!)) {
    yield* addTransfers(yield* core.place(), { chain, ...blocksOf(its) }, yield* liveIndexes(chain), its)
    written.set(chain, its.length)
  }
  return written
}

function* writeActivity(core: Core, given: readonly PartRow[]): Work<void> {
  for (const [chain, its] of Map.groupBy(given, each => each[1] as number)) {
    const packed = its.map(([address, , first, last]) =>
      packedRow(address as Uint8Array, first as Uint8Array, (last ?? first) as Uint8Array),
    )
    yield* addActivity(yield* core.place(), { chain, from: blockBegin, to: blockEnd }, joinActivity(packed))
  }
}
