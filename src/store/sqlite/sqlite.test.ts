// The SQLite engine against the contract of every engine.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StoreFixture, storeContract } from '../../../test/store-contract.ts'
import { openStore } from '../open.ts'

storeContract('sqlite', async (): Promise<StoreFixture> => {
  const directory = await mkdtemp(join(tmpdir(), 'almanac-store-'))
  const url = `file:${join(directory, 'almanac.db')}`
  const store = await openStore(url, { role: 'owner' })
  return {
    store,
    beside: () => openStore(url, { role: 'reader' }),
    dispose: async () => {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
})
