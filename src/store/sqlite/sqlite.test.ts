// The SQLite engine against the contract of every engine.
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { openStore } from '../open.ts'
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
// Small commits of whole blocks go into tables as a rule. Here they are runs too.
storeContract(
  'sqlite, in runs',
  () => open({ role: 'owner', foldBlocks: 1, runsPerMerge: 3, recordsWorthMerging: 1, packsPerStep: 1 }),
  {
    rowsOnly: true,
  },
)

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
