// Whether the service is well, at one look: a sentence, the big figures, each chain, the use of keys, and the last hour.
import { useEffect } from 'preact/hooks'
import { ChainsPanel } from '../overview/chains-panel.tsx'
import { Figures } from '../overview/figures.tsx'
import { KeysPanel } from '../overview/keys-panel.tsx'
import { PlotsPanel } from '../overview/plots-panel.tsx'
import { RibbonPanel } from '../overview/ribbon-panel.tsx'
import { VerdictBanner } from '../overview/verdict-banner.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { AlertIcon } from '../parts/icons.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { connection, status } from '../state/live.ts'

export function Overview() {
  const told = status.value
  const isTold = told !== undefined
  // For whoever measures how long it takes until there is something to see.
  useEffect(() => {
    if (isTold) performance.mark('overview-shown')
  }, [isTold])
  if (told === undefined) return connection.value.state === 'lost' ? <Unheard why={connection.value.why} /> : <Coming />
  const isIndexing = Object.keys(told.chains).length + Object.keys(told.solana).length > 0
  return (
    <>
      <h1 class="offstage">Overview</h1>
      <VerdictBanner />
      <Figures />
      {isIndexing ? <ChainsPanel told={told} /> : <NothingIndexed />}
      <RibbonPanel told={told} />
      {told.api !== undefined && <KeysPanel api={told.api} />}
      <PlotsPanel />
    </>
  )
}

function Coming() {
  return (
    <>
      <h1 class="offstage">Overview</h1>
      <Skeleton rows={2} />
      <Skeleton blocks={4} />
      <Skeleton blocks={4} />
      <Skeleton rows={8} />
    </>
  )
}

function Unheard({ why }: { why: string }) {
  return (
    <>
      <h1 class="offstage">Overview</h1>
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
          {why} Check that the service runs and that this machine reaches it; the page comes back by itself.
        </EmptyState>
      </section>
    </>
  )
}

function NothingIndexed() {
  return (
    <section class="panel" aria-label="Chains">
      <EmptyState
        title="This process indexes nothing"
        action={
          <a class="button" href="#/explore">
            Ask the store in the explorer
          </a>
        }
      >
        No chain is configured here, or another process indexes them (<code>--only api</code>). Add chains to
        almanac.yaml with <code>almanac init</code>.
      </EmptyState>
    </section>
  )
}
