// Which contracts a run has, by their numbers: a page opens no other run. Few numbers are kept as a list, many as bits.
// Pure.

const listForm = 0
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

export function unpackMembers(bytes: Uint8Array): number[] {
  const view = viewOf(bytes)
  const numbers: number[] = []
  if (bytes[0] === listForm) {
    for (let at = headerBytes; at < bytes.length; at += 4) numbers.push(view.getUint32(at))
    return numbers
  }
  const first = view.getUint32(1)
  for (let at = headerBytes; at < bytes.length; at++)
    for (let bit = 0; bit < 8; bit++) if ((bytes[at]! >>> bit) & 1) numbers.push(first + (at - headerBytes) * 8 + bit)
  return numbers
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
  return packMembers([...new Set(parts.flatMap(unpackMembers))].sort((a, b) => a - b))
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
