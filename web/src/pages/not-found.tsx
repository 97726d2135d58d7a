// Where an address names no page.
import { EmptyState } from '../parts/empty-state.tsx'

export function NotFound({ page }: { page: string }) {
  return (
    <>
      <div class="heading">
        <h1>Page not found</h1>
      </div>
      <section class="panel" aria-label="What to do">
        <EmptyState
          title={`There is no page “${page}”`}
          action={
            <a class="button" href="#/">
              Back to the overview
            </a>
          }
        >
          The address may be of another version of the console, or mistyped.
        </EmptyState>
      </section>
    </>
  )
}
