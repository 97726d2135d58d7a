// Made-up history for benchmarks: many contracts of very different size, in the mix of kinds that real chains have, committed
// newest first as the backfill does. The same options give the same rows.
import { createHash } from 'node:crypto'
import type { ActivityRow, Address, Block, ChainId, Hash, TransferRow } from '../src/model.ts'
import { packActivity } from '../src/store/packed-activity.ts'
import type { Store } from '../src/store/store.ts'
import { payloadFlags } from '../src/store/transfer-payload.ts'

export type GenerateOptions = {
  chain: ChainId
  transfers: number
  contracts?: number
  rowsPerCommit?: number
  /** The share of all transfers that the largest contract gets; by default what Zipf's law gives it. */
  largestShare?: number
  /** Also the activity of both sides of each transfer. */
  activity?: boolean
  onCommit?: (commit: { transfers: number; commitMs: number }) => void
}

/** Sorted by count, the largest first. */
export type GeneratedContract = { contract: Address; standard: 'ERC721' | 'ERC1155'; transfers: number }
export type Generated = { contracts: GeneratedContract[]; from: number; to: number; commitMs: number }

const transfersPerBlock = 37
const headNumber = 20_000_000
const secondsPerBlock = 12
const genesisTime = 1_438_269_973
const walletsMax = 400_000
const slabBytes = 65_536

/** Fills the store and says what went in. `commitMs` is the time spent inside the store. */
export async function generateTransfers(store: Store, options: GenerateOptions): Promise<Generated> {
  const { chain, transfers, contracts: contractCount = 600, rowsPerCommit = 20_000 } = options
  const random = new Random(transfers + contractCount)
  const contracts = makeContracts(contractCount)
  const pick = zipf(contractCount, options.largestShare)
  const maker = new RowMaker(random, Math.min(walletsMax, Math.ceil(transfers / 10)))
  let left = transfers
  let to = headNumber
  let commitMs = 0
  await store.putHead(chain, blockAt(headNumber))
  while (left > 0) {
    const rowCount = Math.min(left, rowsPerCommit)
    const blockCount = Math.ceil(rowCount / transfersPerBlock)
    const from = to - blockCount + 1
    const blocks: Block[] = []
    const rows: TransferRow[] = []
    const activity: ActivityRow[] = []
    for (let index = 0; index < blockCount; index++) {
      const block = blockAt(from + index)
      blocks.push(block)
      const inBlock = Math.min(transfersPerBlock, rowCount - index * transfersPerBlock)
      maker.fillBlock(block, inBlock, () => contracts[pick(random.unit())]!, rows)
      if (options.activity === true) maker.activityOf(block, inBlock * 2, activity)
    }
    const startedAt = performance.now()
    await store.commitCold({
      chain,
      covered: [{ scope: 'full', from, to, evidence: 'bloom' }],
      blocks,
      transfers: rows,
      activity: packActivity(activity),
    })
    const lastedMs = performance.now() - startedAt
    commitMs += lastedMs
    options.onCommit?.({ transfers: rows.length, commitMs: lastedMs })
    left -= rowCount
    to = from - 1
  }
  return {
    contracts: contracts.filter(contract => contract.transfers > 0).sort((a, b) => b.transfers - a.transfers),
    from: to + 1,
    to: headNumber,
    commitMs,
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function blockAt(number: number): Block {
  const hash = `0x${digest(`block ${number}`).toString('hex')}` as Hash
  return { number, hash, timestamp: genesisTime + number * secondsPerBlock }
}

function makeContracts(count: number): GeneratedContract[] {
  return Array.from({ length: count }, (_, index) => ({
    contract: `0x${digest(`contract ${index}`).toString('hex', 0, 20)}` as Address,
    standard: index % 3 === 2 ? 'ERC1155' : 'ERC721',
    transfers: 0,
  }))
}

/** From a number in 0..1 to an index: the k-th contract gets a share that falls with 1/k. */
function zipf(count: number, largestShare?: number): (unit: number) => number {
  const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1))
  if (largestShare !== undefined) {
    const others = weights.slice(1).reduce((sum, weight) => sum + weight, 0)
    weights[0] = (others * largestShare) / (1 - largestShare)
  }
  const sums = new Float64Array(count)
  let sum = 0
  for (const [index, weight] of weights.entries()) {
    sum += weight
    sums[index] = sum
  }
  return unit => {
    const wanted = unit * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** xorshift128: quick, repeatable and good enough for bytes that must not compress. */
class Random {
  #a: number
  #b = 0x9e3779b9
  #c = 0x243f6a88
  #d = 0xb7e15162

  constructor(seed: number) {
    this.#a = seed | 0 || 1
    for (let index = 0; index < 20; index++) this.word()
  }

  word(): number {
    const t = this.#d ^ (this.#d << 11)
    this.#d = this.#c
    this.#c = this.#b
    this.#b = this.#a
    this.#a = this.#a ^ (this.#a >>> 19) ^ t ^ (t >>> 8)
    return this.#a >>> 0
  }

  unit(): number {
    return this.word() / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.unit() * limit)
  }

  fill(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 4) {
      const word = this.word()
      bytes[at] = word
      if (at + 1 < to) bytes[at + 1] = word >>> 8
      if (at + 2 < to) bytes[at + 2] = word >>> 16
      if (at + 3 < to) bytes[at + 3] = word >>> 24
    }
  }
}

/** Writes payload bytes directly: packing through texts would take longer than storing them. */
class RowMaker {
  readonly #random: Random
  readonly #wallets: number
  #slab = new Uint8Array(0)
  #slabAt = 0

  constructor(random: Random, wallets: number) {
    this.#random = random
    this.#wallets = wallets
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

  activityOf(block: Block, count: number, rows: ActivityRow[]): void {
    for (let index = 0; index < count; index++) {
      // Squaring favours some wallets, as in life.
      const wallet = Math.floor(this.#random.unit() ** 2 * this.#wallets)
      const hash = `0x${this.#random.word().toString(16).padStart(64, '7')}` as Hash
      const ref = { block: block.number, transactionIndex: index, hash, timestamp: block.timestamp }
      // Spread over the whole key space, as addresses are.
      const address = `0x${((wallet * 2654435761) % 2 ** 32).toString(16).padStart(8, '0').padEnd(40, '5')}` as Address
      rows.push({ address, first: ref, last: ref })
    }
  }
}
