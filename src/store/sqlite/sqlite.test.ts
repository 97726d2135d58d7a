// The SQLite engine against the contract of every engine.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { openStore } from '../open.ts'
import { type OpenFileOptions, openSqliteStore } from './sqlite-store.ts'

storeContract('sqlite', () => open({ role: 'owner' }))
// Small commits of whole blocks go into tables as a rule. Here they are runs too.
storeContract('sqlite, in runs', () => open({ role: 'owner', bulkRows: 1, runsPerMerge: 3, packsPerStep: 1 }), {
  rowsOnly: true,
})

async function open(options: OpenFileOptions): Promise<StoreFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'almanac-store-'))
  const path = join(directory, 'almanac.db')
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
