// Reading the transfers of a contract from runs: pages, and counts of a stretch of blocks.
import { AlmanacError } from '../../../errors.ts'
import type { Interval, Position } from '../../../model.ts'
import { mergePages } from '../../page-merge.ts'
import { OpenPack } from '../../runs/open-pack.ts'
import {
  batchIndexOfKey,
  blockOfKey,
  contractOfKey,
  logIndexOfKey,
  spanOfBlocks,
  transactionIndexOfKey,
  transferKey,
  transferView,
} from '../../runs/transfer-view.ts'
import { emptyPage, type TransferPage } from '../../transfer-page.ts'
import { idCountOf } from '../../transfer-payload.ts'
import type { Connection } from '../connection.ts'
import { cursorAt, packsFrom } from './runs.ts'

export type RunPageQuery = {
  contract: number
  order: 'asc' | 'desc'
  /** Rows beyond this position; -1 stands before the first. */
  start: Position
  /** The last block, in the given order. */
  end: number
  limit: number
}

/** The rows that tables have of the contract, as one more place to read from. */
export type InTables = Interval & { page: () => TransferPage }
type Place = Interval & ({ id: number } | InTables)

/**
 * A page of the rows in runs and tables. Runs are of stretches of blocks: in their order those beyond a full page need
 * not be opened, and their blocks are looked up together. `keyBase`: the key of block 0 in the table of blocks.
 */
export function pageOfRuns(
  read: Connection,
  places: readonly Place[],
  query: RunPageQuery,
  keyBase: number,
): TransferPage {
  const { order, limit, start, end } = query
  const isUp = order === 'asc'
  const isReached = ({ from, to }: Place): boolean =>
    isUp ? to >= start.block && from <= end : from <= start.block && to >= end
  const isBeyond = ({ from, to }: Place, blocks: readonly number[]): boolean =>
    blocks.length > 0 && (isUp ? from > blocks.at(-1)! : to < blocks.at(-1)!)
  let page = emptyPage
  let rows = new Rows(limit)
  const flush = (): void => {
    if (rows.blocks.length === 0) return
    page = mergePages(page, withBlocks(read, rows, keyBase), order, limit)
    rows = new Rows(limit)
  }
  for (const place of places.filter(isReached).sort((a, b) => (isUp ? a.from - b.from : b.to - a.to))) {
    if (page.length >= limit && isBeyond(place, page.blocks)) break
    if (rows.isFull && isBeyond(place, rows.blocks)) break
    if ('page' in place) {
      flush()
      page = mergePages(page, place.page(), order, limit)
      continue
    }
    if (!isBeyond(place, rows.blocks)) flush()
    if (isUp) addUp(read, place.id, query, rows)
    else addDown(read, place.id, query, rows)
  }
  flush()
  return page
}

class Rows {
  readonly limit: number
  readonly blocks: number[] = []
  readonly transactionIndexes: number[] = []
  readonly logIndexes: number[] = []
  readonly batchIndexes: number[] = []
  #payloads: Uint8Array
  #end = 0

  constructor(limit: number) {
    this.limit = limit
    this.#payloads = new Uint8Array(limit * 112)
  }

