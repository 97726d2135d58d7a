// Orders of the rows of a sheet beside that of its pages: made when they are first asked for, kept with the sheet, and
// of a sheet that is laid over another one carried over from there. It reads nothing.
import { inSteps, type Pace } from '../pace.ts'
import { smallRecords } from './fold-subject.ts'
import type { HoldingsAdmission, HoldingsAsker } from './holdings-admission.ts'
import type { Sheet } from './sheet.ts'

/** How a sheet follows from the one beneath it. */
export type Layer = {
  base: Sheet
  /** Where each row of the base is now, or `notCopied`. */
  copies: Uint32Array
  /** The rows that are not copied. */
  fresh: Uint32Array
  byteLength: number
}
export type Layered = { sheet: Sheet; layer?: Layer | undefined }

/** A row that has new ones in its place, or none. */
export const notCopied = 0xffff_ffff

type Carried = {
  /** Where a row is now, or `notCopied`. */
  follow: (row: number) => number
  /** In order. */
  added: Uint32Array
  isBefore: (row: number, other: number) => boolean
  pace: Pace
}

/** Rows that are still there stay in their order; few are put between them. */
export async function carriedOrder(
  order: Uint32Array,
  { follow, added, isBefore, pace }: Carried,
): Promise<Uint32Array> {
  const kept = new Uint32Array(order.length)
  let count = 0
  await inSteps(order.length, pace, at => {
    const row = follow(order[at]!)
    if (row !== notCopied) kept[count++] = row
  })
  const merged = new Uint32Array(count + added.length)
  let start = 0
  for (const [at, row] of added.entries()) {
    await pace.rest()
    let [end, high] = [start, count]
    while (end < high) {
      const middle = (end + high) >>> 1
      if (isBefore(row, kept[middle]!)) high = middle
      else end = middle + 1
    }
    merged.set(kept.subarray(start, end), start + at)
    merged[end + at] = row
    start = end
  }
  merged.set(kept.subarray(start, count), start + added.length)
  return merged
}

type Making<Order, Asked> = {
  name: string
  /** What each row takes while it is made. */
  rowBytes: number
  make: (sheet: Sheet, asked: Asked, pace: Pace) => Promise<Order>
  carry: (sheet: Sheet, from: Layer & { order: Order }, asked: Asked, pace: Pace) => Promise<Order>
}
type Asking = { admission: HoldingsAdmission; asker: HoldingsAsker }

/** Making one is work of its own: a million rows take a second or two. */
export class KeptOrders<Order, Asked> {
  readonly #kept = new WeakMap<Sheet, Order>()
  readonly #making: Making<Order, Asked>

  constructor(making: Making<Order, Asked>) {
    this.#making = making
  }

  async of({ sheet, layer }: Layered, asked: Asked, asking: Asking): Promise<Order> {
    const known = this.#kept.get(sheet)
    if (known !== undefined) return known
    const { name, rowBytes, make, carry } = this.#making
    const from = layer && { ...layer, order: await this.of({ sheet: layer.base }, asked, asking) }
    const { admission, asker } = asking
    const size = sheet.columns.length < smallRecords ? 'small' : 'large'
    return await admission.shared(`${name} ${sheet.id}`, asker, size, async work => {
      work.hold(sheet)
      work.takes(sheet.columns.length * rowBytes)
      if (from !== undefined) work.hold(from.base)
      const order = await (from ? carry(sheet, from, asked, work.pace) : make(sheet, asked, work.pace))
      this.#kept.set(sheet, order)
      return order
    })
  }
}
