// In the place of figures before the first status has come: their shape, or what to do where none comes.
import type { ComponentChildren } from 'preact'
import { EmptyState } from '../parts/empty-state.tsx'
import { AlertIcon } from '../parts/icons.tsx'
import { connection } from '../state/live.ts'

/** The bar above says why the connection was lost. */
export function NoStatus({ children }: { children: ComponentChildren }) {
  if (connection.value.state !== 'lost') return children
  return (
    <section class="panel" aria-label="Status">
      <EmptyState
        title="The status cannot be read"
        icon={<AlertIcon />}
        action={
          <button type="button" onClick={() => location.reload()}>
            Try again
          </button>
        }
      >
        Check that the service runs and that this machine reaches it. This page fills by itself once it answers.
      </EmptyState>
    </section>
  )
}
