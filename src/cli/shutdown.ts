// How a running service ends: the first signal drains, the second stops at once, and a defect is logged before it ends the
// process. It knows nothing of what is drained.
import type { Log } from '../log.ts'
import { exitCodes } from './exit-code.ts'

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
