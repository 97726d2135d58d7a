// What every process has: its version, how a user calls it, signals and exit codes. It knows nothing of what runs.
import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AlmanacError } from '../errors.ts'
import type { Log } from '../log.ts'

/** `change`: the user must change something. `defect`: of Almanac. `tryLater`: the same command may work later. */
export const exitCodes = { done: 0, change: 1, defect: 70, tryLater: 75, interrupted: 130 } as const

export function exitCodeOf(error: unknown): number {
  // The system refuses what a user asked for, such as a file.
  if (error instanceof Error && 'syscall' in error) return exitCodes.change
  if (!(error instanceof AlmanacError)) return exitCodes.defect
  if (error.code === 'interrupted') return exitCodes.interrupted
  if (error.retryable) return exitCodes.tryLater
  return error.code === 'internal' ? exitCodes.defect : exitCodes.change
}

/** What completion scripts run to have names; no command for people. */
export const offerWord = '__complete'

/** One Ctrl-C arrives twice under npm: from the terminal, and from npm, which passes it on. */
const echoMs = 400

/** Resolves with the first signal. A second one ends the process at once. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let first: { signal: NodeJS.Signals; atMs: number } | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      const isEcho = first?.signal === signal && performance.now() - first.atMs < echoMs
      if (first !== undefined && !isEcho) process.exit(exitCodes.interrupted)
      first ??= { signal, atMs: performance.now() }
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

/** Aborts with the first signal, so that a command can stop cleanly. */
export function interruption(): AbortSignal {
  const stop = new AbortController()
  void firstSignal().then(name => stop.abort(new AlmanacError('interrupted', `Interrupted by ${name}.`)))
  return stop.signal
}

/** Node would print the error as it is; the log removes secrets. */
export function exitOnUncaught(log: Log): void {
  process.on('uncaughtException', error => {
    log.fatal({ err: error }, 'Uncaught exception; exiting')
    process.exit(exitCodes.defect)
  })
  // A reader of the log may go away; the service stays.
  process.stderr.on('error', () => undefined)
}

export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String(manifest.version)
}

/**
 * How the user runs a command where this one was run. A shell finds `almanac` where it is installed globally or its
 * folder is on the PATH; npx finds it in the project that has it, and elsewhere asks a registry for a stranger's.
 */
export const commandLine = calledAs(process.argv[1] ?? '', process.env)
/** What lets a shell in any folder find the command of a checkout; empty where it needs nothing. */
export const beforeCommand = commandLine.startsWith('npm run')
  ? `export PATH="${fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))}:$PATH" && `
  : ''
/** What stands before an option that is added to the command: npm passes on only what is behind two hyphens. */
export const beforeOption = process.env.npm_lifecycle_event === 'start' ? 'npm start -- ' : ''

function calledAs(program: string, env: NodeJS.ProcessEnv): string {
  const { npm_lifecycle_event: script, npm_package_name: project } = env
  // A script of the checkout; one of a project that has Almanac has the program, too.
  if (script !== undefined) return script !== 'npx' && project === 'almanac' ? 'npm run almanac --' : 'npx almanac'
  const folder = dirname(program)
  if (!folder.endsWith('/node_modules/.bin') || (env.PATH ?? '').split(delimiter).includes(folder)) return 'almanac'
  const isOfProject = `${process.cwd()}/`.startsWith(`${dirname(dirname(folder))}/`)
  return isOfProject ? 'npx almanac' : program
}
