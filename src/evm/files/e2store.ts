// Reads e2store files: records of a type, a length and data, one after another. By position and record by record: a
// file is never held whole. It knows nothing of what the records mean.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { UnreadableBytes } from '../proof/rlp-cursor.ts'

/** The types of records that history files have, as little-endian numbers. All others are passed over. */
export const recordTypes = {
  version: 0x3265,
  header: 0x03,
  body: 0x04,
  receipts: 0x05,
  difficulty: 0x06,
  accumulator: 0x07,
  slimReceipts: 0x0a,
  proof: 0x0b,
  blockIndex: 0x3266,
  dynamicBlockIndex: 0x3267,
} as const

export type E2Record = {
  type: number
  /** Where its data starts. */
  at: number
  length: number
}

export const recordHeaderBytes = 8
/** No block is near this size: a length beyond it is not one that a writer of history wrote. */
const recordBytesMax = 64 * 2 ** 20

const roomBytesMin = 4_096
const noRoom = Buffer.alloc(0)

/** Tells whether a file has changed since it was read. */
export type FileStamp = { path: string; size: number; mtimeMs: number; inode: number }

export function stampOf(path: string, { size, mtimeMs, ino }: Stats): FileStamp {
  return { path, size, mtimeMs, inode: ino }
}

export function isSameFile(a: FileStamp, b: FileStamp): boolean {
  return a.path === b.path && a.size === b.size && a.mtimeMs === b.mtimeMs && a.inode === b.inode
}

/** The message continues a sentence that names the file and, if known, the block. */
export class UnreadableFile extends UnreadableBytes {}

export class E2File {
  readonly path: string
  readonly size: number
  readonly #descriptor: number
  /** For the data of records, once they are read: of most files only the index is. */
  #room = noRoom

  constructor(path: string) {
    this.path = path
    // A pipe would be waited for until somebody writes into it.
    this.#descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(this.#descriptor)
    this.size = stats.size
    if (stats.isFile()) return
    this.close()
    throw new UnreadableFile('is not a regular file')
  }

  /** As it is now. */
  stamp(): FileStamp {
    return stampOf(this.path, fstatSync(this.#descriptor))
  }

  recordAt(at: number): E2Record {
    if (at < 0 || at + recordHeaderBytes > this.size) throw new UnreadableFile(`ends before a record at byte ${at}`)
    const header = this.bytesAt(at, recordHeaderBytes)
    const record = { type: header.readUInt16LE(0), at: at + recordHeaderBytes, length: header.readUInt32LE(2) }
    if (header.readUInt16LE(6) !== 0) throw new UnreadableFile(`has no record at byte ${at}: reserved bytes are not 0`)
    if (record.length > recordBytesMax)
      throw new UnreadableFile(`has a record of ${record.length} bytes at byte ${at}, more than history has`)
    if (record.at + record.length > this.size)
      throw new UnreadableFile(`is cut: the record at byte ${at} should end at byte ${record.at + record.length}`)
    return record
  }

  /** The record at a position, which must be of a type. */
  recordOf(type: number, at: number): E2Record {
    const record = this.recordAt(at)
    if (record.type !== type)
      throw new UnreadableFile(
        `has a record of type ${typeText(record.type)} at byte ${at} instead of ${typeText(type)}`,
      )
    return record
  }

  bytesAt(at: number, length: number): Buffer {
    return this.#read(Buffer.allocUnsafe(length), at, length)
  }

  /** The data of a record, which the next call overwrites: records are large, and most are read to be uncompressed. */
  dataOf({ at, length }: E2Record): Buffer {
    if (length > this.#room.length)
      this.#room = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * length, roomBytesMin), recordBytesMax))
    return this.#read(this.#room, at, length)
  }

  #read(bytes: Buffer, at: number, length: number): Buffer {
    let read = 0
    while (read < length) {
      const more = readSync(this.#descriptor, bytes, read, length - read, at + read)
      if (more === 0) throw new UnreadableFile(`is cut: it ends at byte ${at + read}`)
      read += more
    }
    return bytes.subarray(0, length)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

function typeText(type: number): string {
  return `0x${type.toString(16).padStart(4, '0')}`
}
