// Opens stores, replicas, plain parts and bulk imports by address, backs up and restores files and compacts stores: the
// only place that knows the engines.
import { resolve } from 'node:path'
import { AlmanacError } from '../errors.ts'
import type { SolanaNetwork } from '../model.ts'
import type { StoreParts } from './parts.ts'
import type { SolanaStaging } from './solana-store.ts'
import type { FileRoom } from './sqlite/backup.ts'
import type { Restored, RestoreOptions } from './sqlite/restore/restore.ts'
import { openSqliteParts, openSqliteStore, type StoreRole } from './sqlite/sqlite-store.ts'
import type { ReadReplica, Store } from './store.ts'

export type OpenStoreOptions = {
  /**
   * `owner`: the one process that indexes; a file refuses a second one. `reader`: serves requests, with short writes
   * that never block its thread. `tool`: a command with short writes beside a running owner.
   */
  role: StoreRole
  /** For how long blocks that a reorganisation replaced are kept. Absent: as usual. */
  goneKeptMs?: number
} & MayCreate

/** `not_found` where there is no store at the address. Otherwise one is created there. */
export type MayCreate = { mustExist?: boolean }

export async function openStore(url: string, options: OpenStoreOptions): Promise<Store> {
  if (url.startsWith('file:')) return await openSqliteStore(resolve(pathOf(url)), options)
  if (/^postgres(ql)?:/i.test(url)) {
    // Loaded only here: a store in a file needs no driver in memory.
    const { openPostgresStore } = await import('./postgres/postgres-store.ts')
    return await openPostgresStore(url, options)
  }
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme'
  throw new AlmanacError('not_configured', `Almanac has no store for addresses with ${scheme}.`, {
    hint: 'set store to a file, such as file:./almanac.db, or to postgres://user:password@host/database.',
  })
}

/** Fails where the server of a store does not serve this user. It changes nothing; a file has no server. */
export async function reachStore(url: string): Promise<void> {
  if (storeFile(url) !== undefined) return
  const { reachDatabase } = await import('./postgres/postgres-store.ts')
  await reachDatabase(url)
}

/** To read a store in a file, which is refused where it needs a step of the schema. Undefined for a server. */
export async function openStoreAsItIs(url: string): Promise<Store | undefined> {
  const path = storeFile(url)
  const options = { role: 'tool', mustExist: true, mustBeCurrent: true } as const
  return path === undefined ? undefined : await openSqliteStore(path, options)
}

/** A replica that follows the server of a store. */
export async function openReplica(store: Store, url: string, lagMsMax: number): Promise<ReadReplica> {
  const { isPostgresStore, openReadReplica } = await import('./postgres/postgres-store.ts')
  if (isPostgresStore(store)) return openReadReplica({ primary: store, url, lagMsMax })
  throw new AlmanacError('config_invalid', 'store_read needs a PostgreSQL store; this store is a file.', {
    hint: 'remove store_read, or name a PostgreSQL server under store.',
  })
}

/** A store as plain parts, for copying it: no process may write to it meanwhile. */
export async function openStoreParts(url: string, options: MayCreate = {}): Promise<StoreParts> {
  if (url.startsWith('file:')) {
    return await openSqliteParts(resolve(pathOf(url)), options)
  }
  const { openPostgresParts } = await import('./postgres/postgres-store.ts')
  return await openPostgresParts(url, options)
}

/** Copies a store in a file while it is in use. */
export async function backUpStore(url: string, target: string): Promise<{ bytes: number }> {
  if (url.startsWith('file:')) {
    const { backUpFile } = await import('./sqlite/backup.ts')
    return await backUpFile(resolve(pathOf(url)), target)
  }
  throw new AlmanacError(
    'config_invalid',
    'almanac store backup copies file stores only; back up a database server with its own tools.',
    {
      hint: 'run pg_dump --format=custom, or take base backups; see docs/backup.md.',
    },
  )
}

/** Puts a backup in the place of a store in a file, which no process may have open. */
export async function restoreStore(url: string, backup: string, options: RestoreOptions): Promise<Restored> {
  if (url.startsWith('file:')) {
    const { restoreFile } = await import('./sqlite/restore/restore.ts')
    return await restoreFile(backup, resolve(pathOf(url)), options)
  }
  throw new AlmanacError(
    'config_invalid',
    'almanac store restore replaces file stores only; restore a database server with its own tools.',
    {
      hint: 'run pg_restore into a new database and carry over which keys were revoked; see docs/backup.md.',
    },
  )
}

/** Returns to the disk what is free within a store. A file must not be in use by any other process. */
export async function compactStore(url: string): Promise<{ before: number; after: number }> {
  if (url.startsWith('file:')) {
    const { compactFile } = await import('./sqlite/backup.ts')
    return await compactFile(resolve(pathOf(url)))
  }
  const { openPostgresStore } = await import('./postgres/postgres-store.ts')
  const store = await openPostgresStore(url, { mustExist: true })
  try {
    const before = (await store.info()).sizeBytes
    await store.vacuum()
    return { before, after: (await store.info()).sizeBytes }
  } finally {
    await store.close()
  }
}

/** What compacting needs and would return; undefined for a server, whose disk is not ours to look at. */
export async function roomInStore(url: string): Promise<FileRoom | undefined> {
  if (!url.startsWith('file:')) return undefined
  const { roomOf } = await import('./sqlite/backup.ts')
  return roomOf(resolve(pathOf(url)))
}

/** The path of a store in a file; undefined for a server. */
export function storeFile(url: string): string | undefined {
  return url.startsWith('file:') ? resolve(pathOf(url)) : undefined
}

/** Looks for damage in a store in a file: `ok`, or what was found first. It takes minutes for a large one. */
export async function checkFile(url: string): Promise<string> {
  const { findDamage } = await import('./sqlite/damage.ts')
  return findDamage(resolve(pathOf(url)))
}

/** `file:./x.db`, `file:/abs/x.db` and `file:///abs/x.db`. */
function pathOf(url: string): string {
  const path = url.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
  if (path === '' || path.endsWith('/') || path.includes('\0'))
    throw new AlmanacError('config_invalid', `The store ${JSON.stringify(url)} does not name a file.`, {
      hint: 'set store to a file, such as file:./almanac.db.',
    })
  return path
}

// Bulk imports of whole Solana networks. In a file rows are staged, outside of every answer, and merged all at once:
// one upsert for each row would cost five times as much. Servers take rows in bulk as they come.

export async function openSolanaStaging(store: Store, network: SolanaNetwork): Promise<SolanaStaging> {
  if (store.engine === 'sqlite') {
    const { SqliteSolanaStaging } = await import('./sqlite/solana-staging.ts')
    return new SqliteSolanaStaging(store.location.replace(/^file:/, ''), network)
  }
  const { isPostgresStore } = await import('./postgres/postgres-store.ts')
  if (isPostgresStore(store)) return store.solanaStaging(network)
  throw new Error(`${store.engine} cannot stage`)
}
