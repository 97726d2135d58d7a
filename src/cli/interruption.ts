// Lets the first signal stop a command in good order, where a second one ends it at once.
import { AlmanacError } from '../errors.ts'
import { firstSignal } from './shutdown.ts'

export function interruption(): AbortSignal {
  const stop = new AbortController()
  void firstSignal().then(name => stop.abort(new AlmanacError('interrupted', `Interrupted by ${name}.`)))
  return stop.signal
}
