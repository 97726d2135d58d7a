// Writes era1 and ere files for tests, from the parts of blocks, and frames them with a Snappy of its own.

import { maskedCrc } from '../src/evm/files/snappy.ts'
import { encodeRlp } from '../src/evm/proof/rlp.ts'

export type WrittenBlock = {
  header: Uint8Array
  body: Uint8Array
  /** With their bloom in era1, without in ere. */
  receipts?: Uint8Array | undefined
  /** 32 bytes, lowest first. */
  difficulty?: Uint8Array | undefined
  proof?: { type: number; ssz: Uint8Array } | undefined
}

export function record(type: number, data: Uint8Array = new Uint8Array()): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt16LE(type)
  header.writeUInt32LE(data.length, 2)
  return Buffer.concat([header, data])
}

export function writeEra1(
  from: number,
  blocks: readonly WrittenBlock[],
  accumulator: Uint8Array = new Uint8Array(32),
): Buffer {
  const pieces = [record(0x3265)]
  let at = 8
  const offsets = blocks.map(({ header, body, receipts, difficulty }) => {
    const start = at
    const records = [
      record(0x03, frame(header)),
      record(0x04, frame(body)),
      record(0x05, frame(receipts!)),
      record(0x06, difficulty ?? new Uint8Array(32)),
    ]
    pieces.push(...records)
    at += records.reduce((sum, each) => sum + each.length, 0)
    return start
  })
  pieces.push(record(0x07, accumulator))
  at += 40
  pieces.push(record(0x3266, numbers([from, ...offsets.map(offset => offset - at), blocks.length])))
  return Buffer.concat(pieces)
}

/** What the blocks have, kind by kind; `others` are records of unknown types that stand before the index. */
export function writeEre(
  from: number,
  blocks: readonly WrittenBlock[],
  { others = [], accumulator }: { others?: readonly Buffer[]; accumulator?: Uint8Array } = {},
): Buffer {
  const kinds: ((block: WrittenBlock) => Buffer | undefined)[] = [
    ({ header }) => record(0x03, frame(header)),
    ({ body }) => record(0x04, frame(body)),
    ({ receipts }) => receipts && record(0x0a, frame(receipts)),
    ({ proof }) => proof && record(0x0b, frame(encodeRlp([numberBytes(proof.type), proof.ssz]))),
    ({ difficulty }) => difficulty && record(0x06, difficulty),
  ]
  const pieces = [record(0x3265)]
  let at = 8
  const offsets: number[][] = blocks.map(() => [])
  // In the index difficulties stand before proofs.
  for (const place of [0, 1, 2, 4, 3]) {
    const records = blocks.map(kinds[place]!)
    if (records.some(each => each === undefined)) continue
    for (const [block, each] of records.entries()) {
      offsets[block]!.push(at)
      pieces.push(each!)
      at += each!.length
    }
  }
  const rest = [...others, ...(accumulator === undefined ? [] : [record(0x07, accumulator)])]
  for (const each of rest) at += each.length
  pieces.push(...rest)
  const entries = offsets.flatMap(each => each.map(offset => offset - at))
  pieces.push(record(0x3267, numbers([from, ...entries, offsets[0]!.length, blocks.length])))
  return Buffer.concat(pieces)
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [at, value] of values.entries()) bytes.writeBigInt64LE(BigInt(value), 8 * at)
  return bytes
}

function numberBytes(number: number): Uint8Array {
  return number === 0 ? new Uint8Array() : Uint8Array.of(number)
}

/** In chunks of 65,536 bytes: compressed where that is shorter, plain where not. */
export function frame(bytes: Uint8Array): Buffer {
  const pieces: Uint8Array[] = [Buffer.from('ff060000734e61507059', 'hex')]
  for (let from = 0; from < bytes.length; from += 65_536) {
    const plain = bytes.subarray(from, from + 65_536)
    const compressed = compress(plain)
    const isShorter = compressed.length < plain.length
    const data = isShorter ? compressed : plain
    const header = Buffer.alloc(8)
    header.writeUInt8(isShorter ? 0x00 : 0x01)
    header.writeUIntLE(data.length + 4, 1, 3)
    header.writeUInt32LE(maskedCrc(plain, 0, plain.length), 4)
    pieces.push(header, data)
  }
  return Buffer.concat(pieces)
}

/** Copies of four bytes and more that came before, else literals. */
function compress(bytes: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(2 * bytes.length + 16)
  let end = 0
  for (let rest = bytes.length; ; rest >>>= 7) {
    out[end++] = rest >= 0x80 ? (rest & 0x7f) | 0x80 : rest
    if (rest < 0x80) break
  }
  seen.fill(-1)
  let literal = 0
  const flush = (to: number): void => {
    const count = to - literal
    if (count === 0) return
    if (count <= 60) out[end++] = (count - 1) << 2
    else if (count <= 256) {
      out[end++] = 60 << 2
      out[end++] = count - 1
    } else {
      out[end++] = 61 << 2
      end = out.writeUInt16LE(count - 1, end)
    }
    out.set(bytes.subarray(literal, to), end)
    end += count
  }
  for (let at = 0; at + 4 <= bytes.length; ) {
    const four = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    const place = Math.imul(four, 0x1e35a7bd) >>> 18
    const before = seen[place]!
    seen[place] = at
    let count = 0
    if (before >= 0)
      while (at + count < bytes.length && count < 64 && bytes[before + count] === bytes[at + count]) count++
    if (count < 4) {
      at++
      continue
    }
    flush(at)
    const back = at - before
    if (count <= 11 && back < 2_048) out[end++] = 1 | ((count - 4) << 2) | ((back >> 8) << 5)
    else out[end++] = 2 | ((count - 1) << 2)
    out[end++] = back & 255
    if (count > 11 || back >= 2_048) out[end++] = back >> 8
    at += count
    literal = at
  }
  flush(bytes.length)
  return out.subarray(0, end)
}

const seen = new Int32Array(2 ** 14)
