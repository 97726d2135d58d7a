// Sorts numbers of rows by a word of each in linear time: a comparison sort of a million takes ten times as long. Pure.
import type { Pace } from '../pace.ts'

/** More would leave the processor's first cache. */
const digitBits = 11
const digits = 1 << digitBits
/** Fewer are sorted by comparing. */
export const radixRowsMin = 5_000

/** Rows by rising `words[row]`; those with the same word are sorted by comparing. */
export async function sortedByWord(
  rows: Uint32Array,
  { words, sortEqual, pace }: { words: Uint32Array; sortEqual: (rows: Uint32Array) => Uint32Array; pace: Pace },
): Promise<Uint32Array> {
  await pace.rest()
  const compared = rows.length < radixRowsMin ? rows.slice().sort((a, b) => words[a]! - words[b]!) : undefined
  const order = compared ?? (await sortedByDigits(rows, words, pace))
  await pace.rest()
  for (let from = 0, runs = 0; from < order.length; runs++) {
    let to = from + 1
    while (to < order.length && words[order[to]!] === words[order[from]!]) to++
    if (to - from > 1) order.set(sortEqual(order.subarray(from, to)), from)
    from = to
    if (runs % 256 === 0) await pace.rest()
  }
  return order
}

/** By the lowest digit first: a pass keeps the order of the one before. */
async function sortedByDigits(rows: Uint32Array, words: Uint32Array, pace: Pace): Promise<Uint32Array> {
  const count = rows.length
  let [order, keys] = [rows, new Uint32Array(count)]
  for (let at = 0; at < count; at++) keys[at] = words[rows[at]!]!
  let [nextOrder, nextKeys] = [new Uint32Array(count), new Uint32Array(count)]
  for (let shift = 0; shift < 32; shift += digitBits) {
    const starts = new Uint32Array(digits + 1)
    for (let at = 0; at < count; at++) starts[((keys[at]! >>> shift) & (digits - 1)) + 1]!++
    for (let digit = 1; digit <= digits; digit++) starts[digit]! += starts[digit - 1]!
    for (let at = 0; at < count; at++) {
      const to = starts[(keys[at]! >>> shift) & (digits - 1)]!++
      nextOrder[to] = order[at]!
      nextKeys[to] = keys[at]!
    }
    const free: [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>] =
      shift === 0 ? [new Uint32Array(count), keys] : [order as Uint32Array<ArrayBuffer>, keys]
    ;[order, keys] = [nextOrder, nextKeys]
    ;[nextOrder, nextKeys] = free
    await pace.rest()
  }
  return order
}
