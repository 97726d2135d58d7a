// A recent block as it is stored, and as a process that answers keeps it: its transfers in the order of their keys, and
// four bytes of each wallet that was active. Index records are derived from the transfers, never stored. Pure.
//
// Stored transfers begin with four bytes for their number and an entry for each: where it begins, and the last four
// bytes of the addresses of both parties, zero for the zero address. Then each is its key (`transferKey`), the length
// of its payload in one byte, and the payload.
import type { Interval } from '../../model.ts'
import { byWallet } from '../indexes/by-wallet.ts'
import type { SortedRecords } from '../indexes/sorted-records.ts'
import { activityCount, type PackedActivity, rowBytes } from '../packed-activity.ts'
import { compareKeys } from '../runs/pack.ts'
import { wordAt, writeNumber } from '../runs/place-key.ts'
import { positionOfKey, transferKey, transferValue, transferView } from '../runs/transfer-view.ts'
import type { IndexView, NumberedTransfer } from '../runs/view.ts'
import { idCountOf, layOut, newLayout } from '../transfer-payload.ts'
import type { RecordsAsk } from './work.ts'

const { keyBytes } = transferView
const payloadAt = keyBytes + 1
const addressBytes = 20
const hashBytes = 32
const countBytes = 4
const entryAt = { start: 0, from: 4, to: 8 }
const entryBytes = 12

/** Transfers of one block in any order. Of those at one place the first counts. */
export function packTransfers(transfers: readonly NumberedTransfer[]): Uint8Array {
  const keyed = transfers.map(transfer => ({
    key: transferKey(transfer.contract, transfer),
    payload: transfer.payload,
  }))
  return packKeyed(keyed)
}

type Keyed = { key: Uint8Array; payload: Uint8Array }

const layout = newLayout()

function packKeyed(keyed: readonly Keyed[]): Uint8Array {
  const sorted = keyed.toSorted((a, b) => compareKeys(a.key, b.key))
  const distinct = sorted.filter(({ key }, at) => at === 0 || compareKeys(sorted[at - 1]!.key, key) !== 0)
  if (distinct.length === 0) return new Uint8Array(0)
  const entriesBytes = countBytes + entryBytes * distinct.length
  const bytes = new Uint8Array(distinct.reduce((sum, { payload }) => sum + payloadAt + payload.length, entriesBytes))
  writeNumber(bytes, 0, 4, distinct.length)
  let at = entriesBytes
  for (const [place, { key, payload }] of distinct.entries()) {
    const entry = countBytes + entryBytes * place
    writeNumber(bytes, entry + entryAt.start, 4, at)
    bytes.set(key, at)
    bytes[at + keyBytes] = payload.length
    bytes.set(payload, at + payloadAt)
    layOut(bytes, at + payloadAt, layout)
    if (layout.to < layout.from) bytes.copyWithin(entry + entryAt.from, layout.from - 4, layout.from)
    if (layout.from < layout.operator) bytes.copyWithin(entry + entryAt.to, layout.operator - 4, layout.operator)
    at += payloadAt + payload.length
  }
  return bytes
}

/** The last four bytes of each address: its beginning is chosen by some. */
export function packWallets(activity: PackedActivity): Uint8Array {
  const count = activityCount(activity)
  const bytes = new Uint8Array(4 * count)
  for (let row = 0; row < count; row++) {
    const end = row * rowBytes + addressBytes
    for (let byte = 0; byte < 4; byte++) bytes[4 * row + byte] = activity[end - 4 + byte]!
  }
  return bytes
}

/** Of objects, for a block with one part. */
const objectBytes = 300

/** About what a process that answers keeps of a block in memory. */
export function recentBytes(transfers: Uint8Array, wallets: Uint8Array): number {
  return objectBytes + hashBytes + transfers.length + wallets.length
}

/**
 * What is stored of a block; rows that came later for it are parts of their own. Hash, transfers and wallets follow
 * each other in memory that many parts share: a piece for each would take several times as much.
 */
export type BlockPart = {
  number: number
  part: number
  timestamp: number
  bytes: Uint8Array
  start: number
  walletsAt: number
  end: number
}

/** Of rows with number, part, hash, time and transfers, and with wallets where these are looked for. */
export function blockParts(stored: readonly unknown[][]): BlockPart[] {
  const pieces = stored.map(([, , hash, , transfers, wallets = noBytes]) => [hash, transfers, wallets] as Uint8Array[])
  const bytes = Buffer.concat(pieces.flat())
  let start = 0
  return stored.map(([number, part, , timestamp], at) => {
    const [hash, transfers, wallets] = pieces[at] as [Uint8Array, Uint8Array, Uint8Array]
    const walletsAt = start + hash.length + transfers.length
    const its = { number, part, timestamp, bytes, start, walletsAt, end: walletsAt + wallets.length } as BlockPart
    start = its.end
    return its
  })
}

const noBytes = new Uint8Array(0)

export function hashOf({ bytes, start }: BlockPart): Uint8Array {
  return bytes.subarray(start, start + hashBytes)
}

/** What is stored of the transfers of a part. */
function transfersOf({ bytes, start, walletsAt }: BlockPart): Uint8Array {
  return bytes.subarray(start + hashBytes, walletsAt)
}

// Records are derived without a pause: one serves all of a thread.
const key = new Uint8Array(keyBytes)

