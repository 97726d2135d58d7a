// How a running service ends: the first signal drains, the second stops at once, and a defect is logged before it ends the
// process. It knows nothing of what is drained.
import type { Log } from '../log.ts'
import { exitCodes } from './exit-code.ts'

/** Resolves with the first signal. From then on a second one ends the process where it stands. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let signalled = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (signalled) process.exit(exitCodes.interrupted)
      signalled = true
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
