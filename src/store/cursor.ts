// Signed cursors: the place and the question of a run of pages in one short text. It reads no data and knows no HTTP.
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Address, ChainId, Position } from '../model.ts'

/** Everything that the next page needs. Times are unix seconds, so dates meet the blocks known by then. */
export type PageCursor = {
  chain: ChainId
  contract: Address
  fromBlock: number | undefined
  toBlock: number | undefined
  fromTime: number | undefined
  toTime: number | undefined
  order: 'asc' | 'desc'
  format: 'decimal' | 'hex'
  limit: number
  countTotal: boolean
  /** The page that the cursor asks for; the first is 0 and needs no cursor. */
  page: number
  /** The last row of the page before. */
  after: Position
  /**
   * An ERC-2309 range at the place of `after` may have more rows: one that goes on, or one that replaces a row that is
   * not final.
   */
  mayContinue: boolean
}

const layout = 1
const macBytes = 16
const contractBytes = 20
/** Two header bytes, the contract, eleven integers of at most 8 bytes and the signature. */
const cursorBytesMax = 2 + contractBytes + 11 * 8 + macBytes
export const cursorLengthMax = Math.ceil((cursorBytesMax * 4) / 3)

const flag = { asc: 1, hex: 2, countTotal: 4, mayContinue: 8, fromBlock: 16, toBlock: 32, fromTime: 64, toTime: 128 }

const hashBlockBytes = 64

export class CursorSigner {
  /** The key as HMAC mixes it into its two hashes (RFC 2104), with room for the bytes to hash after it. */
  readonly #inner = Buffer.alloc(hashBlockBytes + cursorBytesMax, 0x36)
  readonly #outer = Buffer.alloc(hashBlockBytes + 32, 0x5c)

  constructor(secret: Uint8Array) {
    // A derived key: the store's secret can sign other things without one passing for another.
    const key = createHmac('sha256', secret).update('almanac page cursor').digest()
    for (const [at, byte] of key.entries()) {
      this.#inner[at]! ^= byte
      this.#outer[at]! ^= byte
    }
  }

  seal(cursor: PageCursor): string {
    const bytes = Buffer.allocUnsafe(cursorBytesMax)
    bytes[0] = layout
    bytes[1] =
      (cursor.order === 'asc' ? flag.asc : 0) |
      (cursor.format === 'hex' ? flag.hex : 0) |
      (cursor.countTotal ? flag.countTotal : 0) |
      (cursor.mayContinue ? flag.mayContinue : 0) |
      (cursor.fromBlock === undefined ? 0 : flag.fromBlock) |
      (cursor.toBlock === undefined ? 0 : flag.toBlock) |
      (cursor.fromTime === undefined ? 0 : flag.fromTime) |
      (cursor.toTime === undefined ? 0 : flag.toTime)
    let at = 2 + bytes.write(cursor.contract.slice(2), 2, 'hex')
    at = writeInteger(bytes, at, cursor.chain)
    at = writeInteger(bytes, at, cursor.limit)
    at = writeInteger(bytes, at, cursor.page)
    at = writeInteger(bytes, at, cursor.after.block)
    at = writeInteger(bytes, at, cursor.after.transactionIndex)
    at = writeInteger(bytes, at, cursor.after.logIndex)
    at = writeInteger(bytes, at, cursor.after.batchIndex)
    if (cursor.fromBlock !== undefined) at = writeInteger(bytes, at, cursor.fromBlock)
    if (cursor.toBlock !== undefined) at = writeInteger(bytes, at, cursor.toBlock)
    if (cursor.fromTime !== undefined) at = writeInteger(bytes, at, cursor.fromTime)
    if (cursor.toTime !== undefined) at = writeInteger(bytes, at, cursor.toTime)
    at += this.#mac(bytes.subarray(0, at)).copy(bytes, at)
    return bytes.toString('base64url', 0, at)
  }

  /** Undefined for anything that this store's secret did not sign byte for byte. */
  open(text: string): PageCursor | undefined {
    if (text.length > cursorLengthMax) return undefined
    const bytes = Buffer.from(text, 'base64url')
    // Base64 has several spellings of the same bytes; only the canonical one is valid.
    if (bytes.toString('base64url') !== text || bytes.length < 2 + contractBytes + macBytes) return undefined
    const signed = bytes.subarray(0, bytes.length - macBytes)
    if (!timingSafeEqual(this.#mac(signed), bytes.subarray(bytes.length - macBytes))) return undefined
    return signed[0] === layout ? readCursor(signed) : undefined
  }

  /** HMAC-SHA256 of two hashes at once: an Hmac object took 33 µs of a page's 800. */
  #mac(bytes: Uint8Array): Buffer {
    this.#inner.set(bytes, hashBlockBytes)
    this.#outer.set(hash('sha256', this.#inner.subarray(0, hashBlockBytes + bytes.length), 'buffer'), hashBlockBytes)
    return hash('sha256', this.#outer, 'buffer').subarray(0, macBytes)
  }
}

/** The bytes were signed by us, so they are well formed. */
function readCursor(bytes: Buffer): PageCursor {
  const flags = bytes[1]!
  let at = 2 + contractBytes
  const next = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  return {
    contract: `0x${bytes.toString('hex', 2, 2 + contractBytes)}` as Address,
    order: flags & flag.asc ? 'asc' : 'desc',
    format: flags & flag.hex ? 'hex' : 'decimal',
    countTotal: (flags & flag.countTotal) !== 0,
    mayContinue: (flags & flag.mayContinue) !== 0,
    chain: next() as ChainId,
    limit: next(),
    page: next(),
    after: { block: next(), transactionIndex: next(), logIndex: next(), batchIndex: next() },
    fromBlock: flags & flag.fromBlock ? next() : undefined,
    toBlock: flags & flag.toBlock ? next() : undefined,
    fromTime: flags & flag.fromTime ? next() : undefined,
    toTime: flags & flag.toTime ? next() : undefined,
  }
}

/** Seven bits a byte, lowest first; arithmetic instead of shifts because block bounds go up to 2^53. */
function writeInteger(bytes: Buffer, start: number, value: number): number {
  let at = start
  let rest = value
  while (rest >= 128) {
    bytes[at++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  bytes[at++] = rest
  return at
}
