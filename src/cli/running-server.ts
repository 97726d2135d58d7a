// Where a running service can be reached: that of a store in a file, by a note beside the file, and the sandbox of a
// working directory. With nothing configured `start` runs the sandbox, which other commands in the same directory then
// mean.
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import type { LoadedConfig } from '../config/load.ts'
import { parseListen } from '../config/settings.ts'
import { AlmanacError } from '../errors.ts'
import { storeFile } from '../store/open.ts'
import { commandLine } from './current-process.ts'
import { loadConfigFor, tellMissing, withConfig } from './options.ts'
import { printNote } from './terminal.ts'

const runningSandbox = z.object({
  process: z.int(),
  /** Where it was started. */
  directory: z.string(),
  /** Its configuration file. */
  config: z.string(),
  store: z.string(),
  url: z.string(),
  key: z.string(),
})
export type RunningSandbox = z.output<typeof runningSandbox>

/** Returns what takes it back. */
export function announceSandbox(sandbox: Omit<RunningSandbox, 'process' | 'directory'>): () => void {
  const path = noteOfDirectory()
  // Not over a file that another user may have put there.
  rmSync(path, { force: true })
  writeFileSync(path, JSON.stringify({ ...sandbox, process: process.pid, directory: process.cwd() }), {
    mode: 0o600,
    flag: 'wx',
  })
  return () => {
    if (sandboxHere()?.process === process.pid) rmSync(path, { force: true })
  }
}

/** The running sandbox of this directory if nothing is configured. The first command that takes it says so. */
export function sandboxMeant({ unconfigured }: LoadedConfig): RunningSandbox | undefined {
  const sandbox = unconfigured ? sandboxHere() : undefined
  if (sandbox !== undefined && isFirst(sandbox))
    printNote('Nothing is configured here: this and the next commands use the running sandbox.\n')
  return sandbox
}

/** Remembered beside the configuration of the sandbox, which ends with it. */
function isFirst({ config }: RunningSandbox): boolean {
  try {
    writeFileSync(join(dirname(config), 'used'), '', { flag: 'wx' })
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST'
  }
}

/** As `withConfig`; where nothing is configured, with the configuration of the sandbox that runs here. */
export function withMeantConfig<Parameters extends unknown[]>(
  command: Command,
  settings: readonly string[],
  run: (loaded: LoadedConfig, ...parameters: Parameters) => Promise<void>,
): Command {
  const meantBy = (loaded: LoadedConfig): LoadedConfig => {
    const sandbox = sandboxMeant(loaded)
    return sandbox === undefined ? loaded : loadConfigFor(command, sandbox.config)
  }
  withConfig<Parameters>(command, settings, async (loaded, ...parameters) => {
    const meant = meantBy(loaded)
    await run(meant, ...parameters).catch((error: unknown) => {
      const lacksChain = error instanceof AlmanacError && error.code === 'not_configured'
      throw lacksChain ? withSandboxElsewhere(error, meant) : error
    })
  })
  return tellMissing(command, () => meantBy(loadConfigFor(command)))
}

/**
 * What to do about a chain, a store or a server that is not found where nothing is configured: a sandbox of this user
 * may run in another directory. It is not taken, as a command in the wrong directory would then back up or change the
 * wrong store.
 */
export function withSandboxElsewhere(error: unknown, { unconfigured }: LoadedConfig): unknown {
  const isMissing =
    error instanceof AlmanacError && /^(not_found|not_configured|upstream_failed|unauthorized)$/.test(error.code)
  if (!isMissing || !unconfigured) return error
  const running = runningSandboxes().find(({ directory }) => directory !== process.cwd())
  const { code, message, cause, retryable, hint } = error
  const isStore = code === 'not_found' && message.startsWith('There is no store at')
  const hints = [
    isStore ? `write one with \`${commandLine} init\`, or name yours with --config.` : [],
    hint ?? [],
    running === undefined ? [] : `run this in ${running.directory}, where a sandbox runs.`,
  ].flat()
  return new AlmanacError(code, isStore ? `There is no configuration here. ${message}` : message, {
    ...{ cause, retryable },
    ...(hints.length === 0 ? {} : { hint: hints.join('\n') }),
  })
}

