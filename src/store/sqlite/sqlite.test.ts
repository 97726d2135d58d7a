// The SQLite engine against the contract of every engine.
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { row } from '../../../test/listed-transfers.ts'
import { apes, blockOf, chain } from '../../../test/plain-rows.ts'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import type { Address, Hash } from '../../model.ts'
import { byWallet } from '../indexes/by-wallet.ts'
import { openStore } from '../open.ts'
import { noActivity } from '../packed-activity.ts'
import { prepareFile } from './open-file.ts'
import { type OpenFileOptions, openSqliteStore } from './sqlite-store.ts'

// Making the tables takes most of the time of a store with a few rows, so each of them is a copy of one file.
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-store-'))
  await prepareFile(join(folder, 'empty.db'))
})
afterAll(() => rm(folder, { recursive: true }))

storeContract('sqlite', () => open({ role: 'owner' }))
// Final blocks wait to be folded as a rule. Here each becomes runs at once.
storeContract(
  'sqlite, in runs',
  () => open({ role: 'owner', foldBlocks: 1, runsPerMerge: 3, recordsWorthMerging: 1, packsPerStep: 1 }),
  {
    rowsOnly: true,
  },
)

test('runs stay few while the head is followed', async () => {
  const { store, dispose } = await open({ role: 'owner', foldBlocks: 1 })
  for (let number = 1; number <= 150; number++) {
    const block = { number, hash: `0x${String(number).padStart(64, '0')}` as Hash, timestamp: number }
    const transfers = Array.from({ length: 40 }, (_, logIndex) => ({
      ...{ contract: `0x${'a'.repeat(40)}` as Address, block: number, transactionIndex: 0, logIndex, batchIndex: 0 },
      payload: new Uint8Array(40),
    }))
    const blocks = [{ ...block, transfers, activity: noActivity }]
    await store.commitHot({ chain, ancestor: number - 1, blocks, head: block })
    await store.putChainState(chain, { finalized: number })
  }
  // Two levels of up to sixteen, and those that wait for a step.
  for (const { view, runs } of await store.runs!()) expect(runs, view).toBeLessThan(45)
  await dispose()
})

test('an index has no records where only the run of a merge is left, which has none yet', async () => {
  const path = join(folder, 'merging.db')
  await copyFile(join(folder, 'empty.db'), path)
  let store = await openSqliteStore(path, { role: 'owner' })
  const transfers = [row(apes, [1, 0, 0], { tokenId: 1n })]
  await store.commitCold({ chain, covered: [], blocks: [blockOf(1)], transfers, activity: noActivity })
  await store.close()
  const raw = new DatabaseSync(path)
  raw.exec(`DELETE FROM packs WHERE run IN (SELECT id FROM runs WHERE view = ${byWallet.id});
    UPDATE runs SET records = 0, growing = 1 WHERE view = ${byWallet.id}`)
  raw.close()
  store = await openSqliteStore(path, { role: 'owner' })
  const span = { from: new Uint8Array(byWallet.keyBytes), to: new Uint8Array(byWallet.keyBytes).fill(255) }
  const query = { chain, index: byWallet.name, ...span, order: 'keys', limit: 10 } as const
  expect((await store.indexes.indexRecords(query)).length).toBe(0)
  await store.close()
})

async function open(options: OpenFileOptions): Promise<StoreFixture> {
  const directory = await mkdtemp(join(folder, 'store-'))
  const path = join(directory, 'almanac.db')
  await copyFile(join(folder, 'empty.db'), path)
  const url = `file:${path}`
  const store = await openSqliteStore(path, options)
  return {
    store,
    beside: () => openStore(url, { role: 'reader' }),
    stepClock: async ms => {
      vi.restoreAllMocks()
      const { now } = Date
      vi.spyOn(Date, 'now').mockImplementation(() => now() + ms)
    },
    dispose: async () => {
      vi.restoreAllMocks()
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}
