// Reads a tar stream in pieces of any size. It keeps nothing but an incomplete header.
import { AlmanacError } from '../errors.ts'

const blockBytes = 512

export type TarSink = {
  /** False skips the bytes of the entry. */
  entry(name: string): boolean
  bytes(piece: Buffer): void
}

export class TarReader {
  readonly #sink: TarSink
  #header = Buffer.alloc(blockBytes)
  #headerFilled = 0
  #left = 0
  #padding = 0
  #wanted = false
  #ended = false

  constructor(sink: TarSink) {
    this.#sink = sink
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && !this.#ended) {
      if (this.#left > 0) at += this.#body(chunk, at)
      else if (this.#padding > 0) {
        const padding = Math.min(this.#padding, chunk.length - at)
        this.#padding -= padding
        at += padding
      } else at += this.#head(chunk, at)
    }
  }

  /** Throws where the stream ended in the middle of an entry. */
  finish(): void {
    if (!this.#ended) throw corrupted('it ends before its end mark')
  }

  #body(chunk: Buffer, at: number): number {
    const length = Math.min(this.#left, chunk.length - at)
    if (this.#wanted) this.#sink.bytes(chunk.subarray(at, at + length))
    this.#left -= length
    return length
  }

  #head(chunk: Buffer, at: number): number {
    const length = Math.min(blockBytes - this.#headerFilled, chunk.length - at)
    chunk.copy(this.#header, this.#headerFilled, at, at + length)
    this.#headerFilled += length
    if (this.#headerFilled < blockBytes) return length
    this.#headerFilled = 0
    this.#begin(this.#header)
    return length
  }

  #begin(header: Buffer): void {
    if (header.every(byte => byte === 0)) {
      this.#ended = true
      return
    }
    checkSum(header)
    const size = sizeOf(header)
    const prefix = textOf(header, 345, 500)
    const name = textOf(header, 0, 100)
    const isFile = header[156] === 0x30 || header[156] === 0
    this.#left = size
    this.#padding = (blockBytes - (size % blockBytes)) % blockBytes
    this.#wanted = isFile && this.#sink.entry(prefix === '' ? name : `${prefix}/${name}`)
  }
}

function textOf(header: Buffer, start: number, end: number): string {
  const stop = header.indexOf(0, start)
  return header.toString('utf8', start, stop === -1 || stop > end ? end : stop)
}

/** Octal digits, or a big-endian number where the first bit is set. */
function sizeOf(header: Buffer): number {
  const size =
    (header[124]! & 0x80) !== 0
      ? Number(header.readBigUInt64BE(128))
      : Number.parseInt(textOf(header, 124, 136).trim() || '0', 8)
  if (!Number.isSafeInteger(size) || size < 0) throw corrupted('an entry has no size')
  return size
}

function checkSum(header: Buffer): void {
  let sum = 0
  for (let at = 0; at < blockBytes; at++) sum += at >= 148 && at < 156 ? 0x20 : header[at]!
  if (sum !== Number.parseInt(textOf(header, 148, 156).trim(), 8)) throw corrupted('the checksum of an entry is wrong')
}

function corrupted(why: string): AlmanacError {
  return new AlmanacError('bad_request', `The archive is damaged: ${why}.`, { hint: 'fetch the archive again.' })
}
