// Recursive length prefix (RLP): Ethereum's encoding of nested byte strings. It does not decode.

export type RlpItem = Uint8Array | readonly RlpItem[]

export function encodeRlp(item: RlpItem): Buffer {
  const pieces: Uint8Array[] = []
  const length = collect(item, pieces)
  return Buffer.concat(pieces, length)
}

/** Pushes an item's encoding and returns its length. */
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

/** Of items that are encoded already. */
export function encodeRlpList(encoded: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const item of encoded) length += item.length
  const prefix = lengthPrefix(0xc0, length)
  return Buffer.concat([prefix, ...encoded], prefix.length + length)
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

export function rlpPrefixLength(length: number): number {
  if (length < 56) return 1
  return length < 2 ** 8 ? 2 : length < 2 ** 16 ? 3 : length < 2 ** 24 ? 4 : 5
}

/** Writes the prefix of a string (0x80) or a list (0xc0) of this length, and returns where it ends. */
export function putRlpPrefix(bytes: Uint8Array, at: number, offset: number, length: number): number {
  const size = rlpPrefixLength(length) - 1
  if (size === 0) {
    bytes[at] = offset + length
    return at + 1
  }
  let end = at
  bytes[end++] = offset + 55 + size
  for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes[end++] = (length >>> shift) & 255
  return end
}
