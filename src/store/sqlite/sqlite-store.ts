// The store in one SQLite file. It only joins the parts, which have the transactions, snapshots and errors.
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { chainStore } from '../core/chain-store.ts'
import type { CoreOptions } from '../core/core.ts'
import { storeFormat } from '../schema.ts'
import type { Store, StoreInfo } from '../store.ts'
import { annotationStore } from '../tables/annotations.ts'
import { checkpointStore } from '../tables/checkpoints.ts'
import { keyStore } from '../tables/keys.ts'
import { leaseStore, requireLease } from '../tables/leases.ts'
import { solanaStore } from '../tables/solana-holdings.ts'
import { workStore } from '../tables/work.ts'
import { FileCondition } from './condition.ts'
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
import { runSql, sqliteTables } from './sql.ts'
import { SqliteEngine } from './sqlite-engine.ts'
import { StoreFile, type StoreFileParts } from './store-file.ts'

export type StoreRole = 'owner' | 'reader' | 'tool'

/** How long a write waits for other processes. */
const waitMsMax: Record<StoreRole, number> = { owner: 60_000, reader: 5_000, tool: 60_000 }

/** `mustBeCurrent`: a file that would have to be changed first is refused. */
export type OpenFileOptions = { role: StoreRole; mustExist?: boolean; mustBeCurrent?: boolean } & Partial<CoreOptions>

export async function openSqliteStore(
  path: string,
  { role, mustExist = false, mustBeCurrent = false, ...given }: OpenFileOptions,
): Promise<Store> {
  const location = `file:${path}`
  let ownership: Ownership | undefined
  try {
    if (mustExist) requireStoreFile(path)
    if (mustBeCurrent) requireReady(path)
    else await prepareFile(path)
    if (role === 'owner') ownership = new Ownership(path)
    const options = role === 'owner' ? ownerWriteOptions : writeOptions
    return sqliteStore({
      path,
      read: new Connection(path, readOptions),
      openWrite: () => new Connection(path, options),
      waitMsMax: waitMsMax[role],
      ownership,
      options: given,
    })
  } catch (error) {
    ownership?.release()
    throw storeFailure(error, location)
  }
}

export type SqliteStoreParts = Omit<StoreFileParts, 'condition'> & {
  ownership: Ownership | undefined
  options?: Partial<CoreOptions>
}

export function sqliteStore(parts: SqliteStoreParts): Store {
  const condition = new FileCondition(parts.path)
  const file = new StoreFile({ ...parts, condition })
  const shared = new SharedFile(`${parts.path}-shared`, condition)
  const { fencedBy, numbers, ...chains } = chainStore(new SqliteEngine(file), parts.options)
  const tables = sqliteTables(file, shared, numbers)
  return {
    engine: 'sqlite',
    location: file.location,
    // Only commits that answers can show count this row up; it is read in 2.5 µs. PRAGMA data_version costs 2.2 µs and
    // changes with every commit: use counts of keys and checkpoints would empty caches every second.
    revision: () => file.reading(read => read.get('SELECT value FROM revision')?.[0] as number),
    secret: async () =>
      file.reading(read => read.get("SELECT value FROM secrets WHERE name = 'cursor'")?.[0] as Uint8Array),
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
    problems: async () => file.reading(read => condition.problems(read)),
    close: async () => {
      await shared.close()
      await file.close()
      parts.ownership?.release()
    },
    ...chains,
    ...solanaStore(tables),
    ...keyStore(tables),
    ...annotationStore(tables),
    ...leaseStore(tables),
    fenced(lease) {
      const fenced = file.fenced(connection => runSql(connection, requireLease(lease)))
      const { putCheckpoint } = checkpointStore(sqliteTables(fenced, shared, numbers))
      return { ...fencedBy(new SqliteEngine(fenced)), putCheckpoint }
    },
    ...workStore(tables),
    ...checkpointStore(tables),
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
