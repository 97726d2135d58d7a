// The tokens of a contract in the order of their hashes, greatest first: the newest row of each. Ids of ERC-2309 ranges
// have no place in it: there may be billions. It reads nothing.
import { hash } from 'node:crypto'
import { putMd5 } from '../../md5.ts'
import type { Address } from '../../model.ts'
import { inSteps, type Pace } from '../pace.ts'
import { carriedOrder, KeptOrders, type Layer, notCopied } from './orders.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { sortedByWord } from './sort-by-word.ts'

/** Hashes below `below`, and not below `from`. */
export type HashBounds = { below: string | undefined; from: string | undefined }

export const hashOrders = new KeptOrders<Uint32Array, Address>({
  name: 'hashes',
  // The rows, their words, and the room to sort both.
  rowBytes: 24,
  make: newHashOrder,
  carry: carriedHashOrder,
})

export function tokenHash(contract: Address, tokenId: bigint): string {
  return hash('md5', `${contract}${tokenId}`, 'hex')
}

/** What an order has within bounds. */
export function hashStretch(
  sheet: Sheet,
  order: Uint32Array,
  contract: Address,
  { below, from }: HashBounds,
): Uint32Array {
  const firstBelow = (bound: string): number => {
    let [low, high] = [0, order.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (tokenHash(contract, sheet.idOf(order[middle]!)) < bound) high = middle
      else low = middle + 1
    }
    return low
  }
  return order.subarray(below === undefined ? 0 : firstBelow(below), from === undefined ? undefined : firstBelow(from))
}

export async function newHashOrder(sheet: Sheet, contract: Address, pace: Pace): Promise<Uint32Array> {
  const firstWord = firstWordsOf(contract)
  const { length } = sheet.columns
  const rows = new Uint32Array(length)
  const words = new Uint32Array(length)
  let count = 0
  for (let first = 0, next = 0; first < length; first = next) {
    next = sheet.nextToken(first)
    const row = sheet.newestRow(first)
    if (!isHashed(sheet, row)) continue
    rows[count++] = row
    words[row] = ~firstWord(sheet.idOf(row))
    if (count % 512 === 0) await pace.rest()
  }
  return await sortedByWord(rows.subarray(0, count), { words, sortEqual: byHash(sheet, contract), pace })
}

/** Of a token that moved, another one of its rows may be the newest. */
async function carriedHashOrder(
  sheet: Sheet,
  { base, copies, fresh, order }: Layer & { order: Uint32Array },
  contract: Address,
  pace: Pace,
): Promise<Uint32Array> {
  const moved = new Set<bigint>()
  for (const row of fresh) if (!sheet.isRange(row)) moved.add(sheet.idOf(row))
  await inSteps(copies.length, pace, row => {
    if (copies[row] === notCopied && !base.isRange(row)) moved.add(base.idOf(row))
  })
  const newestIn = (each: Sheet): number[] =>
    [...moved].flatMap(tokenId => {
      const first = each.rowWith(tokenId)
      const row = first === undefined ? undefined : each.newestRow(first)
      return row === undefined || !isHashed(each, row) ? [] : [row]
    })
  const gone = new Set(newestIn(base))
  const added = byHash(sheet, contract)(Uint32Array.from(newestIn(sheet)))
  const firstWord = firstWordsOf(contract)
  const isBefore = (row: number, other: number): boolean => {
    const [id, otherId] = [sheet.idOf(row), sheet.idOf(other)]
    const difference = firstWord(id) - firstWord(otherId)
    return difference === 0 ? tokenHash(contract, id) > tokenHash(contract, otherId) : difference > 0
  }
  const follow = (row: number): number => (gone.has(row) ? notCopied : copies[row]!)
  return await carriedOrder(order, { follow, added, isBefore, pace })
}

function isHashed({ columns: { flags } }: Sheet, row: number): boolean {
  return (flags[row]! & (rowFlags.range | rowFlags.impossible)) === 0
}

function byHash(sheet: Sheet, contract: Address): (rows: Uint32Array) => Uint32Array {
  return rows => {
    const hashes = new Map([...rows].map(row => [row, tokenHash(contract, sheet.idOf(row))]))
    return rows.slice().sort((a, b) => (hashes.get(a)! > hashes.get(b)! ? -1 : 1))
  }
}

/** Of the hashes of a contract's tokens the first 32 bits, which order all but a few of them. */
function firstWordsOf(contract: Address): (tokenId: bigint) => number {
  const bytes = Buffer.alloc(256)
  const message = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const digest = new DataView(new ArrayBuffer(16))
  const idAt = bytes.write(contract, 'latin1')
  return tokenId => {
    putMd5(digest, 0, message, idAt + bytes.write(`${tokenId}`, idAt, 'latin1'))
    return digest.getUint32(0)
  }
}
