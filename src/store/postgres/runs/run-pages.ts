// Pages of transfers from runs. One statement gives the runs that may have the contract, with their stretches of
// blocks, and the first packs of the first of them; where these are not enough for the page, it is asked again for
// more.
import type { Position } from '../../../model.ts'
import { mergePages } from '../../page-merge.ts'
import { OpenPack } from '../../runs/open-pack.ts'
import {
  batchIndexOfKey,
  blockOfKey,
  contractOfKey,
  logIndexOfKey,
  transactionIndexOfKey,
  transferKey,
  transferView,
} from '../../runs/transfer-view.ts'
import type { TransferPageQuery } from '../../store.ts'
import { emptyPage, type TransferPage } from '../../transfer-page.ts'
import { bytesOf } from '../arrays.ts'
import type { Row, Value } from '../database.ts'
import { hasContract, packsFrom } from './runs.ts'
import { hashOf, payloadAt, timestampOf } from './transfer-runs.ts'

type Order = TransferPageQuery['order']

export type RunPageQuery = {
  slot: number
  chain: number
  contract: number
  order: Order
  /** Rows beyond this position; -1 stands before the first. */
  start: Position
  /** The last block, in the given order. */
  end: number
  limit: number
}

/** What the columns of a row are: the runs that may have rows, or a pack of one. */
export const pageKinds = { runs: 1, pack: 2 } as const

/**
 * As `runPageValues` gives them, from the parameter `first` on. Five columns: the kind, the run, bytes, two NULL. The
 * bound of packs is one for all runs in their order, or one for each.
 */
export function runPageSql(order: Order, { first, perRun }: { first: number; perRun: boolean }): string {
  const [slot, chain, contract, low, high, lowest, highest, packs] = (
    ['int4', 'int4', 'int4', 'bytea', 'bytea', 'int8', 'int8', 'int8'] as const
  ).map((type, at) => `$${first + at}::${type}`) as [string, string, string, string, string, string, string, string]
  const newestFirst = order === 'desc'
  const within = `packs.slot = ${slot} AND run = id AND key <= ${high} AND key >= ${packsFrom('id', slot, low)}`
  // A merge leaves runs that say that they have a contract, and have it no more.
  return `(WITH having_it AS MATERIALIZED (SELECT id, from_block, to_block FROM runs WHERE slot = ${slot}
      AND chain = ${chain} AND view = ${transferView.id} AND from_block <= ${highest} AND to_block >= ${lowest}
      AND ${hasContract(contract)} AND EXISTS (SELECT 1 FROM packs WHERE ${within}))
    SELECT ${pageKinds.runs}, NULL::int8, string_agg(int8send(id) || int8send(from_block) || int8send(to_block), ''),
      NULL::bytea, NULL::bytea FROM having_it
    UNION ALL SELECT * FROM (SELECT ${pageKinds.pack}, id, bytes, NULL::bytea, NULL::bytea
      FROM (SELECT id FROM having_it ORDER BY ${newestFirst ? 'to_block DESC' : 'from_block'}, id) AS in_order
      CROSS JOIN LATERAL (SELECT bytes FROM packs WHERE ${within} ORDER BY key ${newestFirst ? 'ASC' : 'DESC'}
        ${perRun ? `LIMIT ${packs}` : ''}) AS its_packs
      ${perRun ? '' : `LIMIT ${packs}`}) AS first_packs)`
}

export function runPageValues(query: RunPageQuery, { packs }: PackBound): Value[] {
  const { slot, chain, contract, order, start, end } = query
  const startKey = transferKey(contract, start)
  return order === 'desc'
    ? [slot, chain, contract, startKey, transferKey(contract, { ...oldest, block: end }), end, start.block, packs]
    : [slot, chain, contract, transferKey(contract, { ...newest, block: end }), startKey, start.block, end, packs]
}

const newest = { transactionIndex: Infinity, logIndex: Infinity, batchIndex: Infinity }
const oldest = { transactionIndex: 0, logIndex: 0, batchIndex: 0 }

/** How many packs are read: of all runs in their order, or of each. */
export type PackBound = { packs: number; perRun: boolean }

/** What holds a page as a rule, wherever it begins: a full pack has at least 16 rows, as long as they can be. */
export function firstBound(limit: number): PackBound {
  return { packs: Math.ceil(limit / 16) + 2, perRun: false }
}

/** Of each run as many as a page needs; then more, because packs have few rows where others were taken back. */
export function nextBound({ packs, perRun }: PackBound): PackBound {
  return { packs: perRun ? packs * 4 : packs, perRun: true }
}

type RunInfo = { from: number; to: number; packs: Buffer[] }

