// The tokens of a wallet with more transfers than one request looks at, request after request, as the chain moves on.
import { expect, test } from 'vitest'
import { defineChain } from '../../chains.ts'
import type { Address, Hash } from '../../model.ts'
import type { IndexReader } from '../../store/index-reader.ts'
import { byWallet, walletFlags } from '../../store/indexes/by-wallet.ts'
import { blockOfPlace, writePlace } from '../../store/runs/place-key.ts'
import { type ClaimStore, Claims } from '../claims.ts'
import { HoldingsAdmission } from '../holdings/holdings-admission.ts'
import type { HoldingsOptions } from '../holdings/questions.ts'
import { TouchedTokens } from './touched-tokens.ts'

const chain = defineChain({ name: 'sim', id: 31_337 })
const wallet = `0x${'a'.repeat(40)}` as Address
const tokenOf = (number: number) => `0x${number.toString(16).padStart(40, '0')}` as Address
const options = { key: { id: 'k' } } as HoldingsOptions

/** One transfer in each block from the head down to 1, of a token that the block tells. */
class World {
  head: number
  finalized: number
  filled = 0
  takenBack = 0
  read = 0
  tokenAt: (block: number) => number

  constructor(head: number, tokenAt: (block: number) => number) {
    this.head = head
    this.finalized = head - 10
    this.tokenAt = tokenAt
  }

  readonly #indexes = {
    rowState: async () => {
      const { filled, takenBack } = this
      return { indexes: [{ index: 'by_wallet', filled: true }], filled, takenBack }
    },
    indexRecords: async ({ from, to, after, limit }: Parameters<IndexReader['indexRecords']>[0]) => {
      const { keyBytes, placeAt } = byWallet
      const newest = after === undefined ? blockOfPlace(from, placeAt) : blockOfPlace(after, placeAt) - 1
      const first = Math.min(newest, this.head)
      const length = Math.max(0, Math.min(limit, first - Math.max(1, blockOfPlace(to, placeAt)) + 1))
      const [keys, values] = [new Uint8Array(length * keyBytes), new Uint8Array(length * 6)]
      const contracts = new Map<number, Address>()
      for (let at = 0; at < length; at++) {
        const block = first - at
        const token = this.tokenAt(block)
        keys.set(from, at * keyBytes)
        writePlace(keys, at * keyBytes + placeAt, { block, transactionIndex: 0, logIndex: 0, batchIndex: 0 })
        values[at * 6] = walletFlags.received
        new DataView(values.buffer).setUint32(at * 6 + 1, token)
        contracts.set(token, tokenOf(token))
      }
      this.read += length
      return { length, keys, values, valueEnds: Array.from({ length }, (_, at) => (at + 1) * 6), contracts }
    },
  } as unknown as IndexReader

  begin() {
    const headBlock = () => ({ number: this.head, hash: `0x${'0'.repeat(64)}` as Hash, timestamp: this.head })
    const store = {
      revision: () => 0,
      chainState: async () => ({ head: headBlock(), finalized: this.finalized }),
      contractCoverage: async () => [{ from: 0, to: this.head, evidence: 'bloom' }],
      lowestBlock: async () => headBlock(),
      indexes: this.#indexes,
    } as unknown as ClaimStore
    let looks = 0
    // Each request is of another moment.
    const claims = new Claims({ ...store, revision: () => looks++ }, () => looks++)
    const touched = new TouchedTokens({ indexes: this.#indexes, claims, admission: new HoldingsAdmission() })
    return async (toBlock?: number) => {
      const before = this.read
      const answer = await touched.of({ chain, wallet, toBlock }, options)
      const tokens = answer.tokens.map(Number)
      return { tokens, complete: answer.complete, isCut: answer.isCut, block: answer.block, read: this.read - before }
    }
  }
}

test('a busy wallet is complete after some requests, and no record is read twice but those that are not final', async () => {
  const world = new World(450_000, block => (block === 1 ? 3 : block % 2))
  const ask = world.begin()
  expect(await ask()).toMatchObject({ tokens: [0, 1], complete: false, isCut: true })
  const second = await ask()
  expect(second).toMatchObject({ complete: false })
  expect(second.read).toBeLessThan(210_000)
  expect(await ask()).toMatchObject({ tokens: [0, 1, 3], complete: true, isCut: false })
  expect(world.read).toBeLessThan(450_100)
  const again = await ask()
  expect(again).toMatchObject({ tokens: [0, 1, 3], complete: true, isCut: false })
  expect(again.read).toBeLessThan(20)
})

test('new blocks, others at the head and later history are seen; an older block is answered of its own', async () => {
  const world = new World(5_000, block => (block > 4_000 ? 1 : 2))
  const ask = world.begin()
  expect((await ask()).tokens).toEqual([1, 2])
  // Another branch above the final block.
  world.tokenAt = block => (block > 4_995 ? 7 : block > 4_000 ? 1 : 2)
  expect(await ask()).toMatchObject({ tokens: [7, 1, 2], complete: true })
  world.tokenAt = block => (block > 5_000 ? 8 : block > 4_000 ? 1 : 2)
  world.head += 40
  expect(await ask()).toMatchObject({ tokens: [8, 1, 2], block: 5_040 })
  world.finalized += 45
  expect(await ask()).toMatchObject({ tokens: [8, 1, 2], complete: true })
  expect(await ask(3_000)).toMatchObject({ tokens: [2], block: 3_000, complete: true })
  expect(await ask()).toMatchObject({ tokens: [8, 1, 2], complete: true })
  // Rows of final blocks that come late, or are taken back.
  world.tokenAt = block => (block === 2_000 ? 9 : 1)
  expect((await ask()).tokens).toEqual([1, 8, 2])
  world.filled++
  expect((await ask()).tokens).toEqual([1, 9])
  world.tokenAt = () => 4
  world.takenBack++
  expect((await ask()).tokens).toEqual([4])
})

test('of more tokens than are asked about the newest touched are told, and the rest is not looked for', async () => {
  const world = new World(100_000, block => block)
  const ask = world.begin()
  const first = await ask()
  expect([first.tokens.length, first.tokens[0], first.isCut, first.complete]).toEqual([2_000, 100_000, true, false])
  world.head += 5
  const next = await ask()
  expect([next.tokens.length, next.tokens[0], next.isCut]).toEqual([2_000, 100_005, true])
  expect(world.read).toBeLessThan(10_000)
})
