// The holders of an ERC-20 token by what they have: the largest first, those with the same in the order of their
// addresses. It is made of a sheet and kept with it. No reading.
import { randomInt } from 'node:crypto'
import { inSteps, type Pace } from '../pace.ts'
import { carriedOrder, KeptOrders, type Layer, notCopied } from './orders.ts'
import type { HolderKey, HolderRow } from './questions.ts'
import { rowFlags, type Sheet } from './sheet.ts'
import { sortedByWord } from './sort-by-word.ts'

export type AmountOrder = {
  /** Rows of the sheet. */
  order: Uint32Array
  /** Of what all of them have. */
  sum: bigint
}

export const amountOrders = new KeptOrders<AmountOrder, undefined>({
  name: 'amounts',
  // The rows and their words twice, the order of the addresses, the row of each party, amounts.
  rowBytes: 72,
  make: (sheet, _, pace) => makeOrder(sheet, pace),
  carry: (sheet, from, _, pace) => carriedAmountOrder(sheet, from, pace),
})

const limbBytes = 8
const limbBits = 64n
const limbDigits = 16

/** The first place in the order behind a holder, whether it is still there or not. */
export function placeBehind(sheet: Sheet, { order }: AmountOrder, key: HolderKey, smallestFirst: boolean): number {
  let [low, high] = [0, order.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const difference = compare(sheet, order[middle]!, key)
    if (difference > 0 || (difference === 0 && smallestFirst)) high = middle
    else low = middle + 1
  }
  return low
}

export function holderAt(sheet: Sheet, row: number): HolderRow {
  return { owner: sheet.addresses.addressOf(sheet.columns.parties[row]!), amount: sheet.amountOf(row) }
}

function keyAt(sheet: Sheet, row: number): HolderKey {
  const { owner: address, amount } = holderAt(sheet, row)
  return { address, amount }
}

/** At random, each once: the maker of a token must not know which are checked. */
export function sampleOf({ order }: AmountOrder, count: number): number[] {
  if (order.length <= count) return [...order]
  const places = new Set<number>()
  while (places.size < count) places.add(randomInt(order.length))
  return [...places].map(place => order[place]!)
}

/** Negative where the row comes before. */
function compare(sheet: Sheet, row: number, { amount, address }: HolderKey): number {
  const held = sheet.amountOf(row)
  if (held !== amount) return held > amount ? -1 : 1
  const holder = sheet.addresses.addressOf(sheet.columns.parties[row]!)
  return holder === address ? 0 : holder < address ? -1 : 1
}

/**
 * Each pass keeps the order of the one before, so the last word of the amounts comes first and the addresses before
 * it. No pass compares rows: the maker of a token chooses its amounts.
 */
async function makeOrder(sheet: Sheet, pace: Pace): Promise<AmountOrder> {
  const { length, flags } = sheet.columns
  let [sum, largest] = [0n, 0n]
  await inSteps(length, pace, row => {
    if (flags[row]! & rowFlags.impossible) return
    const amount = sheet.amountOf(row)
    sum += amount
    if (amount > largest) largest = amount
  })
  let order: Uint32Array = new Uint32Array(sheet.parties)
  const rowOf = await rowsByParty(sheet, pace)
  const ascending = await sheet.ascendingParties()
  await inSteps(ascending.length, pace, at => {
    order[at] = rowOf[ascending[at]!]! - 1
  })
  const limbs = Math.ceil(largest.toString(16).length / limbDigits)
  const column = new DataView(new ArrayBuffer(length * limbs * limbBytes))
  // Once, in the order of the rows: each pass looks them up in another one, and amounts lie far apart in memory.
  await inSteps(length, pace, row => {
    let rest = sheet.amountOf(row)
    for (let limb = 0; limb < limbs; limb++, rest >>= limbBits)
      column.setBigUint64((row * limbs + limb) * limbBytes, BigInt.asUintN(64, rest), true)
  })
  const words = new Uint32Array(length)
  for (let at = 0; at < limbs * limbBytes; at += Uint32Array.BYTES_PER_ELEMENT) {
    await inSteps(order.length, pace, place => {
      const row = order[place]!
      words[row] = ~column.getUint32(row * limbs * limbBytes + at, true)
    })
    order = await sortedByWord(order, { words, sortEqual: equal => equal, pace })
  }
  return { order, sum }
}

async function carriedAmountOrder(
  sheet: Sheet,
  { base, copies, fresh, order: before }: Layer & { order: AmountOrder },
  pace: Pace,
): Promise<AmountOrder> {
  let { sum } = before
  const added = fresh
    .filter(row => (sheet.columns.flags[row]! & rowFlags.impossible) === 0)
    .sort((a, b) => compare(sheet, a, keyAt(sheet, b)))
  for (const row of added) sum += sheet.amountOf(row)
  const follow = (row: number): number => {
    if (copies[row] === notCopied) sum -= base.amountOf(row)
    return copies[row]!
  }
  const isBefore = (row: number, other: number): boolean => compare(sheet, row, keyAt(sheet, other)) < 0
  return { order: await carriedOrder(before.order, { follow, added, isBefore, pace }), sum }
}

/** The row of each party, plus one: a token of ERC-20 has one row for each. 0: it has none, or holds nothing. */
export async function rowsByParty({ columns, addresses }: Sheet, pace: Pace): Promise<Uint32Array> {
  const { length, parties } = columns
  const rows = new Uint32Array(addresses.length)
  await inSteps(length, pace, row => {
    rows[parties[row]!] = row + 1
  })
  return rows
}
