// Memory that answers are written into, and that is used again once they are sent. New memory for each page of 68 kB took a
// fifth of the page's time: it is cold, and collecting it keeps a second thread busy.

export type Memory = { bytes: Buffer<ArrayBuffer>; view: DataView }

const ordinaryBytes = 256 * 1024
const idleMax = 32
const idle: Memory[] = []

/** At least `length` bytes with anything in them. */
export function takeMemory(length: number): Memory {
  return (length <= ordinaryBytes ? idle.pop() : undefined) ?? newMemory(Math.max(length, ordinaryBytes))
}

function newMemory(length: number): Memory {
  const bytes = Buffer.allocUnsafeSlow(length) as Buffer<ArrayBuffer>
  return { bytes, view: new DataView(bytes.buffer) }
}

/** Bytes that are lent. Whoever lets go of them last may give them back; those that nobody gives back are collected. */
export class LentBytes {
  readonly bytes: Buffer<ArrayBuffer>
  #memory: Memory | undefined

  constructor(memory: Memory, length: number) {
    this.#memory = memory
    this.bytes = memory.bytes.subarray(0, length)
  }

  /** Nobody may read the bytes from now on. Only the first call counts: memory that was given back twice would be lent twice. */
  readonly release = (): void => {
    const memory = this.#memory
    this.#memory = undefined
    if (memory !== undefined && memory.bytes.length === ordinaryBytes && idle.length < idleMax) idle.push(memory)
  }
}
