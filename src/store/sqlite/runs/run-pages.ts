// Reading the transfers of a contract from runs: pages, and counts of a stretch of blocks.
import { AlmanacError } from '../../../errors.ts'
import type { Interval, Position } from '../../../model.ts'
import { compareKeys, PackReader } from '../../runs/pack.ts'
import {
  batchIndexOfKey,
  blockOfKey,
  contractOfKey,
  logIndexOfKey,
  transactionIndexOfKey,
  transferKey,
  transferView,
} from '../../runs/transfer-view.ts'
import { emptyPage, type TransferPage } from '../../store.ts'
import { idCountOf } from '../../transfer-payload.ts'
import type { Connection } from '../connection.ts'
import { cursorAt } from './runs.ts'

export type RunPageQuery = {
  contract: number
  order: 'asc' | 'desc'
  /** Rows beyond this position; -1 stands before the first. */
  start: Position
  /** The last block, in the given order. */
  end: number
  limit: number
}

const packsFrom = `SELECT bytes FROM pack_keys JOIN packs ON id = pack
  WHERE run = ?1 AND key >= coalesce((SELECT max(key) FROM pack_keys WHERE run = ?1 AND key <= ?2), ?2) ORDER BY key`
const packsBack =
  'SELECT bytes FROM pack_keys CROSS JOIN packs ON id = pack WHERE run = ?1 AND key <= ?2 ORDER BY key DESC'

/** `keyBase`: the key of block 0 in the table of blocks. */
export function runPage(read: Connection, run: number, query: RunPageQuery, keyBase: number): TransferPage {
  const rows = query.order === 'desc' ? rowsDown(read, run, query) : rowsUp(read, run, query)
  return rows.blocks.length === 0 ? emptyPage : withBlocks(read, rows, keyBase)
}

class Rows {
  readonly blocks: number[] = []
  readonly transactionIndexes: number[] = []
  readonly logIndexes: number[] = []
  readonly batchIndexes: number[] = []
  #payloads: Uint8Array
  #end = 0

  constructor(limit: number) {
    this.#payloads = new Uint8Array(limit * 112)
  }

  add(key: Uint8Array, payload: Uint8Array, length: number): void {
    this.blocks.push(blockOfKey(key))
    this.transactionIndexes.push(transactionIndexOfKey(key))
    this.logIndexes.push(logIndexOfKey(key))
    this.batchIndexes.push(batchIndexOfKey(key))
    if (this.#end + length > this.#payloads.length) {
      const larger = new Uint8Array(2 * this.#payloads.length + length)
      larger.set(this.#payloads)
      this.#payloads = larger
    }
    for (let at = 0; at < length; at++) this.#payloads[this.#end + at] = payload[at]!
    this.#end += length
  }

  get payloads(): Uint8Array {
    return this.#payloads.subarray(0, this.#end)
  }
}

function rowsDown(read: Connection, run: number, { contract, start, end, limit }: RunPageQuery): Rows {
  const rows = new Rows(limit)
  const startKey = transferKey(contract, start)
  const reader = new PackReader(transferView.keyBytes)
  const { key } = reader
  let isBeyond = false
  for (const [bytes] of read.prepare(packsFrom).iterate(run, startKey) as Iterable<[Uint8Array]>) {
    reader.open(bytes)
    while (reader.next()) {
      isBeyond ||= compareKeys(key, startKey) > 0
      if (!isBeyond) continue
      if (contractOfKey(key) !== contract || blockOfKey(key) < end) return rows
      rows.add(key, reader.value, reader.valueLength)
      if (rows.blocks.length === limit) return rows
    }
  }
  return rows
}

function rowsUp(read: Connection, run: number, { contract, start, end, limit }: RunPageQuery): Rows {
  const rows = new Rows(limit)
  const startKey = transferKey(contract, start)
  const isIncluded = start.transactionIndex < 0 || start.logIndex < 0 || start.batchIndex < 0
  for (const [bytes] of read.prepare(packsBack).iterate(run, startKey) as Iterable<[Uint8Array]>) {
    const reader = new PackReader(transferView.keyBytes)
    reader.open(bytes)
    const inPack: { key: Uint8Array; payload: Uint8Array }[] = []
    while (reader.next()) inPack.push({ key: reader.key.slice(), payload: reader.value.slice(0, reader.valueLength) })
    for (const { key, payload } of inPack.reverse()) {
      const order = compareKeys(key, startKey)
      if (order > 0 || (order === 0 && !isIncluded)) continue
      if (contractOfKey(key) !== contract || blockOfKey(key) > end) return rows
      rows.add(key, payload, payload.length)
      if (rows.blocks.length === limit) return rows
    }
  }
  return rows
}

// One statement for all blocks, which gives two values: node:sqlite pays for each value that it hands over.
const findBlocks = `SELECT group_concat(timestamp), CAST(group_concat(hash, '') AS BLOB)
  FROM (SELECT timestamp, hash FROM json_each(?1) AS asked CROSS JOIN blocks ON blocks.key = ?2 - asked.value)`

function withBlocks(read: Connection, rows: Rows, keyBase: number): TransferPage {
  const { blocks, transactionIndexes, logIndexes, batchIndexes, payloads } = rows
  const distinct = blocks.filter((block, at) => block !== blocks[at - 1])
  const [times, hashes] = read.get(findBlocks, JSON.stringify(distinct), keyBase) as [string | null, Uint8Array]
  const distinctTimes = times?.split(',') ?? []
  if (distinctTimes.length !== distinct.length)
    throw new AlmanacError('store_corrupt', 'The store has transfers of a block, but not that block.')
  const timestamps: number[] = []
  const blockHashes = new Uint8Array(blocks.length * 32)
  for (let row = 0, at = -1; row < blocks.length; row++) {
    if (row === 0 || blocks[row] !== blocks[row - 1]) at++
    timestamps.push(Number(distinctTimes[at]))
    blockHashes.set(hashes.subarray(at * 32, at * 32 + 32), row * 32)
  }
  return {
    length: blocks.length,
    ...{ blocks, transactionIndexes, logIndexes, batchIndexes, timestamps, blockHashes, payloads },
  }
}

const newestOfBlock = { transactionIndex: Infinity, logIndex: Infinity, batchIndex: Infinity }

/** An ERC-2309 range counts as many as its ids. */
export function countInRun(read: Connection, run: number, contract: number, { from, to }: Interval): number {
  const cursor = cursorAt(read, transferView, run, transferKey(contract, { ...newestOfBlock, block: to }))
  let count = 0
  if (cursor === undefined) return count
  const { reader } = cursor
  do {
    if (contractOfKey(reader.key) !== contract || blockOfKey(reader.key) < from) break
    count += idCountOf(reader.value.subarray(0, reader.valueLength))
  } while (cursor.step())
  return count
}
