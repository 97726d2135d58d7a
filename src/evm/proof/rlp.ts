// Recursive length prefix: how Ethereum turns nested byte strings into one. Encoding only.

export type RlpItem = Uint8Array | readonly RlpItem[]

export function encodeRlp(item: RlpItem): Buffer {
  const pieces: Uint8Array[] = []
  const length = collect(item, pieces)
  return Buffer.concat(pieces, length)
}

/** Pushes an item's encoding and returns its length. A list's prefix takes the place that was kept for it. */
function collect(item: RlpItem, pieces: Uint8Array[]): number {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && (item[0] ?? 0) < 0x80) {
      pieces.push(item)
      return 1
    }
    const prefix = lengthPrefix(0x80, item.length)
    pieces.push(prefix, item)
    return prefix.length + item.length
  }
  const place = pieces.push(noBytes) - 1
  let length = 0
  for (const part of item) length += collect(part, pieces)
  const prefix = lengthPrefix(0xc0, length)
  pieces[place] = prefix
  return prefix.length + length
}

/** A list of items that are encoded already. */
export function encodeRlpList(encoded: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const item of encoded) length += item.length
  const prefix = lengthPrefix(0xc0, length)
  return Buffer.concat([prefix, ...encoded], prefix.length + length)
}

/** What stands before a string of this length that is not one small byte. */
export function rlpStringPrefix(length: number): Uint8Array {
  return lengthPrefix(0x80, length)
}

/** What stands before the items of a list that take so many bytes. */
export function rlpListPrefix(length: number): Uint8Array {
  return lengthPrefix(0xc0, length)
}

function lengthPrefix(offset: number, length: number): Uint8Array {
  if (length < 56) return oneByte[offset + length]!
  if (length < 2 ** 8) return Uint8Array.of(offset + 56, length)
  if (length < 2 ** 16) return Uint8Array.of(offset + 57, length >> 8, length & 255)
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return Uint8Array.of(offset + 55 + digits.length, ...digits)
}

const noBytes = new Uint8Array(0)
// Nearly every prefix is one of these.
const oneByte = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
