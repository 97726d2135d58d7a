// The tokens of a contract in the order of their hashes, greatest first. Ids of ERC-2309 ranges have no place in it:
// there may be billions. It is made of a sheet of final blocks and kept with it: only tokens that moved since are
// looked at for each page.
import { hash } from 'node:crypto'
import { putMd5 } from '../../md5.ts'
import type { Address } from '../../model.ts'
import { Pace } from '../pace.ts'
import { smallRecords } from './fold-subject.ts'
import type { HoldingsAdmission, HoldingsAsker } from './holdings-admission.ts'
import { rowWith } from './patch-sheet.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import type { FoundSheet } from './sheets.ts'
import { sortedByWord } from './sort-by-word.ts'

export type HashedToken = { tokenHash: string; tokenId: bigint; row: number }
/** Hashes below `below`, and not below `from`. */
export type HashBounds = { below: string | undefined; from: string | undefined }

const orders = new WeakMap<Sheet, Uint32Array>()
/** While it is made: the rows, their words, and the room to sort both. */
const makingRowBytes = 24

export function tokenHash(contract: Address, tokenId: bigint): string {
  return hash('md5', `${contract}${tokenId}`, 'hex')
}

/** Up to `limit` tokens within bounds, and a count of all of them. */
export async function hashedTokens(
  { sheet, patch }: FoundSheet,
  contract: Address,
  { below, from, limit }: HashBounds & { limit: number },
): Promise<{ tokens: HashedToken[]; count: number }> {
  const base = patch?.base ?? sheet
  const order = await orderOf(base, contract)
  const hashAt = (at: number): string => tokenHash(contract, base.idOf(order[at]!))
  const start = below === undefined ? 0 : firstBelow(order.length, hashAt, below)
  const end = from === undefined ? order.length : firstBelow(order.length, hashAt, from)
  const moved = new Set(patch?.tokenIds)
  const isWithin = (each: string): boolean =>
    (below === undefined || each < below) && (from === undefined || each >= from)
  const movedWithin = [...moved]
    .map(tokenId => ({ tokenId, tokenHash: tokenHash(contract, tokenId) }))
    .filter(each => isWithin(each.tokenHash))
  const news = movedWithin.flatMap(token => singleIn(sheet, token)).sort((a, b) => (a.tokenHash > b.tokenHash ? -1 : 1))
  const gone = movedWithin.filter(token => singleIn(base, token).length > 0).length
  const tokens: HashedToken[] = []
  for (let at = start, next = 0; tokens.length < limit && (at < end || next < news.length); ) {
    const tokenId = at < end ? base.idOf(order[at]!) : -1n
    if (moved.has(tokenId)) {
      at++
      continue
    }
    const older = at < end ? tokenHash(contract, tokenId) : ''
    if (next < news.length && news[next]!.tokenHash > older) tokens.push(news[next++]!)
    else {
      const row = base === sheet ? order[at]! : sheet.newestRow(rowWith(sheet, tokenId)!)
      tokens.push({ tokenHash: older, tokenId, row })
      at++
    }
  }
  return { tokens, count: Math.max(0, end - start) - gone + news.length }
}

/** The newest row of each token within bounds. */
export async function hashOrder(sheet: Sheet, contract: Address, { below, from }: HashBounds): Promise<Uint32Array> {
  const order = await orderOf(sheet, contract)
  const hashAt = (at: number): string => tokenHash(contract, sheet.idOf(order[at]!))
  const start = below === undefined ? 0 : firstBelow(order.length, hashAt, below)
  const end = from === undefined ? order.length : firstBelow(order.length, hashAt, from)
  return order.subarray(start, end)
}

function singleIn(sheet: Sheet, token: { tokenId: bigint; tokenHash: string }): HashedToken[] {
  const first = rowWith(sheet, token.tokenId)
  if (first === undefined) return []
  const row = sheet.newestRow(first)
  return sheet.columns.flags[row]! & (rowFlags.range | rowFlags.impossible) ? [] : [{ ...token, row }]
}

function firstBelow(length: number, hashAt: (at: number) => string, bound: string): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (hashAt(middle) < bound) high = middle
    else low = middle + 1
  }
  return low
}

/** Makes the order of a sheet before it is needed, as work of its own: a million tokens take a second. */
export async function admitHashOrder(
  admission: HoldingsAdmission,
  asker: HoldingsAsker,
  sheet: Sheet,
  contract: Address,
): Promise<void> {
  if (orders.has(sheet)) return
  const size = sheet.columns.length < smallRecords ? 'small' : 'large'
  await admission.shared(`hashes ${sheet.id}`, asker, size, async work => {
    work.hold(sheet)
    work.takes(sheet.columns.length * makingRowBytes)
    orders.set(sheet, await makeOrder(sheet, contract, work.pace))
  })
}

async function orderOf(sheet: Sheet, contract: Address): Promise<Uint32Array> {
  const known = orders.get(sheet)
  if (known !== undefined) return known
  const order = await makeOrder(sheet, contract, new Pace())
  orders.set(sheet, order)
  return order
}

/** The newest row of each token. */
async function makeOrder(sheet: Sheet, contract: Address, pace: Pace): Promise<Uint32Array> {
  const firstWord = firstWordsOf(contract)
  const { length, flags } = sheet.columns
  const rows = new Uint32Array(length)
  const words = new Uint32Array(length)
  let count = 0
  for (let first = 0, next = 0; first < length; first = next) {
    next = sheet.nextToken(first)
    const row = sheet.newestRow(first)
    if (flags[row]! & (rowFlags.range | rowFlags.impossible)) continue
    rows[count++] = row
    words[row] = ~firstWord(sheet.idOf(row))
    if (count % 512 === 0) await pace.rest()
  }
  const sortEqual = (equal: Uint32Array): Uint32Array => {
    const hashes = new Map([...equal].map(row => [row, tokenHash(contract, sheet.idOf(row))]))
    return equal.slice().sort((a, b) => (hashes.get(a)! > hashes.get(b)! ? -1 : 1))
  }
  return await sortedByWord(rows.subarray(0, count), { words, sortEqual, pace })
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
