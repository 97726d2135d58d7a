// Files that only their owner may read, whatever the umask: they hold hashes of keys, the secret of cursors, and
// URLs with keys of providers.
import { chmodSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs'

const ownerAlone = 0o600
const othersRights = 0o077

/** Creates an empty file where there is none. What SQLite puts beside it gets the same rights. */
export function createPrivate(path: string): void {
  try {
    const file = openSync(path, 'wx', ownerAlone)
    fchmodSync(file, ownerAlone)
    closeSync(file)
  } catch {
    // It exists, or opening it will say what is wrong with the place.
  }
}

/** Takes the rights of others away from files that are there. */
export function makePrivate(...paths: readonly string[]): void {
  for (const path of paths) {
    try {
      const { mode } = statSync(path)
      if ((mode & othersRights) !== 0) chmodSync(path, mode & 0o7777 & ~othersRights)
    } catch {
      // It is not there, or another user's, who decides.
    }
  }
}

/** A database with what SQLite puts beside it. */
export function makeDatabasePrivate(path: string): void {
  makePrivate(...['', '-wal', '-shm', '-journal'].map(end => path + end))
}
