// Signals: the first one drains, the second one stops at once. It knows nothing of what is drained.
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
