// How a running service ends: the first signal drains, the second stops at once, and a defect is logged before it ends the
// process. It knows nothing of what is drained.

import { readFileSync } from 'node:fs'
import { AlmanacError } from '../errors.ts'
import type { Log } from '../log.ts'

/** One Ctrl-C comes twice where npm is in between: from the terminal, and from npm, which passes it on. */
const echoMs = 400

/** Resolves with the first signal. From then on a second one ends the process where it stands. */
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

/** Node would print the error as it is; the log takes secrets out of it. */
export function endOnDefect(log: Log): void {
  process.on('uncaughtException', error => {
    log.fatal({ err: error }, 'A defect ends the service.')
    process.exit(exitCodes.change)
  })
  // Who reads the log may go away; the service stays.
  process.stderr.on('error', () => undefined)
}

// Lets the first signal stop a command in good order, where a second one ends it at once.

export function interruption(): AbortSignal {
  const stop = new AbortController()
  void firstSignal().then(name => stop.abort(new AlmanacError('interrupted', `Interrupted by ${name}.`)))
  return stop.signal
}

// What the exit code says: 0 done, 1 the user must change something, 75 try again later, 130 interrupted.

export const exitCodes = { done: 0, change: 1, tryLater: 75, interrupted: 130 } as const

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof AlmanacError)) return exitCodes.change
  if (error.code === 'interrupted') return exitCodes.interrupted
  return error.retryable ? exitCodes.tryLater : exitCodes.change
}

// The version of this package, as its manifest says.

export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return String(manifest.version)
}

// How the reader of a message runs a command: `npm start` is how a checkout starts, where no `almanac` is on the path.

export const commandLine = process.env.npm_lifecycle_event === undefined ? 'almanac' : 'npm run -s almanac --'
