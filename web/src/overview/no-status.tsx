// In the place of figures where no status comes: why, by what was heard of the service, and that it comes by itself.
import { FailureNote } from '../parts/failure-note.tsx'
import { Panel } from '../parts/panel.tsx'
import type { Problem } from '../state/service.ts'

export function NoStatus({ problem }: { problem: Problem }) {
  const isReached = problem.status !== undefined
  return (
    <Panel id="status" title="Status">
      <FailureNote
        problem={problem}
        what={isReached ? 'The service runs, but its status could not be read.' : 'The status could not be loaded.'}
        onRetry={() => location.reload()}
      />
    </Panel>
  )
}
