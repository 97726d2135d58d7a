// Columns as PostgreSQL's binary arrays: one statement carries any number of rows (`unnest`). As text, bytes would take
// twice the size and the server would have to parse them.

const int4Type = 23
const int8Type = 20
const float8Type = 701
const byteaType = 17
const textType = 25
const headerBytes = 20

export function int4Array(values: readonly (number | null)[]): Buffer {
  return fixedArray({ type: int4Type, size: 4 }, values, (bytes, value, at) => bytes.writeInt32BE(value, at))
}

/** Integers up to 2^53. */
export function int8Array(values: readonly (number | null)[]): Buffer {
  return fixedArray({ type: int8Type, size: 8 }, values, writeInt8)
}

export function float8Array(values: readonly (number | null)[]): Buffer {
  return fixedArray({ type: float8Type, size: 8 }, values, (bytes, value, at) => bytes.writeDoubleBE(value, at))
}

function fixedArray(
  { type, size }: { type: number; size: number },
  values: readonly (number | null)[],
  write: (bytes: Buffer, value: number, at: number) => number,
): Buffer {
  const bytes = arrayOf(type, values.length, values.length * (4 + size))
  let at = headerBytes
  for (const value of values) {
    at = bytes.writeInt32BE(value === null ? -1 : size, at)
    if (value === null) bytes.writeInt32BE(1, 4)
    else at = write(bytes, value, at)
  }
  return bytes.subarray(0, at)
}

/** A number as 8 bytes; arithmetic, because going through bigint takes five times as long. */
export function writeInt8(bytes: Buffer, value: number, at: number): number {
  bytes.writeInt32BE(Math.floor(value / 2 ** 32), at)
  return bytes.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, at + 4)
}

export function byteaArray(values: readonly (Uint8Array | null | undefined)[]): Buffer {
  return bytesArray(byteaType, values)
}

export function textArray(values: readonly (string | null | undefined)[]): Buffer {
  return bytesArray(
    textType,
    values.map(value => (value == null ? value : Buffer.from(value))),
  )
}

function bytesArray(type: number, values: readonly (Uint8Array | null | undefined)[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0)
  const bytes = arrayOf(type, values.length, size)
  let at = headerBytes
  for (const value of values) {
    at = bytes.writeInt32BE(value?.length ?? -1, at)
    if (value == null) {
      bytes.writeInt32BE(1, 4)
      continue
    }
    bytes.set(value, at)
    at += value.length
  }
  return bytes
}

/** Dimensions, whether there are nulls, type, length, lower bound; then the elements, each after its length. */
function arrayOf(type: number, length: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + size)
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(0, 4)
  bytes.writeInt32BE(type, 8)
  bytes.writeInt32BE(length, 12)
  bytes.writeInt32BE(1, 16)
  return bytes
}
