// The memory of answers: lent for writing them and used again once they are sent, and counted until clients took them.
import type { ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'

// Lent memory. New memory for each page of 68 kB took a fifth of the page's time: it is cold, and V8 collects
// everything whenever memory beside its heap has grown by some megabytes.

export type Memory = { bytes: Buffer<ArrayBuffer>; view: DataView }

/** Powers of two: a page of 20 takes 32 KiB, one of 100 takes 128 KiB. Larger answers get their exact size. */
const smallestBits = 15
const largestBits = 21
const idleBytesMax = 64 * 1024 * 1024
/** By the power of two. */
const idle: Memory[][] = Array.from({ length: largestBits + 1 }, () => [])
let idleBytes = 0

/** At least `length` bytes, not cleared. */
export function takeMemory(length: number): Memory {
  const bits = Math.max(smallestBits, 32 - Math.clz32(length - 1))
  if (bits > largestBits) return newMemory(length)
  const known = idle[bits]!.pop()
  if (known === undefined) return newMemory(2 ** bits)
  idleBytes -= known.bytes.length
  return known
}

function newMemory(length: number): Memory {
  const bytes = Buffer.allocUnsafeSlow(length) as Buffer<ArrayBuffer>
  return { bytes, view: new DataView(bytes.buffer) }
}

function giveBack(memory: Memory): void {
  const { length } = memory.bytes
  const bits = 31 - Math.clz32(length)
  if (bits > largestBits || length !== 2 ** bits) return
  // Sizes that are not requested any more make room for those that are.
  for (const others of idle) {
    while (idleBytes + length > idleBytesMax && others !== idle[bits] && others.length > 0) {
      idleBytes -= others.pop()!.bytes.length
    }
  }
  if (idleBytes + length > idleBytesMax) return
  idleBytes += length
  idle[bits]!.push(memory)
}

let lentBytesNow = 0

/** For the metric: zero whenever no answer is under way. */
export function lentBytes(): number {
  return lentBytesNow
}

/** Bytes that are lent. Those that are not given back are garbage collected. */
export class LentBytes {
  readonly bytes: Buffer<ArrayBuffer>
  #memory: Memory | undefined

  constructor(memory: Memory, length: number) {
    this.#memory = memory
    lentBytesNow += memory.bytes.length
    this.bytes = memory.bytes.subarray(0, length)
  }

  /** The bytes must not be read any more. Only the first call counts: memory given back twice would be lent twice. */
  readonly release = (): void => {
    const memory = this.#memory
    this.#memory = undefined
    if (memory === undefined) return
    lentBytesNow -= memory.bytes.length
    giveBack(memory)
  }
}

// Unsent answers: what the process holds for clients that have not taken it yet.

/** A connection has one answer at a time, so what is smaller than this needs no counting. */
const countedBytes = 4_096

export class UnsentAnswers {
  readonly #bytesMax: number
  readonly #stalledMs: number
  /** Since when each response has been sending, oldest first. */
  readonly #responses = new Map<ServerResponse, { memory: ArrayBuffer; sinceMs: number }>()
  /** How many responses send from the same memory, such as a kept answer: it is counted once. */
  readonly #senders = new Map<ArrayBuffer, number>()
  #bytes = 0

  /** Where there is no room, clients that have not taken an answer for `stalledMs` are cut off. */
  constructor(bytesMax: number, stalledMs = 5_000) {
    this.#bytesMax = bytesMax
    this.#stalledMs = stalledMs
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether an answer of this many bytes may be made. */
  hasRoom(length = 0): boolean {
    if (this.#bytes + length <= this.#bytesMax) return true
    const stalledSinceMs = performance.now() - this.#stalledMs
    for (const [outgoing, { sinceMs }] of this.#responses) {
      if (sinceMs > stalledSinceMs || this.#bytes + length <= this.#bytesMax) break
      this.#remove(outgoing)
      outgoing.destroy()
    }
    return this.#bytes + length <= this.#bytesMax
  }

  /** Counts a body that the system has not taken whole, until its response is closed: sent or given up. */
  add(outgoing: ServerResponse, body: NonNullable<Answer['body']>): void {
    if (body.length < countedBytes) return
    outgoing.once('close', () => this.#remove(outgoing))
    const memory = body.buffer
    const senders = this.#senders.get(memory) ?? 0
    if (senders === 0) this.#bytes += memory.byteLength
    this.#senders.set(memory, senders + 1)
    this.#responses.set(outgoing, { memory, sinceMs: performance.now() })
  }

  #remove(outgoing: ServerResponse): void {
    const memory = this.#responses.get(outgoing)?.memory
    if (memory === undefined) return
    this.#responses.delete(outgoing)
    const senders = this.#senders.get(memory)! - 1
    if (senders > 0) {
      this.#senders.set(memory, senders)
      return
    }
    this.#senders.delete(memory)
    this.#bytes -= memory.byteLength
  }
}
