import { expect, test } from 'vitest'
import type { Address, ChainId, Position } from '../model.ts'
import type { IndexReader } from '../store/index-reader.ts'
import { byWallet, walletFlags } from '../store/indexes/by-wallet.ts'
import { blockOfPlace, writePlace } from '../store/runs/place-key.ts'
import { findPlaces, visitAll, walletTransfers } from './index-places.ts'

const chain = 1 as ChainId
const wallet = `0x${'a'.repeat(40)}` as Address
const [common, rare] = ['1', '2'].map(digit => `0x${digit.repeat(40)}`) as [Address, Address]
const contracts = new Map([common, rare].entries())
const everything = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** One record in each block from `blocks` down to 1; the oldest is of another contract. */
function readerOf(blocks: number): IndexReader & { read: number } {
  const reader = {
    read: 0,
    async indexRecords({ after, limit, from }: Parameters<IndexReader['indexRecords']>[0]) {
      const first = after === undefined ? blocks : blockOfPlace(after, byWallet.placeAt) - 1
      const length = Math.max(0, Math.min(limit, first))
      const keys = new Uint8Array(length * byWallet.keyBytes)
      const values = new Uint8Array(length * 6)
      for (let at = 0; at < length; at++) {
        keys.set(from, at * byWallet.keyBytes)
        writePlace(keys, at * byWallet.keyBytes + byWallet.placeAt, placeAt(first - at))
        values[at * 6] = walletFlags.received
        values[at * 6 + 4] = first - at === 1 ? 1 : 0
      }
      reader.read += length
      return { length, keys, values, valueEnds: Array.from({ length }, (_, at) => (at + 1) * 6), contracts }
    },
  }
  return reader as unknown as IndexReader & { read: number }
}

const placeAt = (block: number): Position => ({ block, transactionIndex: 0, logIndex: 0, batchIndex: 0 })

test('a search that finds nothing ends at a bound and goes on from there', async () => {
  const reader = readerOf(450_000)
  const span = walletTransfers(chain, wallet, everything, { direction: 'both', contracts: [rare] })
  const found: number[] = []
  let requests = 0
  for (let after: Position | undefined; ; requests++) {
    const before = reader.read
    const { places, stoppedAt } = await findPlaces(reader, span, { order: 'desc', after, limit: 101 })
    expect(reader.read - before).toBeLessThan(210_000)
    found.push(...places.map(({ block }) => block))
    if (stoppedAt === undefined) break
    after = stoppedAt
  }
  expect(found).toEqual([1])
  expect(requests).toBe(2)
  expect(reader.read).toBe(450_000)
})

test('without a filter no more is read than a page needs', async () => {
  const reader = readerOf(450_000)
  const span = walletTransfers(chain, wallet, everything, { direction: 'both', contracts: [] })
  const { places, stoppedAt } = await findPlaces(reader, span, { order: 'desc', after: undefined, limit: 101 })
  expect([places.length, stoppedAt, reader.read]).toEqual([101, undefined, 101])
})

test('what is beyond the bound is not counted', async () => {
  const count = async (blocks: number) => {
    let seen = 0
    const span = walletTransfers(chain, wallet, everything, { direction: 'to', contracts: [] })
    return [await visitAll(readerOf(blocks), span, () => seen++), seen]
  }
  expect(await count(5_000)).toEqual([undefined, 5_000])
  const [stoppedAt, seen] = await count(450_000)
  expect(stoppedAt).toMatchObject({ block: expect.any(Number) })
  expect(seen).toBeLessThan(210_000)
})

test('others are served while many records are looked at', async () => {
  const slow = readerOf(50_000)
  const reader: IndexReader = {
    ...slow,
    // As a file is read: at once, which takes its time.
    indexRecords: query => {
      const until = performance.now() + 5
      while (performance.now() < until);
      return slow.indexRecords(query)
    },
  }
  let turns = 0
  const count = (): void => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await visitAll(reader, walletTransfers(chain, wallet, everything, { direction: 'both', contracts: [] }), () => {})
  clearImmediate(timer)
  expect(turns).toBeGreaterThan(10)
})
