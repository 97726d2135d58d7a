// Keeps compiled code on disk between starts, which takes half of the time to start away. Without a place to keep it nothing changes.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** By then what a start needs is loaded; a process that is killed later leaves the next one a warm cache. */
const flushAfterMs = 5_000

/** For the thread that calls, and only for what it imports afterwards. */
export function keepCompiledCode(): void {
  try {
    // Not below the system's temporary folder, where another user could put code in its place.
    const { directory } = enableCompileCache(join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'almanac'))
    if (directory !== undefined) setTimeout(flushCompileCache, flushAfterMs).unref()
  } catch {
    // A user without a home.
  }
}