/** The page that the rows of the statement hold; undefined where its bound was not enough. */
export function pageOfRuns(rows: readonly Row[], query: RunPageQuery, bound: PackBound): TransferPage | undefined {
  const { order, limit } = query
  const runs = new Map<number, RunInfo>()
  for (const [kind, , bytes] of rows)
    if (Number(kind) === pageKinds.runs && bytes !== null && bytes !== undefined) readRuns(bytesOf(bytes), runs)
  let packs = 0
  let lastRun: RunInfo | undefined
  for (const [kind, run, bytes] of rows)
    if (Number(kind) === pageKinds.pack) {
      lastRun = runs.get(Number(run))!
      lastRun.packs.push(bytesOf(bytes))
      packs++
    }
  // One bound for all cuts off the rest of the last run that was reached, and all that were not.
  const isCut = (run: RunInfo): boolean =>
    bound.perRun ? run.packs.length >= bound.packs : packs >= bound.packs && (run === lastRun || run.packs.length === 0)
  let page = emptyPage
  const open: Horizon[] = []
  for (const run of runs.values()) {
    const ofRun = new Rows(query)
    const isEnded = ofRun.read(run.packs)
    const its = ofRun.page()
    page = mergePages(page, its, order, limit)
    if (isEnded || !isCut(run)) continue
    if (run.packs.length > 0 && its.length === 0) return undefined
    open.push(run.packs.length === 0 ? { block: order === 'desc' ? run.to : run.from } : { page: its })
  }
  if (open.length === 0) return page
  return page.length >= limit && open.every(horizon => isBefore(page, horizon, order)) ? page : undefined
}

/** Rows that are not known begin at this block, or after the last row of this page. */
type Horizon = { block: number } | { page: TransferPage }

function isBefore(page: TransferPage, horizon: Horizon, order: Order): boolean {
  const last = page.length - 1
  const sign = order === 'desc' ? -1 : 1
  if ('block' in horizon) return sign * (page.blocks[last]! - horizon.block) < 0
  const other = horizon.page
  const row = other.length - 1
  const compared =
    page.blocks[last]! - other.blocks[row]! ||
    page.transactionIndexes[last]! - other.transactionIndexes[row]! ||
    page.logIndexes[last]! - other.logIndexes[row]! ||
    page.batchIndexes[last]! - other.batchIndexes[row]!
  return sign * compared <= 0
}

const infoBytes = 24

function readRuns(bytes: Buffer, runs: Map<number, RunInfo>): void {
  for (let at = 0; at < bytes.length; at += infoBytes)
    runs.set(readInt8(bytes, at), { from: readInt8(bytes, at + 8), to: readInt8(bytes, at + 16), packs: [] })
}

function readInt8(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
}

// A page is put together without a pause: one serves all of a thread.
const pack = new OpenPack(transferView.keyBytes)

/** The rows of one run, in their order. */
class Rows {
  readonly #query: RunPageQuery
  readonly #startKey: Uint8Array
  readonly #isStartIncluded: boolean
  readonly #blocks: number[] = []
  readonly #transactionIndexes: number[] = []
  readonly #logIndexes: number[] = []
  readonly #batchIndexes: number[] = []
  readonly #values: Uint8Array[] = []

  constructor(query: RunPageQuery) {
    const { contract, order, start } = query
    this.#query = query
    this.#startKey = transferKey(contract, start)
    this.#isStartIncluded =
      order === 'asc' && (start.transactionIndex < 0 || start.logIndex < 0 || start.batchIndex < 0)
  }

  /** Whether the run has no more rows that the page could show. */
  read(packs: readonly Buffer[]): boolean {
    const { order, contract, end, limit } = this.#query
    const isDown = order === 'desc'
    for (const bytes of packs) {
      pack.open(bytes as Uint8Array<ArrayBuffer>)
      for (let at = 0; at < pack.records; at++) {
        const record = isDown ? at : pack.records - 1 - at
        const compared = pack.compare(record, this.#startKey)
        if (isDown ? compared <= 0 : this.#isStartIncluded ? compared > 0 : compared >= 0) continue
        const keyAt = record * transferView.keyBytes
        const block = blockOfKey(pack.keys, keyAt)
        if (contractOfKey(pack.keys, keyAt) !== contract || (isDown ? block < end : block > end)) return true
        if (this.#blocks.length === limit) return true
        this.#add(record, block, keyAt)
      }
    }
    return this.#blocks.length === limit
  }

  #add(record: number, block: number, keyAt: number): void {
    this.#blocks.push(block)
    this.#transactionIndexes.push(transactionIndexOfKey(pack.keys, keyAt))
    this.#logIndexes.push(logIndexOfKey(pack.keys, keyAt))
    this.#batchIndexes.push(batchIndexOfKey(pack.keys, keyAt))
    const value = new Uint8Array(pack.valueLength(record))
    pack.copyValue(record, value, 0)
    this.#values.push(value)
  }

  page(): TransferPage {
    return {
      length: this.#blocks.length,
      blocks: this.#blocks,
      transactionIndexes: this.#transactionIndexes,
      logIndexes: this.#logIndexes,
      batchIndexes: this.#batchIndexes,
      timestamps: this.#values.map(timestampOf),
      blockHashes: Buffer.concat(this.#values.map(hashOf)),
      payloads: Buffer.concat(this.#values.map(value => value.subarray(payloadAt))),
    }
  }
}
