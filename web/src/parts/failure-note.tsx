// Why a request did not succeed, in the service's own words.
import type { Problem } from '../state/service.ts'

export function FailureNote({ problem }: { problem: Problem }) {
  return (
    <div class="note note-bad" role="alert">
      <strong>{problem.message}</strong>
      {problem.scope !== undefined && (
        <p>
          What belongs here needs a key with the scope <code>{problem.scope}</code>. <a href="/#/keys">Keys</a> makes
          one.
        </p>
      )}
      {problem.requestId !== undefined && (
        <small>
          {problem.status} · request <code>{problem.requestId}</code>
        </small>
      )}
    </div>
  )
}
