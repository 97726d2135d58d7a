import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { row } from '../../../test/listed-transfers.ts'
import { apes, blockOf, chain, hashOf } from '../../../test/plain-rows.ts'
import { openStore } from '../open.ts'
import { noActivity } from '../packed-activity.ts'
import type { Store } from '../store.ts'

const folder = mkdtempSync(join(tmpdir(), 'almanac-counts-'))
const [blocks, perBlock] = [600, 100]
let store: Store

async function commit(from: number, to: number, at: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const transfers = numbers.flatMap(block =>
    Array.from({ length: perBlock }, (_, index) =>
      row(apes, [block, at + index, at + index], { tokenId: BigInt(index), transactionHash: hashOf(index) }),
    ),
  )
  await store.commitCold({
    ...{ chain, transfers, activity: noActivity, blocks: numbers.map(blockOf) },
    covered: [{ scope: 'transfers', from, to, evidence: 'receipts-root' }],
  })
}

beforeAll(async () => {
  store = await openStore(`file:${join(folder, 'store.db')}`, { role: 'owner' })
  await commit(0, blocks - 1, 0)
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

test('a count that scans many rows lets others have their turn', async () => {
  let turns = 0
  let isDone = false
  const others = (async () => {
    for (; !isDone; turns++) await setImmediate()
  })()
  const count = await store.transferCount({ chain, contract: apes, toBlock: 500 })
  isDone = true
  await others
  expect(count).toBe(501 * perBlock)
  expect(turns).toBeGreaterThan(1)
})

test.each([
  { fromBlock: 0, toBlock: 0 },
  { fromBlock: 3, toBlock: 597 },
  { fromBlock: 300 },
  { toBlock: 599 },
  { fromBlock: 599, toBlock: 700 },
])('the count of %j is exact', async range => {
  const { fromBlock, toBlock = blocks - 1 } = range
  const expected = (Math.min(toBlock, blocks - 1) - (fromBlock ?? 0) + 1) * perBlock
  expect(await store.transferCount({ chain, contract: apes, ...range })).toBe(expected)
})

test('rows that come while they are counted are all counted, or none of them', async () => {
  const counting = store.transferCount({ chain, contract: apes, toBlock: 500 })
  await commit(0, 10, 10_000)
  expect([501 * perBlock, 512 * perBlock]).toContain(await counting)
  expect(await store.transferCount({ chain, contract: apes, toBlock: 500 })).toBe(512 * perBlock)
})
