// Made-up rows of a block: transfers as payloads and the activity of wallets, as the decoder gives them to the store.
import type { Address, Block, TransferRow } from '../src/model.ts'
import { type PackedActivity, refBytes, rowAt, rowBytes } from '../src/store/packed-activity.ts'
import { payloadFlags } from '../src/store/transfer-payload.ts'
import type { Random } from './random.ts'
import type { Shape } from './shape.ts'

export type GeneratedContract = { contract: Address; standard: 'ERC721' | 'ERC1155'; transfers: number }

const slabBytes = 65_536

/** Writes payload bytes directly: packing through texts would take longer than storing them. */
export class RowMaker {
  readonly #random: Random
  readonly #shape: Shape
  /** How many of the wallets were seen. */
  #seen = 0
  #slab = new Uint8Array(0)
  #slabAt = 0

  constructor(random: Random, shape: Shape) {
    this.#random = random
    this.#shape = shape
  }

  fillBlock(block: Block, count: number, contractOf: () => GeneratedContract, rows: TransferRow[]): void {
    let transactionIndex = 0
    let logIndex = 0
    let made = 0
    while (made < count) {
      transactionIndex += 1 + this.#random.below(4)
      logIndex += 1 + this.#random.below(6)
      const contract = contractOf()
      const erc1155 = contract.standard === 'ERC1155'
      // A third of the ERC-1155 transfers come in batches of three.
      const batch = erc1155 && this.#random.below(5) === 0
      const length = batch ? Math.min(3, count - made) : 1
      for (let batchIndex = 0; batchIndex < length; batchIndex++) {
        const payload = this.#payload(erc1155, batch)
        rows.push({ block: block.number, transactionIndex, logIndex, batchIndex, contract: contract.contract, payload })
      }
      made += length
      contract.transfers += length
    }
  }

  #payload(erc1155: boolean, batch: boolean): Uint8Array {
    const random = this.#random
    const mint = random.below(3) === 0
    const tokenIdBytes = random.below(12) === 0 ? 32 : 2
    const amountBytes = erc1155 && random.below(4) === 0 ? 1 : 0
    const valueBytes = random.below(3) === 0 ? 8 : 0
    const addresses = 20 * ((mint ? 1 : 2) + (erc1155 ? 1 : 0))
    const length = 4 + 32 + addresses + tokenIdBytes + amountBytes + valueBytes
    const payload = this.#take(length)
    random.fill(payload, 4, length)
    payload[0] =
      (erc1155 ? payloadFlags.erc1155 | payloadFlags.operator : 0) |
      (batch ? payloadFlags.batch : 0) |
      (mint ? payloadFlags.fromZero : 0)
    payload[1] = tokenIdBytes
    payload[2] = amountBytes
    payload[3] = valueBytes
    // Integers have no leading zero bytes.
    const fieldsAt = 36 + addresses
    payload[fieldsAt]! |= 1
    if (amountBytes > 0) payload[fieldsAt + tokenIdBytes]! |= 2
    if (valueBytes > 0) payload[fieldsAt + tokenIdBytes + amountBytes]! |= 1
    return payload
  }

  /** Views of large slabs, as the decoder makes them: an array of its own for each row would cost more than the row. */
  #take(length: number): Uint8Array {
    if (this.#slab.length - this.#slabAt < length) {
      this.#slab = new Uint8Array(slabBytes)
      this.#slabAt = 0
    }
    this.#slabAt += length
    return this.#slab.subarray(this.#slabAt - length, this.#slabAt)
  }

  /** The activity of one block, a row for each touch. */
  activityOf(block: Block, touches: number, rows: Uint8Array, at: number): number {
    const random = this.#random
    const { newWalletsPerBlock } = this.#shape
    for (let touch = 0; touch < touches; touch++, at += rowBytes) {
      writeAddress(rows, at, this.#wallet(touch < newWalletsPerBlock))
      const ref = at + rowAt.first
      writeWord(rows, ref, block.number)
      // The transaction's index and the upper bits of the time, which are 0 until the year 2106.
      rows[ref + 4] = touch >>> 14
      rows[ref + 5] = touch >>> 6
      rows[ref + 6] = (touch << 2) & 0xff
      writeWord(rows, ref + 7, block.timestamp)
      random.fill(rows, ref + 11, ref + refBytes)
      rows.copyWithin(at + rowAt.last, ref, ref + refBytes)
    }
    return at
  }

  #wallet(isNew: boolean): number {
    const { wallets, newWalletsPerBlock } = this.#shape
    // Without newcomers every wallet is as likely as any other: the worst that can happen to a cache.
    if (newWalletsPerBlock === 0) return this.#random.below(wallets)
    if ((isNew && this.#seen < wallets) || this.#seen === 0) return this.#seen++
    // Cubing favours some wallets strongly, as in life: an eighth of them get half of the touches.
    return Math.floor(this.#random.unit() ** 3 * this.#seen)
  }
}

export function walletAddress(number: number): Address {
  const bytes = new Uint8Array(20)
  writeAddress(bytes, 0, number)
  return `0x${Buffer.from(bytes).toString('hex')}` as Address
}

/** 20 bytes that are spread over the whole key space, as addresses are, and differ for each number below 2^32. */
function writeAddress(rows: Uint8Array, at: number, number: number): void {
  let word = Math.imul(number, 0x9e3779b1) >>> 0
  for (let part = 0; part < 20; part += 4) {
    writeWord(rows, at + part, word)
    word = Math.imul(word ^ (word >>> 15), 0x85ebca6b) >>> 0
    word ^= word >>> 13
  }
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}

export function roomFor(touches: number): Uint8Array {
  return new Uint8Array(touches * rowBytes)
}

export function filled(rows: Uint8Array, end: number): PackedActivity {
  return rows.subarray(0, end) as PackedActivity
}
