// Copies and compares some ten bytes, as keys and values are, several at a time: that takes less than half the time of
// single bytes, or of a call of `set`. Pure.

export function wordsOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Both may be the same bytes where the target begins behind what is copied. */
export function copyBytes(from: DataView, fromAt: number, to: DataView, toAt: number, length: number): void {
  let at = 0
  // No object is made of a number that is written at once.
  for (const end = length - 7; at < end; at += 8) to.setBigInt64(toAt + at, from.getBigInt64(fromAt + at))
  for (; at < length; at++) to.setInt8(toAt + at, from.getInt8(fromAt + at))
}

/** Below 0 where the first come before the second. */
export function compareBytes(a: DataView, aAt: number, b: DataView, bAt: number, length: number): number {
  let at = 0
  for (const end = length - 3; at < end; at += 4) {
    const difference = a.getUint32(aAt + at) - b.getUint32(bAt + at)
    if (difference !== 0) return difference
  }
  for (; at < length; at++) {
    const difference = a.getUint8(aAt + at) - b.getUint8(bAt + at)
    if (difference !== 0) return difference
  }
  return 0
}
