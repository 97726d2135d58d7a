// Where an address names no page.
import { EmptyState } from '../parts/empty-state.tsx'
import { CompassIcon } from '../parts/icons.tsx'
import { openSearch } from '../search/search-box.tsx'

export function NotFound({ page }: { page: string }) {
  return (
    <>
      <div class="heading">
        <h1>Page not found</h1>
      </div>
      <section class="panel" aria-label="What to do">
        <EmptyState
          title={`There is no page “${page}”`}
          icon={<CompassIcon />}
          action={
            <>
              <a class="button" href="#/">
                Back to the overview
              </a>
              <button type="button" onClick={openSearch}>
                Search
              </button>
            </>
          }
        >
          The address may be of another version of the console, or mistyped.
        </EmptyState>
      </section>
    </>
  )
}
