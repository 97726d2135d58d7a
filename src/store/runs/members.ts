// Which contracts a run has, by their numbers: a page opens no other run. Few numbers are kept as a list, many as bits.
// Pure.

export const listForm = 0
const bitForm = 1
const headerBytes = 5

/** Numbers in ascending order. */
export function packMembers(numbers: readonly number[]): Uint8Array {
  const [first = 0, last = -1] = [numbers[0], numbers.at(-1)]
  const bitBytes = Math.ceil((last - first + 1) / 8)
  const isList = numbers.length * 4 < bitBytes
  const bytes = Buffer.alloc(headerBytes + (isList ? numbers.length * 4 : bitBytes))
  bytes[0] = isList ? listForm : bitForm
  bytes.writeUInt32BE(first, 1)
  for (const [at, number] of numbers.entries())
    if (isList) bytes.writeUInt32BE(number, headerBytes + at * 4)
    else bytes[headerBytes + ((number - first) >>> 3)]! |= 1 << ((number - first) & 7)
  return bytes
}

export function hasMember(bytes: Uint8Array, number: number): boolean {
  const view = viewOf(bytes)
  const first = view.getUint32(1)
  if (number < first) return false
  if (bytes[0] === bitForm) {
    const at = headerBytes + ((number - first) >>> 3)
    return at < bytes.length && ((bytes[at]! >>> ((number - first) & 7)) & 1) === 1
  }
  let [low, high] = [0, (bytes.length - headerBytes) / 4 - 1]
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = view.getUint32(headerBytes + middle * 4)
    if (found === number) return true
    if (found < number) low = middle + 1
    else high = middle - 1
  }
  return false
}

export function joinMembers(parts: readonly Uint8Array[]): Uint8Array {
  const filled = parts.filter(({ length }) => length > headerBytes)
  const first = Math.min(...filled.map(part => viewOf(part).getUint32(1)))
  const last = Math.max(...filled.map(lastMemberAtMost))
  if (filled.length === 0) return packMembers([])
  const bits = new Uint8Array(((last - first) >>> 3) + 2)
  for (const part of filled) {
    const view = viewOf(part)
    if (part[0] === listForm)
      for (let at = headerBytes; at < part.length; at += 4) {
        const bit = view.getUint32(at) - first
        bits[bit >>> 3]! |= 1 << (bit & 7)
      }
    else {
      const bit = view.getUint32(1) - first
      const [byte, shift] = [(bit >>> 3) - headerBytes, bit & 7]
      for (let at = headerBytes; at < part.length; at++) {
        bits[byte + at]! |= part[at]! << shift
        bits[byte + at + 1]! |= part[at]! >>> (8 - shift)
      }
    }
  }
  const numbers: number[] = []
  for (let at = 0; at < bits.length; at++)
    for (let byte = bits[at]!; byte !== 0; byte &= byte - 1)
      numbers.push(first + at * 8 + 31 - Math.clz32(byte & -byte))
  return packMembers(numbers)
}

function lastMemberAtMost(part: Uint8Array): number {
  const view = viewOf(part)
  if (part[0] === listForm) return view.getUint32(part.length - 4)
  return view.getUint32(1) + (part.length - headerBytes) * 8 - 1
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