export class RecentBlock {
  readonly number: number
  readonly timestamp: number
  readonly parts: readonly BlockPart[]
  /** Where the transfers are. */
  readonly #bytes: Uint8Array
  readonly #start: number
  readonly length: number

  /** In the order of their numbers. */
  constructor(parts: readonly [BlockPart, ...BlockPart[]]) {
    const [first] = parts
    this.number = first.number
    this.timestamp = first.timestamp
    this.parts = parts
    const joined = parts.length === 1 ? undefined : packKeyed(parts.flatMap(part => keyedIn(transfersOf(part))))
    this.#bytes = joined ?? first.bytes
    this.#start = joined === undefined ? first.start + hashBytes : 0
    this.length = countIn(joined ?? transfersOf(first))
  }

  get hash(): Uint8Array {
    return hashOf(this.parts[0]!)
  }

  transferAt(at: number): NumberedTransfer {
    const bytes = this.#bytes
    const start = this.#startOf(at)
    return {
      contract: wordAt(bytes, start),
      ...positionOfKey(bytes.subarray(start, start + keyBytes)),
      payload: bytes.subarray(start + payloadAt, start + payloadAt + bytes[start + keyBytes]!),
    }
  }

  transfers(): NumberedTransfer[] {
    return Array.from({ length: this.length }, (_, at) => this.transferAt(at))
  }

  #entryOf(at: number): number {
    return this.#start + countBytes + entryBytes * at
  }

  #startOf(at: number): number {
    return this.#start + wordAt(this.#bytes, this.#entryOf(at) + entryAt.start)
  }

  /** Where the transfers of a contract begin and end. */
  rowsOf(contract: number): Interval {
    return { from: this.#firstOf(contract), to: this.#firstOf(contract + 1) - 1 }
  }

  #firstOf(contract: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (wordAt(this.#bytes, this.#startOf(middle)) < contract) low = middle + 1
      else high = middle
    }
    return low
  }

  /** As runs have it; undefined where there is none. */
  valueAt(contract: number, place: Uint8Array): Uint8Array | undefined {
    const { from, to } = this.rowsOf(contract)
    for (let at = from; at <= to; at++) {
      const start = this.#startOf(at)
      if (compareKeys(place, this.#bytes.subarray(start, start + keyBytes)) === 0)
        return transferValue(this, this.transferAt(at).payload).slice()
    }
    return undefined
  }

  /** An ERC-2309 range counts as many as its ids. */
  countOf(contract: number): number {
    const { from, to } = this.rowsOf(contract)
    let count = 0
    for (let at = from; at <= to; at++) count += idCountOf(this.transferAt(at).payload)
    return count
  }

  /** Whether a wallet may have been active; another with the same end is taken for it. */
  mayHaveActive(address: Uint8Array): boolean {
    const wanted = wordAt(address, addressBytes - 4)
    for (const { bytes, walletsAt, end } of this.parts)
      for (let at = walletsAt; at < end; at += 4) if (wordAt(bytes, at) === wanted) return true
    return false
  }

  /** Adds the records of its transfers that a walk wants, in any order. */
  addRecords({ view, contract, first, last, order, isOneSubject }: RecordsAsk, found: SortedRecords): void {
    const [low, high] = order === 'keys' ? [first, last] : [last, first]
    const add = (record: Uint8Array, value: Uint8Array): void => {
      if (compareKeys(record, low) >= 0 && compareKeys(record, high) <= 0) found.add(record, value)
    }
    const { from, to } = contract === undefined ? { from: 0, to: this.length - 1 } : this.rowsOf(contract)
    const party = view === byWallet && isOneSubject ? wordAt(first, addressBytes - 4) : undefined
    for (let at = from; at <= to; at++) {
      if (party !== undefined && !this.#mayHaveParty(at, party)) continue
      if (view === transferView) {
        const start = this.#startOf(at)
        key.set(this.#bytes.subarray(start, start + keyBytes))
        add(key, transferValue(this, this.transferAt(at).payload))
      } else (view as IndexView).recordsOf(this.transferAt(at), add)
    }
  }

  #mayHaveParty(at: number, end: number): boolean {
    const entry = this.#entryOf(at)
    return wordAt(this.#bytes, entry + entryAt.from) === end || wordAt(this.#bytes, entry + entryAt.to) === end
  }
}

/** For folding and copying, which need no wallets. */
export function recentBlock(stored: readonly unknown[][]): RecentBlock {
  const parts = blockParts(stored.map(columns => columns.slice(0, 5)))
  return new RecentBlock(parts as [BlockPart, ...BlockPart[]])
}

function countIn(transfers: Uint8Array): number {
  return transfers.length === 0 ? 0 : wordAt(transfers, 0)
}

function keyedIn(transfers: Uint8Array): Keyed[] {
  return Array.from({ length: countIn(transfers) }, (_, at) => {
    const start = wordAt(transfers, countBytes + entryBytes * at + entryAt.start)
    return {
      key: transfers.subarray(start, start + keyBytes),
      payload: transfers.subarray(start + payloadAt, start + payloadAt + transfers[start + keyBytes]!),
    }
  })
}

/** What is stored of a part without the transfers of a contract. */
export function withoutTransfersOf(
  transfers: Uint8Array,
  contract: number,
): { transfers: Uint8Array; removed: number } {
  const kept = keyedIn(transfers).filter(each => wordAt(each.key, 0) !== contract)
  return { transfers: packKeyed(kept), removed: countIn(transfers) - kept.length }
}
