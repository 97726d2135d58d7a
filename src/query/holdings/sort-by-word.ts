// Sorts numbers of rows by a word of each in linear time: a comparison sort of a million takes ten times as long. Pure.
import { inSteps, type Pace } from '../pace.ts'

/** More would leave the processor's first cache. */
const digitBits = 11
const digits = 1 << digitBits
/** Fewer are sorted by comparing. */
export const radixRowsMin = 5_000

/** Rows by rising `words[row]`; those with the same word are sorted by comparing. The memory of `rows` is used. */
export async function sortedByWord(
  rows: Uint32Array,
  { words, sortEqual, pace }: { words: Uint32Array; sortEqual: (rows: Uint32Array) => Uint32Array; pace: Pace },
): Promise<Uint32Array> {
  await pace.rest()
  const { order, keys } = await (rows.length < radixRowsMin ? compared(rows, words) : sortedByDigits(rows, words, pace))
  await pace.rest()
  // A collection with hundreds of transfers in a block has hundreds of rows to compare for each.
  for (let from = 0, compared = 0; from < order.length; ) {
    let to = from + 1
    while (to < order.length && keys[to] === keys[from]) to++
    if (to - from > 1) order.set(sortEqual(order.subarray(from, to)), from)
    compared += to - from
    from = to
    if (compared < rowsPerRest) continue
    compared = 0
    await pace.rest()
  }
  return order
}

/** Rows with their words, which are not looked up again: they lie far apart. */
type Sorted = { order: Uint32Array; keys: Uint32Array }

function compared(rows: Uint32Array, words: Uint32Array): Sorted {
  const order = rows.sort((a, b) => words[a]! - words[b]!)
  return { order, keys: order.map(row => words[row]!) }
}

const rowsPerRest = 512

/** By the lowest digit first: a pass keeps the order of the one before. */
async function sortedByDigits(rows: Uint32Array, words: Uint32Array, pace: Pace): Promise<Sorted> {
  const count = rows.length
  let [order, keys]: [Uint32Array, Uint32Array] = [rows, new Uint32Array(count)]
  await inSteps(count, pace, at => {
    keys[at] = words[rows[at]!]!
  })
  let [nextOrder, nextKeys]: [Uint32Array, Uint32Array] = [new Uint32Array(count), new Uint32Array(count)]
  for (let shift = 0; shift < 32; shift += digitBits) {
    const starts = new Uint32Array(digits + 1)
    const from = keys
    await inSteps(count, pace, at => {
      starts[((from[at]! >>> shift) & (digits - 1)) + 1]!++
    })
    // All blocks of a collection may share their high digits.
    if (starts.includes(count)) continue
    for (let digit = 1; digit <= digits; digit++) starts[digit]! += starts[digit - 1]!
    const [rowsNow, rowsNext, keysNext] = [order, nextOrder, nextKeys]
    await inSteps(count, pace, at => {
      const to = starts[(from[at]! >>> shift) & (digits - 1)]!++
      rowsNext[to] = rowsNow[at]!
      keysNext[to] = from[at]!
    })
    ;[order, nextOrder, keys, nextKeys] = [nextOrder, order, nextKeys, keys]
    await pace.rest()
  }
  return { order, keys }
}
