// How work ended, as text in the store: what it answers with, or why it failed. Errors keep their code and what to do.
import { AlmanacError, type ErrorCode, errorCodes, messageOf } from '../errors.ts'
import type { PortfolioFreshness } from '../query/freshen.ts'

export type Outcome = { freshness?: PortfolioFreshness | undefined } | { error: AlmanacError }

type Written = {
  freshness?: PortfolioFreshness
  error?: { code: string; message: string; hint?: string; retryable: boolean; retryAfterMs?: number }
}

export function writeOutcome(outcome: { freshness?: PortfolioFreshness | undefined } | { failure: unknown }): string {
  if (!('failure' in outcome)) return JSON.stringify(outcome)
  const { failure } = outcome
  const known = failure instanceof AlmanacError ? failure : new AlmanacError('internal', messageOf(failure))
  const { code, message, hint, retryable, retryAfterMs } = known
  return JSON.stringify({ error: { code, message, hint, retryable, retryAfterMs } })
}

export function readOutcome(text: string): Outcome {
  const { freshness, error } = JSON.parse(text) as Written
  if (error === undefined) return { freshness }
  const code = errorCodes.includes(error.code as ErrorCode) ? (error.code as ErrorCode) : 'internal'
  const { message, hint, retryable, retryAfterMs } = error
  return {
    error: new AlmanacError(code, message, {
      retryable,
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  }
}
