// Decodes the framing format of Snappy: chunks of at most 65,536 bytes, each with a CRC32C of what it holds. Of the
// libraries for Node none reads frames and checks them without native code, so it is done here. It does not compress.
import { UnreadableFile } from './e2store.ts'

const chunkBytesMax = 65_536
const compressedChunk = 0x00
const plainChunk = 0x01
const streamIdentifier = 0xff
const identifierText = 'sNaPpY'

/** `bytesMax`: what it may hold. A few bytes can stand for a million. */
export function unframe(framed: Uint8Array, bytesMax = Number.POSITIVE_INFINITY): Buffer {
  // Not from the pool of small buffers: the checksum reads it in words.
  const bytes = Buffer.allocUnsafeSlow(unframedLength(framed, bytesMax))
  let end = 0
  for (let at = 0; at < framed.length; ) {
    const type = framed[at]!
    const from = at + 4
    at = from + chunkLength(framed, at)
    if (type !== compressedChunk && type !== plainChunk) continue
    const start = end
    if (type === plainChunk) {
      bytes.set(framed.subarray(from + 4, at), start)
      end += at - from - 4
    } else end = uncompress(framed, from + 4, at, bytes, start)
    if (maskedCrc(bytes, start, end) !== fourBytes(framed, from))
      throw new UnreadableFile('has a Snappy chunk whose checksum is another one')
  }
  return bytes
}

/** The length of all chunks, by what they say. */
function unframedLength(framed: Uint8Array, bytesMax: number): number {
  let length = 0
  for (let at = 0; at < framed.length; ) {
    const type = framed[at]!
    const from = at + 4
    const next = from + chunkLength(framed, at)
    if (at === 0 && type !== streamIdentifier) throw new UnreadableFile('has a record that is not in Snappy frames')
    if (type === streamIdentifier) {
      if (Buffer.from(framed.subarray(from, next)).toString('latin1') !== identifierText)
        throw new UnreadableFile('has Snappy frames that begin in an unknown way')
    } else if (type === compressedChunk || type === plainChunk) {
      const size = type === plainChunk ? next - from - 4 : lengthOf(framed, from + 4, next).length
      if (size < 0 || size > chunkBytesMax) throw new UnreadableFile('has a Snappy chunk that is longer than allowed')
      length += size
      // The types up to 0x7f are reserved, and a reader must not skip them.
    } else if (type < 0x80) throw new UnreadableFile(`has a Snappy chunk of the unknown type ${type}`)
    at = next
  }
  if (length > bytesMax) throw new UnreadableFile(`has a record of ${length} bytes, more than history has`)
  return length
}

function chunkLength(framed: Uint8Array, at: number): number {
  const length = at + 4 > framed.length ? Infinity : framed[at + 1]! | (framed[at + 2]! << 8) | (framed[at + 3]! << 16)
  if (at + 4 + length > framed.length) throw new UnreadableFile('has a Snappy chunk that is cut')
  return length
}

/** The length that a compressed chunk says, and where its elements begin. */
function lengthOf(framed: Uint8Array, from: number, to: number): { length: number; at: number } {
  let length = 0
  for (let at = from, shift = 0; at < to && shift < 32; shift += 7) {
    const byte = framed[at++]!
    length += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) return { length, at }
  }
  throw new UnreadableFile('has a Snappy chunk without a length')
}

/** Writes what the elements say from `start` on, and returns where it ends. */
function uncompress(framed: Uint8Array, from: number, to: number, bytes: Uint8Array, start: number): number {
  const { length, at: first } = lengthOf(framed, from, to)
  const limit = start + length
  let at = first
  let end = start
  while (at < to) {
    const tag = framed[at++]!
    const kind = tag & 3
    if (kind === 0) {
      let count = (tag >> 2) + 1
      if (count > 60) {
        const size = count - 60
        if (at + size > to) throw brokenChunk()
        count = 1
        for (let byte = 0; byte < size; byte++) count += framed[at + byte]! * 2 ** (8 * byte)
        at += size
      }
      if (at + count > to || end + count > limit) throw brokenChunk()
      // A view costs as much as copying some bytes.
      if (count < 48) for (let byte = 0; byte < count; byte++) bytes[end + byte] = framed[at + byte]!
      else bytes.set(framed.subarray(at, at + count), end)
      at += count
      end += count
      continue
    }
    const size = kind === 1 ? 1 : kind === 2 ? 2 : 4
    if (at + size > to) throw brokenChunk()
    let count = (tag >> 2) + 1
    let back = framed[at]!
    if (kind === 1) {
      count = ((tag >> 2) & 7) + 4
      back |= (tag >> 5) << 8
    } else {
      back |= framed[at + 1]! << 8
      if (kind === 3) back += framed[at + 2]! * 2 ** 16 + framed[at + 3]! * 2 ** 24
    }
    at += size
    if (back === 0 || back > end - start || end + count > limit) throw brokenChunk()
    // A copy may overlap itself: what it wrote is then copied again.
    if (back >= count && count >= 48) bytes.copyWithin(end, end - back, end - back + count)
    else for (let byte = 0; byte < count; byte++) bytes[end + byte] = bytes[end - back + byte]!
    end += count
  }
  if (end !== limit) throw brokenChunk()
  return end
}

function brokenChunk(): UnreadableFile {
  return new UnreadableFile('has a Snappy chunk that cannot be uncompressed')
}

function fourBytes(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}

// Eight tables, so that two words are taken at once: many times as fast as byte by byte.
const crcTables = Array.from({ length: 8 }, () => new Int32Array(256))
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  crcTables[0]![byte] = crc
}
for (let table = 1; table < 8; table++)
  for (let byte = 0; byte < 256; byte++) {
    const before = crcTables[table - 1]![byte]!
    crcTables[table]![byte] = (before >>> 8) ^ crcTables[0]![before & 255]!
  }
const [table0, table1, table2, table3, table4, table5, table6, table7] = crcTables as [
  ...[Int32Array, Int32Array, Int32Array, Int32Array],
  ...[Int32Array, Int32Array, Int32Array, Int32Array],
]

/** CRC32C (Castagnoli), masked as the framing format has it. */
export function maskedCrc(bytes: Uint8Array, from: number, to: number): number {
  let crc = -1
  let at = from
  if (isLittleEndian && (bytes.byteOffset + from) % 4 === 0) {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + from, (to - from) >> 2)
    const pairs = words.length & ~1
    for (let word = 0; word < pairs; word += 2) {
      const low = crc ^ words[word]!
      const high = words[word + 1]!
      crc =
        table7[low & 255]! ^
        table6[(low >>> 8) & 255]! ^
        table5[(low >>> 16) & 255]! ^
        table4[low >>> 24]! ^
        table3[high & 255]! ^
        table2[(high >>> 8) & 255]! ^
        table1[(high >>> 16) & 255]! ^
        table0[high >>> 24]!
    }
    at += 4 * pairs
  }
  for (; at < to; at++) crc = (crc >>> 8) ^ table0[(crc ^ bytes[at]!) & 255]!
  crc = ~crc
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1
