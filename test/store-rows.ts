// The rows of a page one by one, as tests compare them. It needs no test runner.
import assert from 'node:assert/strict'
import type { Hash } from '../src/model.ts'
import type { TransferPage } from '../src/store/index-reader.ts'
import { layOut, newLayout } from '../src/store/transfer-payload.ts'
import type { ModelRow } from './model-store.ts'

/** A page as one object for each row. */
export function rowsOf(page: TransferPage): ModelRow[] {
  let at = 0
  const layout = newLayout()
  const rows = page.blocks.map((blockNumber, index) => {
    const start = at
    layOut(page.payloads, start, layout)
    at = layout.end
    return {
      block: Number(blockNumber),
      transactionIndex: page.transactionIndexes[index]!,
      logIndex: page.logIndexes[index]!,
      batchIndex: page.batchIndexes[index]!,
      timestamp: page.timestamps[index]!,
      hash: `0x${Buffer.from(page.blockHashes.subarray(index * 32, index * 32 + 32)).toString('hex')}` as Hash,
      payload: Buffer.from(page.payloads.subarray(start, at)).toString('hex'),
    }
  })
  assert.equal(page.length, rows.length)
  assert.equal(page.payloads.length, at)
  assert.equal(page.blockHashes.length, rows.length * 32)
  return rows
}
