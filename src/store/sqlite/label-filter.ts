// Knows which addresses surely have no label, so that a page of 200 addresses needs a few reads instead of 200 (measured with
// a million labels: 30 µs against 900 µs). It is only ever a hint: an address that it lets pass is looked up.
import type { Connection, Row } from './connection.ts'

const bitsPerLabel = 16
const probes = 4
/** Read in pieces of about 10 ms with pauses between them: the thread serves requests meanwhile. */
const labelsPerPiece = 20_000
const noAddress = Buffer.alloc(0)

export class LabelFilter {
  readonly #connection: Connection
  #bits: Uint32Array | undefined
  /** The state of the labels that the bits speak of. */
  #version = -1
  #building: Promise<void> | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Those of the addresses that may have a label; all of them until the filter knows better. */
  possible<T extends string>(addresses: Iterable<T>): T[] {
    const bits = this.#current()
    if (bits === undefined) return [...addresses]
    const found: T[] = []
    for (const address of addresses) if (hasAll(bits, address, 2)) found.push(address)
    return found
  }

  /** Resolves when nothing is being built. */
  async settled(): Promise<void> {
    await this.#building
  }

  #current(): Uint32Array | undefined {
    if (labelsVersion(this.#connection) === this.#version) return this.#bits
    this.#bits = undefined
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined
    })
    return undefined
  }

  /** Labels that change meanwhile make the result worthless; the next question starts anew. */
  async #build(): Promise<void> {
    await pause()
    if (!this.#connection.database.isOpen) return
    const version = labelsVersion(this.#connection)
    const [count] = this.#connection.get('SELECT count(*) FROM labels') as Row
    const bits = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(32, (count as number) * bitsPerLabel))) / 32)
    let last: Uint8Array = noAddress
    while (this.#connection.database.isOpen && labelsVersion(this.#connection) === version) {
      const addresses = nextAddresses(this.#connection, last)
      if (addresses === undefined) {
        this.#bits = bits
        this.#version = version
        return
      }
      last = addresses.subarray(addresses.length - 20)
      const hex = addresses.toString('hex')
      for (let at = 0; at < hex.length; at += 40) setAll(bits, hex, at)
      await pause()
    }
  }
}

function pause(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

function labelsVersion(connection: Connection): number {
  return (connection.get('SELECT labels FROM revision') as Row)[0] as number
}

function nextAddresses(connection: Connection, after: Uint8Array): Buffer | undefined {
  const row = connection.get(
    `SELECT CAST(group_concat(address, '') AS BLOB) FROM
       (SELECT address FROM labels WHERE address > ? GROUP BY address ORDER BY address LIMIT ${labelsPerPiece})`,
    after,
  ) as Row
  return row[0] === null ? undefined : Buffer.from(row[0] as Uint8Array)
}

/** FNV-1a over half of the 40 digits: each half gives one of the two numbers that the probes are made of. */
function half(text: string, at: number): number {
  let hash = 0x811c9dc5
  for (let index = at; index < at + 20; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash ^ (hash >>> 15)
}

function setAll(bits: Uint32Array, text: string, at: number): void {
  const mask = bits.length * 32 - 1
  const step = half(text, at + 20) | 1
  let probe = half(text, at)
  for (let count = 0; count < probes; count++, probe += step) {
    const bit = probe & mask
    bits[bit >>> 5]! |= 1 << (bit & 31)
  }
}

function hasAll(bits: Uint32Array, text: string, at: number): boolean {
  const mask = bits.length * 32 - 1
  const step = half(text, at + 20) | 1
  let probe = half(text, at)
  for (let count = 0; count < probes; count++, probe += step) {
    const bit = probe & mask
    if ((bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
  }
  return true
}
