// Writes hex, numbers, times and short texts into a buffer of JSON. It escapes nothing: what it writes needs no escape.

const hexDigits = Buffer.from('0123456789abcdef')

/**
 * The four hex digits of every two bytes, little-endian. Measured on the 400 fields of a page of 100 transfers: 20 µs
 * with this table, 37 µs with one of 256 pairs, 32 µs with Buffer.hexSlice over the page and copies out of it.
 */
const hexQuads = Uint32Array.from({ length: 65_536 }, (_, two) => {
  const low = two & 255
  const high = two >> 8
  return (
    (hexDigits[low >> 4]! |
      (hexDigits[low & 15]! << 8) |
      (hexDigits[high >> 4]! << 16) |
      (hexDigits[high & 15]! << 24)) >>>
    0
  )
})

/** `length` is a multiple of four, as for every address and hash. */
export function putHex(out: DataView, at: number, source: DataView, start: number, length: number): void {
  for (let index = 0; index < length; index += 4) {
    const four = source.getUint32(start + index, true)
    out.setUint32(at + index * 2, hexQuads[four & 0xffff]!, true)
    out.setUint32(at + index * 2 + 4, hexQuads[four >>> 16]!, true)
  }
}

export function hexAt(source: Buffer, start: number, length: number): string {
  return source.toString('hex', start, start + length)
}

/** Returns where the text ends. */
export function putAscii(out: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) out[at + index] = text.charCodeAt(index)
  return at + text.length
}

/** A larger group of decimal digits would not fit the integers that the machine divides fast. */
const groupSize = 1_000_000_000
const groupDigits = 9
const limbs = new Uint16Array(16)
const groups = new Uint32Array(groupDigits)

/**
 * A big-endian integer of up to 32 bytes as decimal text. Returns where the text ends. Long division takes 138 ns for
 * an amount of wei in 8 bytes, against 483 ns through a BigInt and its text.
 */
export function putDecimal(out: Uint8Array, at: number, source: Uint8Array, start: number, length: number): number {
  if (length <= 3) {
    let value = 0
    for (let index = start; index < start + length; index++) value = (value << 8) | source[index]!
    return putWhole(out, at, value)
  }
  let limbCount = 0
  let index = start
  if (length % 2 === 1) limbs[limbCount++] = source[index++]!
  for (; index < start + length; index += 2) limbs[limbCount++] = (source[index]! << 8) | source[index + 1]!
  let groupCount = 0
  for (let first = 0; first < limbCount; ) {
    let rest = 0
    for (let limb = first; limb < limbCount; limb++) {
      const value = rest * 65_536 + limbs[limb]!
      const quotient = Math.floor(value / groupSize)
      limbs[limb] = quotient
      rest = value - quotient * groupSize
    }
    groups[groupCount++] = rest
    while (first < limbCount && limbs[first] === 0) first++
  }
  let end = putWhole(out, at, groups[groupCount - 1]!)
  for (let group = groupCount - 2; group >= 0; group--) {
    putDigits(out, end, groups[group]!, groupDigits)
    end += groupDigits
  }
  return end
}

/** A whole number up to 2^53; returns where the text ends. */
export function putNumber(out: Uint8Array, at: number, value: number): number {
  if (value < groupSize) return putWhole(out, at, value)
  const groupsAbove = Math.floor(value / groupSize)
  const end = putNumber(out, at, groupsAbove)
  putDigits(out, end, value - groupsAbove * groupSize, groupDigits)
  return end + groupDigits
}

/** A number below 2^31, without leading zeros. */
function putWhole(out: Uint8Array, at: number, value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit && digits < 10; limit *= 10) digits++
  putDigits(out, at, value, digits)
  return at + digits
}

function putDigits(out: Uint8Array, at: number, value: number, digits: number): void {
  let rest = value | 0
  for (let index = at + digits - 1; index >= at; index--) {
    const tenth = (rest / 10) | 0
    out[index] = 48 + rest - tenth * 10
    rest = tenth
  }
}

export const secondsPerDay = 86_400
/** The last second of the year 9999. */
export const timestampMax = 253_402_300_799

/** `HH:MM:SS` of a moment in unix seconds. */
export function putTime(out: Uint8Array, at: number, seconds: number): void {
  const ofDay = seconds % secondsPerDay
  const minutes = (ofDay / 60) | 0
  putTwoDigits(out, at, (minutes / 60) | 0)
  putTwoDigits(out, at + 3, minutes % 60)
  putTwoDigits(out, at + 6, ofDay % 60)
}

/** `YYYY-MM-DD` of a day counted from 1970-01-01, by the civil calendar in eras of 400 years that start in March. */
export function putDate(out: Uint8Array, at: number, day: number): void {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = ((ofEra - ((ofEra / 1_460) | 0) + ((ofEra / 36_524) | 0) - ((ofEra / 146_096) | 0)) / 365) | 0
  const ofYear = ofEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  const marchMonth = ((5 * ofYear + 2) / 153) | 0
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  putDigits(out, at, year, 4)
  putTwoDigits(out, at + 5, month)
  putTwoDigits(out, at + 8, ofYear - (((153 * marchMonth + 2) / 5) | 0) + 1)
}

function putTwoDigits(out: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0
  out[at] = 48 + tens
  out[at + 1] = 48 + value - tens * 10
}
