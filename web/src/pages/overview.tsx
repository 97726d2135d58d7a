// Whether the service is well, at one look: a sentence, the big figures, each chain, the use of keys, and the last hour.
import { useEffect } from 'preact/hooks'
import { ChainsPanel } from '../overview/chains-panel.tsx'
import { Figures } from '../overview/figures.tsx'
import { KeysPanel } from '../overview/keys-panel.tsx'
import { NoStatus } from '../overview/no-status.tsx'
import { PlotsPanel } from '../overview/plots-panel.tsx'
import { RibbonPanel } from '../overview/ribbon-panel.tsx'
import { VerdictBanner } from '../overview/verdict-banner.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { status } from '../state/live.ts'

export function Overview() {
  const told = status.value
  const isTold = told !== undefined
  // For whoever measures how long it takes until there is something to see.
  useEffect(() => {
    if (isTold) performance.mark('overview-shown')
  }, [isTold])
  if (told === undefined) return <Coming />
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
      <NoStatus>
        <Skeleton rows={2} />
        <Skeleton stats={4} plotted />
        <Skeleton stats={4} />
        <Skeleton rows={8} />
      </NoStatus>
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
