// A recent block as it is stored, and as a process that answers keeps it: its transfers in the order of their keys, and
// four bytes of each wallet that was active. Index records are derived from the transfers, never stored. Pure.
//
// A stored transfer is its key (`transferKey`), the length of its payload in one byte, and the payload.
import type { Interval } from '../../model.ts'
import { byWallet } from '../indexes/by-wallet.ts'
import type { IndexView } from '../indexes/index-view.ts'
import type { SortedRecords } from '../indexes/sorted-records.ts'
import { activityCount, type PackedActivity, rowBytes } from '../packed-activity.ts'
import { compareKeys } from '../runs/pack.ts'
import { wordAt } from '../runs/place-key.ts'
import { positionOfKey, transferKey, transferValue, transferView } from '../runs/transfer-view.ts'
import type { StoredTransfer } from '../runs/view.ts'
import { idCountOf, layOut, newLayout } from '../transfer-payload.ts'
import type { RecordsAsk } from './work.ts'

const { keyBytes } = transferView
const payloadAt = keyBytes + 1
const addressBytes = 20

/** Transfers of one block in any order. Of those at one place the first counts. */
export function packTransfers(transfers: readonly StoredTransfer[]): Uint8Array {
  const keyed = transfers.map(transfer => ({
    key: transferKey(transfer.contract, transfer),
    payload: transfer.payload,
  }))
  return packKeyed(keyed)
}

type Keyed = { key: Uint8Array; payload: Uint8Array }

function packKeyed(keyed: readonly Keyed[]): Uint8Array {
  const sorted = keyed.toSorted((a, b) => compareKeys(a.key, b.key))
  const distinct = sorted.filter(({ key }, at) => at === 0 || compareKeys(sorted[at - 1]!.key, key) !== 0)
  const bytes = new Uint8Array(distinct.reduce((sum, { payload }) => sum + payloadAt + payload.length, 0))
  let at = 0
  for (const { key, payload } of distinct) {
    bytes.set(key, at)
    bytes[at + keyBytes] = payload.length
    bytes.set(payload, at + payloadAt)
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

/** What is stored of a block; rows that came later for it are parts of their own. */
export type BlockPart = {
  number: number
  part: number
  hash: Uint8Array
  timestamp: number
  transfers: Uint8Array
  wallets: Uint8Array
}

const layout = newLayout()
// Records are derived without a pause: one serves all of a thread.
const key = new Uint8Array(keyBytes)

export class RecentBlock {
  readonly number: number
  readonly hash: Uint8Array
  readonly timestamp: number
  readonly parts: readonly BlockPart[]
  readonly #transfers: Uint8Array
  /** Where each transfer begins. */
  readonly #starts: Uint32Array
  readonly #wallets: readonly Uint8Array[]
  /** The ends of the addresses of both parties of each transfer. */
  #parties: Uint32Array | undefined

  /** In the order of their numbers. */
  constructor(parts: readonly [BlockPart, ...BlockPart[]]) {
    const [{ number, hash, timestamp, transfers }] = parts
    this.number = number
    this.hash = hash
    this.timestamp = timestamp
    this.parts = parts
    this.#transfers = parts.length === 1 ? transfers : packKeyed(parts.flatMap(part => keyedIn(part.transfers)))
    this.#starts = startsIn(this.#transfers)
    this.#wallets = parts.map(({ wallets }) => wallets).filter(wallets => wallets.length > 0)
  }

  get length(): number {
    return this.#starts.length
  }

  /** About what it takes in memory. */
  get bytes(): number {
    return 600 + this.#transfers.length + 12 * this.length + this.#wallets.reduce((sum, { length }) => sum + length, 0)
  }

  transferAt(at: number): StoredTransfer {
    const start = this.#starts[at]!
    const bytes = this.#transfers
    return {
      contract: wordAt(bytes, start),
      ...positionOfKey(bytes.subarray(start, start + keyBytes)),
      payload: bytes.subarray(start + payloadAt, start + payloadAt + bytes[start + keyBytes]!),
    }
  }

  transfers(): StoredTransfer[] {
    return Array.from({ length: this.length }, (_, at) => this.transferAt(at))
  }

  /** Where the transfers of a contract begin and end. */
  rowsOf(contract: number): Interval {
    return { from: this.#firstOf(contract), to: this.#firstOf(contract + 1) - 1 }
  }

  #firstOf(contract: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (wordAt(this.#transfers, this.#starts[middle]!) < contract) low = middle + 1
      else high = middle
    }
    return low
  }

  /** As runs have it; undefined where there is none. */
  valueAt(contract: number, place: Uint8Array): Uint8Array | undefined {
    const { from, to } = this.rowsOf(contract)
    for (let at = from; at <= to; at++) {
      const start = this.#starts[at]!
      if (compareKeys(place, this.#transfers.subarray(start, start + keyBytes)) === 0)
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
    const end = address.subarray(addressBytes - 4)
    return this.#wallets.some(wallets => {
      for (let at = 0; at < wallets.length; at += 4)
        if (
          wallets[at] === end[0] &&
          wallets[at + 1] === end[1] &&
          wallets[at + 2] === end[2] &&
          wallets[at + 3] === end[3]
        )
          return true
      return false
    })
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
      if (party !== undefined && !this.#isParty(at, party)) continue
      if (view === transferView) {
        const start = this.#starts[at]!
        key.set(this.#transfers.subarray(start, start + keyBytes))
        add(key, transferValue(this, this.transferAt(at).payload))
      } else (view as IndexView).recordsOf(this.transferAt(at), add)
    }
  }

  #isParty(at: number, end: number): boolean {
    this.#parties ??= this.#partyEnds()
    return this.#parties[2 * at] === end || this.#parties[2 * at + 1] === end
  }

  /** The zero address, which is left out of payloads, is no party of a record. */
  #partyEnds(): Uint32Array {
    const ends = new Uint32Array(2 * this.length)
    for (let at = 0; at < this.length; at++) {
      layOut(this.#transfers, this.#starts[at]! + payloadAt, layout)
      if (layout.to < layout.from) ends[2 * at] = wordAt(this.#transfers, layout.from - 4)
      if (layout.from < layout.operator) ends[2 * at + 1] = wordAt(this.#transfers, layout.operator - 4)
    }
    return ends
  }
}

/** Of rows with number, part, hash, time and transfers; who folds or copies a block needs no wallets. */
export function recentBlock(parts: readonly unknown[][]): RecentBlock {
  const stored = parts.map(([number, part, hash, timestamp, transfers]) => ({
    ...{ number, part, hash, timestamp, transfers, wallets: new Uint8Array(0) },
  }))
  return new RecentBlock(stored as [BlockPart, ...BlockPart[]])
}

function startsIn(transfers: Uint8Array): Uint32Array {
  const starts: number[] = []
  for (let at = 0; at < transfers.length; at += payloadAt + transfers[at + keyBytes]!) starts.push(at)
  return Uint32Array.from(starts)
}

function keyedIn(transfers: Uint8Array): Keyed[] {
  return Array.from(startsIn(transfers), start => ({
    key: transfers.subarray(start, start + keyBytes),
    payload: transfers.subarray(start + payloadAt, start + payloadAt + transfers[start + keyBytes]!),
  }))
}

/** What is stored of a part without the transfers of a contract. */
export function withoutContract(transfers: Uint8Array, contract: number): { transfers: Uint8Array; removed: number } {
  const kept = keyedIn(transfers).filter(each => wordAt(each.key, 0) !== contract)
  return { transfers: packKeyed(kept), removed: startsIn(transfers).length - kept.length }
}
