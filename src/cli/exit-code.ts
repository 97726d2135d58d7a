// What the exit code says: 0 done, 1 the user must change something, 75 try again later, 130 interrupted.
import { AlmanacError } from '../errors.ts'

export const exitCodes = { done: 0, change: 1, tryLater: 75, interrupted: 130 } as const

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof AlmanacError)) return exitCodes.change
  if (error.code === 'interrupted') return exitCodes.interrupted
  return error.retryable ? exitCodes.tryLater : exitCodes.change
}
