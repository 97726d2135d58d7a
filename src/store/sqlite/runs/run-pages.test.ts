// Pages of rows at the limits of what a key in a run can tell, and beyond: those are in a table.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packTransfer } from '../../../../test/pack-transfer.ts'
import { rowsOf } from '../../../../test/store-rows.ts'
import type { Address, ChainId, Hash, Position } from '../../../model.ts'
import { noActivity } from '../../packed-activity.ts'
import type { Store } from '../../store.ts'
import { findDamage } from '../damage.ts'
import { openSqliteParts } from '../parts.ts'
import { openSqliteStore } from '../sqlite-store.ts'

const chain = 1 as ChainId
const contract = `0x${'c'.repeat(40)}` as Address
const wallet = `0x${'f'.repeat(40)}` as Address
const hash = `0x${'e'.repeat(64)}` as Hash
const [blockMax, placeMax, numberMax] = [2 ** 32 - 1, 2 ** 24 - 1, 2n ** 256n - 1n]
/** As long as a payload can be. */
const payload = packTransfer({
  ...{ standard: 'ERC1155', batch: true, from: wallet, to: wallet, operator: wallet, transactionHash: hash },
  ...{ tokenId: numberMax, amount: numberMax, value: numberMax, idCount: 7 },
})

/** Newest first. */
const places = [
  [blockMax + 7, 0, 3, 0],
  [blockMax, 5, 5, 5],
  [blockMax - 1, placeMax - 1, 3, 3],
  [blockMax - 1, 0, 0, 0],
  [7, placeMax + 4, 0, 0],
  [7, placeMax - 1, 3, 3],
  [7, 2, placeMax + 9, 0],
  [7, 2, placeMax - 1, 5],
  [6, placeMax, placeMax, placeMax],
  [6, placeMax, placeMax, 0],
  [0, 0, 0, 0],
] as const

async function commit(store: Store, [block, transactionIndex, logIndex, batchIndex]: readonly number[]): Promise<void> {
  const place = { block, transactionIndex, logIndex, batchIndex } as Position
  const ranges = [{ from: place.block, to: place.block, hash }]
  const isFirst = (await store.lowestBlock(chain, ranges[0]!)) === undefined
  await store.commitCold({
    // A second row of a block comes as one of a contract on demand.
    ...{ chain, covered: [], ...(isFirst ? { ranges } : {}) },
    blocks: [{ number: place.block, hash, timestamp: 1 }],
    transfers: [{ ...place, contract, payload }],
    activity: noActivity,
  })
}

test('rows at the limits of keys and beyond are found from both sides, and copied', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-limits-'))
  const path = join(folder, 'limits.db')
  try {
    const store = await openSqliteStore(path, { role: 'owner', bulkRows: 1 })
    // The rows that keys can tell come first where a block has both.
    for (const fits of [true, false])
      for (const place of places) if (place.slice(1).every(at => at < placeMax) === fits) await commit(store, place)
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 2, 100]) {
        const found: number[][] = []
        let after: Position | undefined
        do {
          const page = await store.transferPage({ chain, contract, order, limit, ...(after && { after }) })
          const rows = rowsOf(page)
          found.push(...rows.map(row => [row.block, row.transactionIndex, row.logIndex, row.batchIndex]))
          for (const row of rows) expect(Buffer.from(row.payload, 'hex')).toEqual(payload)
          after = rows.length === limit ? rows.at(-1) : undefined
        } while (after !== undefined && found.length <= places.length)
        expect(found).toEqual(order === 'desc' ? places : places.toReversed())
      }
    expect(await store.transferCount({ chain, contract })).toBe(7 * places.length)
    expect(await store.transferCount({ chain, contract, fromBlock: 7, toBlock: blockMax })).toBe(7 * 7)
    await store.close()
    expect(findDamage(path)).toBe('ok')
    const parts = await openSqliteParts(path)
    const copied: unknown[] = []
    let cursor: string | undefined
    do {
      const page = await parts.readPart('transfers', cursor, 1)
      copied.push(...page.rows.map(row => row.slice(1, 5)))
      cursor = page.next
    } while (cursor !== undefined && copied.length <= places.length)
    await parts.close()
    expect(copied).toEqual(places)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
