// The SQLite engine against the contract of every engine.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { openStore } from '../open.ts'

storeContract('sqlite', async (): Promise<StoreFixture> => {
  const directory = await mkdtemp(join(tmpdir(), 'almanac-store-'))
  const url = `file:${join(directory, 'almanac.db')}`
  const store = await openStore(url, { role: 'owner' })
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
})