  add(record: number): void {
    const at = record * transferView.keyBytes
    this.blocks.push(blockOfKey(pack.keys, at))
    this.transactionIndexes.push(transactionIndexOfKey(pack.keys, at))
    this.logIndexes.push(logIndexOfKey(pack.keys, at))
    this.batchIndexes.push(batchIndexOfKey(pack.keys, at))
    const end = this.#end + pack.valueLength(record)
    if (end > this.#payloads.length) {
      const larger = new Uint8Array(2 * this.#payloads.length + end)
      larger.set(this.#payloads)
      this.#payloads = larger
    }
    pack.copyValue(record, this.#payloads, this.#end)
    this.#end = end
  }

  get isFull(): boolean {
    return this.blocks.length >= this.limit
  }

  get payloads(): Uint8Array {
    return this.#payloads.subarray(0, this.#end)
  }
}

// A page is read without a pause: one serves all of a thread.
const pack = new OpenPack(transferView.keyBytes)

const packsDown = `SELECT bytes ${packsFrom}`
const packsUp =
  'SELECT bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ?1 AND key <= ?2 ORDER BY key DESC'

function addDown(read: Connection, run: number, { contract, start, end }: RunPageQuery, rows: Rows): void {
  const startKey = transferKey(contract, start)
  let isBeyond = false
  for (const [bytes] of read.prepare(packsDown).iterate(run, startKey) as Iterable<[Uint8Array<ArrayBuffer>]>) {
    pack.open(bytes)
    let record = 0
    if (!isBeyond) while (record < pack.records && pack.compare(record, startKey) <= 0) record++
    isBeyond ||= record < pack.records
    while (record < pack.records && !rows.isFull && isOf(contract, record) && blockAt(record) >= end) rows.add(record++)
    if (record < pack.records || rows.isFull) return
  }
}

function addUp(read: Connection, run: number, { contract, start, end }: RunPageQuery, rows: Rows): void {
  const startKey = transferKey(contract, start)
  const isIncluded = start.transactionIndex < 0 || start.logIndex < 0 || start.batchIndex < 0
  let isBeyond = false
  for (const [bytes] of read.prepare(packsUp).iterate(run, startKey) as Iterable<[Uint8Array<ArrayBuffer>]>) {
    pack.open(bytes)
    let record = pack.records - 1
    if (!isBeyond)
      while (record >= 0 && (isIncluded ? pack.compare(record, startKey) > 0 : pack.compare(record, startKey) >= 0))
        record--
    isBeyond ||= record >= 0
    while (record >= 0 && !rows.isFull && isOf(contract, record) && blockAt(record) <= end) rows.add(record--)
    if (record >= 0 || rows.isFull) return
  }
}

function isOf(contract: number, record: number): boolean {
  return contractOfKey(pack.keys, record * transferView.keyBytes) === contract
}

function blockAt(record: number): number {
  return blockOfKey(pack.keys, record * transferView.keyBytes)
}

// One statement for all blocks, which gives one value: node:sqlite pays for each value that it hands over. Each block
// is its hash and the digits of its time, and commas between them.
const blocksSql = (from: string): string => `SELECT CAST(group_concat(hash || timestamp) || ',' AS BLOB) FROM (${from})`
const findBlocks = {
  cold: blocksSql(
    'SELECT timestamp, hash FROM json_each(?1) AS asked CROSS JOIN blocks ON blocks.key = ?2 - asked.value',
  ),
  'hot and cold': blocksSql(`SELECT coalesce(blocks.timestamp, hot_blocks.timestamp) AS timestamp,
    coalesce(blocks.hash, hot_blocks.hash) AS hash FROM json_each(?1) AS asked
    LEFT JOIN blocks ON blocks.key = ?2 - asked.value LEFT JOIN hot_blocks ON hot_blocks.key = ?2 - asked.value`),
}

const hashBytes = 32
const zero = 48

type Columns = Omit<TransferPage, 'length' | 'timestamps' | 'blockHashes'>

export function withBlocks(
  read: Connection,
  rows: Columns,
  keyBase: number,
  of: keyof typeof findBlocks = 'cold',
): TransferPage {
  const { blocks, transactionIndexes, logIndexes, batchIndexes, payloads } = rows
  const distinct = blocks.filter((block, at) => block !== blocks[at - 1])
  const [found] = read.get(findBlocks[of], JSON.stringify(distinct), keyBase) as [Uint8Array | null]
  const timestamps = new Array<number>(blocks.length)
  const blockHashes = new Uint8Array(blocks.length * hashBytes)
  let at = 0
  for (let row = 0; row < blocks.length; row++) {
    const hashAt = row * hashBytes
    if (blocks[row] === blocks[row - 1]) {
      timestamps[row] = timestamps[row - 1]!
      for (let byte = 0; byte < hashBytes; byte++) blockHashes[hashAt + byte] = blockHashes[hashAt + byte - hashBytes]!
      continue
    }
    if (found === null || at >= found.length) throw blockMissing()
    for (let byte = 0; byte < hashBytes; byte++) blockHashes[hashAt + byte] = found[at++]!
    let time = 0
    for (let digit = found[at++]!; digit >= zero; digit = found[at++]!) time = time * 10 + digit - zero
    timestamps[row] = time
  }
  if (at !== found?.length) throw blockMissing()
  return {
    length: blocks.length,
    ...{ blocks, transactionIndexes, logIndexes, batchIndexes, timestamps, blockHashes, payloads },
  }
}

function blockMissing(): AlmanacError {
  return new AlmanacError('store_corrupt', 'The store has transfers of a block, but not that block.')
}

/** An ERC-2309 range counts as many as its ids. */
export function countInRun(read: Connection, run: number, contract: number, { from, to }: Interval): number {
  const cursor = cursorAt(read, transferView, run, spanOfBlocks(contract, { from, to }).from)
  let count = 0
  if (cursor === undefined) return count
  const { reader } = cursor
  do {
    if (contractOfKey(reader.key) !== contract || blockOfKey(reader.key) < from) break
    count += idCountOf(reader.value.subarray(0, reader.valueLength))
  } while (cursor.step())
  return count
}