export function sandboxAt(url: string): RunningSandbox | undefined {
  return runningSandboxes().find(sandbox => sandbox.url === url)
}

/** Of this user, in any directory. */
function runningSandboxes(): RunningSandbox[] {
  return filesIn(tmpdir())
    .filter(name => /^almanac-sandbox-[0-9a-f]{16}\.json$/.test(name))
    .flatMap(name => readNote(join(tmpdir(), name), runningSandbox) ?? [])
}

/** None where the folder cannot be listed. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * The server that commands ask: the sandbox, the one that runs on the store, or the configured one; one that listens
 * everywhere on this machine. A `listen` that the user gives to the command wins over what runs.
 */
export function serverMeant(loaded: LoadedConfig, listenGiven: boolean): { url: string; key?: string } {
  const sandbox = sandboxMeant(loaded)
  if (sandbox !== undefined) return sandbox
  const running = listenGiven || process.env.ALMANAC_LISTEN ? undefined : runningServer(loaded.config.store)
  return { url: urlHere(running?.listen ?? loaded.config.listen) }
}

/** Where this machine reaches a server that listens there, be it everywhere. */
export function urlHere(listen: string): string {
  const { host, port } = parseListen(listen)!
  const asked = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}`
}

const serverNote = z.object({ process: z.int(), listen: z.string().refine(isOfThisMachine) })

/** Says beside the store where this process listens, and returns what takes it back; a read-only place gets no note. */
export function announceServer(store: string, url: string): () => void {
  const path = noteOfStore(store)
  if (path === undefined) return () => {}
  try {
    // Not through a link that is there.
    rmSync(path, { force: true })
    const note = { process: process.pid, listen: url.slice('http://'.length) } satisfies z.output<typeof serverNote>
    writeFileSync(path, `${JSON.stringify(note)}\n`, { mode: 0o600, flag: 'wx' })
  } catch {
    return () => {}
  }
  return () => {
    if (runningServer(store)?.process === process.pid) rmSync(path, { force: true })
  }
}

function runningServer(store: string): z.output<typeof serverNote> | undefined {
  const path = noteOfStore(store)
  return path === undefined ? undefined : readNote(path, serverNote)
}

/** Keys are sent to the address of a note. */
function isOfThisMachine(listen: string): boolean {
  const host = parseListen(listen)?.host
  if (host === undefined) return false
  const own = Object.values(networkInterfaces()).flatMap(addresses => addresses?.map(({ address }) => address))
  return /^(0\.0\.0\.0|127(\.\d+){3}|::1?)$/.test(host) || own.includes(host)
}

function noteOfStore(store: string): string | undefined {
  const file = storeFile(store)
  return file === undefined ? undefined : `${file}-server`
}

/** The sandbox that runs in this directory. */
export function sandboxHere(): RunningSandbox | undefined {
  return readNote(noteOfDirectory(), runningSandbox)
}

/** Undefined where none runs, as after a process that was killed, and for what another user or no Almanac wrote. */
function readNote<Note extends { process: number }>(path: string, schema: z.ZodType<Note>): Note | undefined {
  try {
    const facts = lstatSync(path)
    if (!facts.isFile() || facts.uid !== process.getuid?.()) return undefined
    const note = schema.parse(JSON.parse(readFileSync(path, 'utf8')))
    // Throws where the process has ended.
    process.kill(note.process, 0)
    return note
  } catch {
    return undefined
  }
}

function noteOfDirectory(): string {
  const directory = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 16)
  return join(tmpdir(), `almanac-sandbox-${directory}.json`)
}
