// Where the sandbox of a working directory can be reached. With nothing configured `start` runs the sandbox, and other
// commands in the same directory mean that one.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { LoadedConfig } from '../config/load.ts'
import { parseListen } from '../config/settings.ts'
import { printNote } from './terminal.ts'

const runningSandbox = z.object({
  process: z.int(),
  /** Its configuration file. */
  config: z.string(),
  store: z.string(),
  url: z.string(),
  key: z.string(),
})
export type RunningSandbox = z.output<typeof runningSandbox>

/** Returns what takes it back. */
export function announceSandbox(sandbox: Omit<RunningSandbox, 'process'>): () => void {
  const path = noteOfDirectory()
  // Not over a file that another user may have put there.
  rmSync(path, { force: true })
  writeFileSync(path, JSON.stringify({ ...sandbox, process: process.pid }), { mode: 0o600, flag: 'wx' })
  return () => {
    if (findSandbox()?.process === process.pid) rmSync(path, { force: true })
  }
}

/** The running sandbox of this directory if nothing is configured; a line on stderr says so. */
export function sandboxMeant({ unconfigured }: LoadedConfig): RunningSandbox | undefined {
  const sandbox = unconfigured ? findSandbox() : undefined
  if (sandbox !== undefined) printNote('Nothing is configured here: using the running sandbox.')
  return sandbox
}

/** The server that commands ask: the sandbox, or the configured one; one that listens everywhere on this machine. */
export function serverMeant(loaded: LoadedConfig): { url: string; key?: string } {
  const sandbox = sandboxMeant(loaded)
  if (sandbox !== undefined) return sandbox
  const { host, port } = parseListen(loaded.config.listen)!
  const asked = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host
  return { url: `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}` }
}

function findSandbox(): RunningSandbox | undefined {
  try {
    const path = noteOfDirectory()
    const facts = lstatSync(path)
    if (!facts.isFile() || facts.uid !== process.getuid?.()) return undefined
    const sandbox = runningSandbox.parse(JSON.parse(readFileSync(path, 'utf8')))
    // Throws where the process has ended.
    process.kill(sandbox.process, 0)
    return sandbox
  } catch {
    return undefined
  }
}

function noteOfDirectory(): string {
  const directory = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 16)
  return join(tmpdir(), `almanac-sandbox-${directory}.json`)
}
