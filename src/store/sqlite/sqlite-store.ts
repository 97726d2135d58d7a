// The store in one SQLite file. It only joins the parts, which have the transactions, snapshots and errors.
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { views } from '../core/merge-runs.ts'
import { bulkRows, runsPerMerge } from '../runs/levels.ts'
import { storeFormat } from '../schema.ts'
import type { Store, StoreInfo } from '../store.ts'
import { activityReader } from './activity.ts'
import { annotationStore } from './annotations.ts'
import { chainReader, chainWriter } from './chain.ts'
import { FileCondition } from './condition.ts'
import { Connection } from './connection.ts'
import { storeFailure } from './failures.ts'
import { indexReader } from './indexes/index-reader.ts'
import { keyStore } from './keys.ts'
import {
  Ownership,
  ownerWriteOptions,
  prepareFile,
  readOptions,
  requireReady,
  requireStoreFile,
  writeOptions,
} from './open-file.ts'
import { runSummaries } from './runs/runs.ts'
import { SharedFile } from './shared-file.ts'
import { solanaStore } from './solana-holdings.ts'
import { StoreFile, type StoreFileParts } from './store-file.ts'
import { transferReader } from './transfer-pages.ts'
import { checkpointStore, leases, requireLease, workStore } from './work.ts'

export type StoreRole = 'owner' | 'reader' | 'tool'

/** How long a write waits for other processes. */
const waitMsMax: Record<StoreRole, number> = { owner: 60_000, reader: 5_000, tool: 60_000 }

/** Opened in one transaction by who walks over whole runs: some tens of milliseconds. */
const packsPerStepUsual = 2_000

/** `mustBeCurrent`: a file that would have to be changed first is refused. */
export type OpenFileOptions = { role: StoreRole; mustExist?: boolean; mustBeCurrent?: boolean } & RunOptions
type RunOptions = { bulkRows?: number; runsPerMerge?: number; packsPerStep?: number }

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
      ...given,
    })
  } catch (error) {
    ownership?.release()
    throw storeFailure(error, location)
  }
}

export type SqliteStoreParts = Omit<StoreFileParts, 'condition' | keyof RunOptions> &
  RunOptions & { ownership: Ownership | undefined }

export function sqliteStore(parts: SqliteStoreParts): Store {
  const condition = new FileCondition(parts.path)
  const usual = { bulkRows, runsPerMerge, packsPerStep: packsPerStepUsual }
  const file = new StoreFile({ ...usual, ...parts, condition })
  const shared = new SharedFile(`${parts.path}-shared`, condition)
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
    runs: async () => file.reading(read => runSummaries(read, views)),
    indexes: indexReader(file),
    takeInLog: () => file.takeInLog(),
    problems: async () => file.reading(read => condition.problems(read)),
    close: async () => {
      await shared.close()
      await file.close()
      parts.ownership?.release()
    },
    ...chainReader(file),
    ...chainWriter(file),
    ...transferReader(file),
    ...activityReader(file),
    ...solanaStore(file),
    ...keyStore(file, shared),
    ...annotationStore(file),
    ...leases(file),
    fenced(lease) {
      const fenced = file.fenced(connection => requireLease(connection, lease))
      return { ...chainWriter(fenced), putCheckpoint: checkpointStore(fenced).putCheckpoint }
    },
    ...workStore(shared),
    ...checkpointStore(file),
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
