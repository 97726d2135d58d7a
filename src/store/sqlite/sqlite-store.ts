// The store in one SQLite file, and as parts for copying it. It only joins what has the transactions, snapshots and
// errors.
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CoreOptions } from '../core/core.ts'
import type { StoreParts } from '../parts.ts'
import { storeFormat } from '../schema.ts'
import type { Store, StoreInfo } from '../store.ts'
import { allTables } from '../tables/all-tables.ts'
import { Connection } from './connection.ts'
import { storeFailure } from './failures.ts'
import {
  Ownership,
  ownerWriteOptions,
  prepareFile,
  readOptions,
  requireReady,
  requireStoreFile,
  writeOptions,
} from './open-file.ts'
import { SharedFile } from './shared-file.ts'
import { SqliteEngine } from './sqlite-engine.ts'
import { StoreFile, type StoreFileParts } from './store-file.ts'

export type StoreRole = 'owner' | 'reader' | 'tool'

/** How long a write waits for other processes. */
const waitMsMax: Record<StoreRole, number> = { owner: 60_000, reader: 5_000, tool: 60_000 }

/** `mustBeCurrent`: a file that would have to be changed first is refused. */
export type OpenFileOptions = { role: StoreRole; mustExist?: boolean; mustBeCurrent?: boolean } & Partial<CoreOptions>

export async function openSqliteStore(path: string, options: OpenFileOptions): Promise<Store> {
  const { role, mustExist, mustBeCurrent, ...given } = options
  return await openOwned(path, { isOwner: role === 'owner', mustExist, mustBeCurrent }, ownership =>
    sqliteStore({
      ...partsOf(path, role),
      ownership,
      options: given,
    }),
  )
}

/**
 * A file as parts (`../core/store-parts.ts`), for copying it. The process owns the file meanwhile: no other may index
 * into a store that is copied.
 */
export async function openSqliteParts(path: string, { mustExist = false } = {}): Promise<StoreParts> {
  // Most processes copy no store.
  const { storeParts } = await import('../core/store-parts.ts')
  return await openOwned(path, { isOwner: true, mustExist }, ownership => {
    const file = new StoreFile(partsOf(path, 'owner'))
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
  })
}

function partsOf(path: string, role: StoreRole): StoreFileParts {
  const options = role === 'owner' ? ownerWriteOptions : writeOptions
  return {
    path,
    read: new Connection(path, readOptions),
    openWrite: () => new Connection(path, options),
    waitMsMax: waitMsMax[role],
  }
}

type Opening = { isOwner: boolean; mustExist: boolean | undefined; mustBeCurrent?: boolean | undefined }

async function openOwned<T>(
  path: string,
  { isOwner, mustExist, mustBeCurrent }: Opening,
  open: (ownership: Ownership | undefined) => T,
): Promise<T> {
  let ownership: Ownership | undefined
  try {
    if (mustExist) requireStoreFile(path)
    if (mustBeCurrent) requireReady(path)
    else await prepareFile(path)
    if (isOwner) ownership = new Ownership(path)
    return open(ownership)
  } catch (error) {
    ownership?.release()
    throw storeFailure(error, `file:${path}`)
  }
}

export type SqliteStoreParts = StoreFileParts & {
  ownership: Ownership | undefined
  options?: Partial<CoreOptions>
}

export function sqliteStore(parts: SqliteStoreParts): Store {
  const file = new StoreFile(parts)
  const shared = new SharedFile(`${parts.path}-shared`, file.condition)
  return {
    engine: 'sqlite',
    location: file.location,
    secret: file.reading(read => read.get("SELECT value FROM secrets WHERE name = 'cursor'")?.[0]) as Uint8Array,
    // Only commits that answers can show count this row up; it is read in 2.5 µs. PRAGMA data_version costs 2.2 µs and
    // changes with every commit: use counts of keys and checkpoints would empty caches every second.
    revision: () => file.reading(read => read.get('SELECT value FROM revision')?.[0] as number),
    async info() {
      const logBytes = sizeOf(`${parts.path}-wal`)
      const sizeBytes = sizeOf(parts.path) + logBytes
      const usedBytes = file.reading(usedPagesBytes) + logBytes
      return {
        engine: 'sqlite',
        location: file.location,
        schemaVersion: storeFormat,
        sizeBytes,
        usedBytes,
        disk: diskOf(parts.path),
      }
    },
    takeInLog: () => file.takeInLog(),
    problems: async () => file.reading(read => file.condition.problems(read)),
    close: async () => {
      await shared.close()
      await file.close()
      parts.ownership?.release()
    },
    ...allTables(new SqliteEngine(file, shared), parts.options),
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** From the header of the file alone: 20 µs at any size. */
function usedPagesBytes(read: Connection): number {
  const [pages, free, pageSize] = ['page_count', 'freelist_count', 'page_size'].map(
    name => read.get(`PRAGMA ${name}`)?.[0] as number,
  ) as [number, number, number]
  return (pages - free) * pageSize
}

function diskOf(path: string): StoreInfo['disk'] {
  try {
    const { bsize, blocks, bavail } = statfsSync(dirname(path))
    return { bytes: bsize * blocks, freeBytes: bsize * bavail }
  } catch {
    // The directory is gone, or its file system does not say.
    return undefined
  }
}
