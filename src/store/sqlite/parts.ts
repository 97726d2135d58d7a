// A file as parts (`../core/store-parts.ts`), for copying it. The process owns the file meanwhile: no other may index
// into a store that is copied.
import { storeParts } from '../core/store-parts.ts'
import type { StoreParts } from '../parts.ts'
import { FileCondition } from './condition.ts'
import { Connection } from './connection.ts'
import { storeFailure } from './failures.ts'
import { Ownership, ownerWriteOptions, prepareFile, readOptions, requireStoreFile } from './open-file.ts'
import { SqliteEngine } from './sqlite-engine.ts'
import { StoreFile } from './store-file.ts'

const waitMsMax = 60_000

export async function openSqliteParts(path: string, { mustExist = false } = {}): Promise<StoreParts> {
  let ownership: Ownership | undefined
  try {
    if (mustExist) requireStoreFile(path)
    await prepareFile(path)
    ownership = new Ownership(path)
    const file = new StoreFile({
      ...{ path, waitMsMax, condition: new FileCondition(path) },
      read: new Connection(path, readOptions),
      openWrite: () => new Connection(path, ownerWriteOptions),
    })
    return storeParts({
      engine: new SqliteEngine(file),
      location: file.location,
      // A number of a file follows the highest.
      keepNumbers: async () => {},
      async close() {
        await file.close()
        ownership?.release()
      },
    })
  } catch (error) {
    ownership?.release()
    throw storeFailure(error, `file:${path}`)
  }
}
