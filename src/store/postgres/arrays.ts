// Columns as PostgreSQL's binary arrays: one statement carries any number of rows (`unnest`). As text, bytes would take
// twice the size and the server would have to parse them.
import type { Value } from '../core/work.ts'
import type { ColumnType } from '../schema.ts'

const headerBytes = 20

/** Integers up to 2^53. */
export const arrayOf: Readonly<Record<ColumnType, (values: readonly Value[]) => Buffer>> = {
  int: fixed(23, 4, (bytes, value, at) => bytes.writeInt32BE(value, at)),
  big: fixed(20, 8, writeInt8),
  float: fixed(701, 8, (bytes, value, at) => bytes.writeDoubleBE(value, at)),
  text: values => varying(25, values.map(bytesOf)),
  utf8: values => varying(17, values.map(bytesOf)),
  bytes: values => varying(17, values as readonly (Uint8Array | null)[]),
}

function fixed(type: number, size: number, write: (bytes: Buffer, value: number, at: number) => number) {
  return (values: readonly Value[]): Buffer => {
    const bytes = headed(type, values.length, values.length * (4 + size))
    let at = headerBytes
    for (const value of values) {
      at = bytes.writeInt32BE(value === null ? -1 : size, at)
      if (value === null) bytes.writeInt32BE(1, 4)
      else at = write(bytes, value as number, at)
    }
    return bytes.subarray(0, at)
  }
}

/** A number as 8 bytes; arithmetic, because going through bigint takes five times as long. */
export function writeInt8(bytes: Buffer, value: number, at: number): number {
  bytes.writeInt32BE(Math.floor(value / 2 ** 32), at)
  return bytes.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, at + 4)
}

function bytesOf(text: Value): Buffer | null {
  return text === null ? null : Buffer.from(text as string)
}

function varying(type: number, values: readonly (Uint8Array | null)[]): Buffer {
  const size = values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0)
  const bytes = headed(type, values.length, size)
  let at = headerBytes
  for (const value of values) {
    at = bytes.writeInt32BE(value?.length ?? -1, at)
    if (value === null) bytes.writeInt32BE(1, 4)
    else {
      bytes.set(value, at)
      at += value.length
    }
  }
  return bytes
}

/** Dimensions, whether there are nulls, type, length, lower bound; then the elements, each after its length. */
function headed(type: number, length: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + size)
  for (const [place, word] of [1, 0, type, length, 1].entries()) bytes.writeInt32BE(word, 4 * place)
  return bytes
}
