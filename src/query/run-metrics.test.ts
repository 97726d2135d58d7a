// What /metrics says of the runs of a store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packTransfer } from '../../test/pack-transfer.ts'
import { ChainTable } from '../chains.ts'
import { createMetrics } from '../metrics.ts'
import { type Address, type ChainId, type Hash, zeroAddress } from '../model.ts'
import { noActivity } from '../store/packed-activity.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { measureRuns } from './run-metrics.ts'

const hash = `0x${'0c'.repeat(32)}` as Hash
const contract = `0x${'ab'.repeat(20)}` as Address
const payload = packTransfer({
  ...{ standard: 'ERC721', batch: false, from: zeroAddress, to: contract, operator: undefined, sentBy: 'other' },
  ...{ tokenId: 1n, amount: 1n, value: 0n, transactionHash: hash, idCount: 1 },
})

test('runs and records are told by chain and view, and no longer where the store does not answer', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-run-metrics-'))
  const store = await openSqliteStore(join(directory, 'almanac.db'), { role: 'owner' })
  try {
    const chain = 1 as ChainId
    for (const number of [8, 7])
      await store.commitCold({
        chain,
        covered: [{ scope: 'full', from: number, to: number, evidence: 'receipts-root' }],
        ranges: [{ from: number, to: number, hash }],
        blocks: [{ number, hash, timestamp: 1_700_000_000 }],
        transfers: [1, 2, 3].map(logIndex => {
          return { block: number, transactionIndex: 0, logIndex, batchIndex: 0, contract, payload }
        }),
        activity: noActivity,
      })
    const metrics = createMetrics()
    const chains = new ChainTable()
    await measureRuns({ store, chains, metrics })
    const said = await metrics.registry.metrics()
    expect(said).toContain('almanac_store_runs{chain="eth",view="transfers"} 2\n')
    expect(said).toContain('almanac_store_run_records{chain="eth",view="transfers"} 6\n')
    expect(said).toContain('almanac_store_merging_records{chain="eth",view="transfers"} 0\n')
    const silent = { ...store, runs: () => Promise.reject(new Error('silent')) }
    await measureRuns({ store: silent, chains, metrics })
    expect(await metrics.registry.metrics()).not.toContain('almanac_store_runs{')
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
})
