// Why a request did not succeed: what failed, the service's own words, what to do, and a button that tries again. While
// the service is away the bar at the top says why, so what will be asked for again by itself is told in one quiet line.
import { connection } from '../state/live.ts'
import type { Problem } from '../state/service.ts'
import { NotConfigured } from './not-configured.tsx'

type Props = {
  problem: Problem
  /** What did not succeed, such as "The transfers could not be loaded." The service's words alone where it is left out. */
  what?: string
  /** Of what is also asked for again once the service is heard: an order that failed has none. */
  onRetry?: (() => void) | undefined
}

export function FailureNote({ problem, what, onRetry }: Props) {
  if (problem.unconfigured !== undefined) return <NotConfigured chain={problem.unconfigured} />
  const advice = adviceOf(problem)
  const isQuiet = onRetry !== undefined && connection.value.state === 'lost' && (problem.status ?? 500) >= 500
  const again = onRetry !== undefined && (
    <button type="button" class="small" onClick={onRetry}>
      Try again
    </button>
  )
  const request = problem.requestId !== undefined && (
    <>
      {problem.status}{' '}
      {problem.code !== undefined && (
        <a href={errorHref(problem.code)}>
          <code>{problem.code}</code>
        </a>
      )}{' '}
      · request <code>{problem.requestId}</code>
    </>
  )
  if (isQuiet)
    return (
      <div class="note note-quiet" role="status">
        <p>{what ?? problem.message} Loading resumes by itself.</p>
        {again}
        <small>
          {request}
          {request && advice !== undefined && '. '}
          {advice}
        </small>
      </div>
    )
  return (
    <div class="note note-bad" role="alert">
      <strong>{what ?? problem.message}</strong>
      {what !== undefined && <p>{problem.message}</p>}
      {problem.errors
        .filter(({ accepted }) => !problem.message.includes(accepted))
        .map(({ parameter, accepted }) => (
          <p key={parameter}>
            <code>{parameter}</code> accepts {accepted}.
          </p>
        ))}
      {problem.scope !== undefined && (
        <p>
          What belongs here needs a key with the scope <code>{problem.scope}</code>. <a href="/#/keys">Keys</a> makes
          one.
        </p>
      )}
      {advice !== undefined && <p>{advice}</p>}
      {request && <small>{request}</small>}
      {again}
    </div>
  )
}

/** Where the docs say what the code means, and how to solve it. */
export function errorHref(code: string): string {
  return `/docs/errors.html#${code}`
}

export function adviceOf({ status, code, reason }: Problem): string | undefined {
  if (status === undefined) return 'Check that the service runs and that this machine reaches it.'
  if (status === 429) {
    const until = code === 'quota_exceeded' ? 'Wait until midnight UTC' : 'Wait a moment'
    return [reason, `${until}, or raise the limits of this key.`].filter(Boolean).join(' ')
  }
  if (status === 502 || status === 504) return 'The endpoints of the chain did not answer. The overview shows which.'
  if (status >= 500) return 'If it stays, look for the request id in the log of the service.'
  return undefined
}
