// Whether the service is well, at one look: a sentence, the big figures, each chain, the use of keys, and the last hour.
import { useEffect } from 'preact/hooks'
import { Lazy, lazily } from '../lazy.tsx'
import { ChainsPanel } from '../overview/chains-panel.tsx'
import { Figures } from '../overview/figures.tsx'
import { KeysPanel } from '../overview/keys-panel.tsx'
import { NoStatus } from '../overview/no-status.tsx'
import { RibbonPanel } from '../overview/ribbon-panel.tsx'
import { VerdictBanner } from '../overview/verdict-banner.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { connection, status } from '../state/live.ts'

/** What draws them is as large as all else that is shown first. */
const plots = lazily(async () => (await import('../overview/plots-panel.tsx')).PlotsPanel)
const firstSteps = lazily(async () => (await import('../overview/first-steps-panel.tsx')).FirstStepsPanel)

export function Overview() {
  const told = status.value
  const isTold = told !== undefined
  // For whoever measures how long it takes until there is something to see.
  useEffect(() => {
    if (isTold) performance.mark('overview-shown')
  }, [isTold])
  const heard = connection.value
  if (told === undefined && heard.state === 'lost')
    return (
      <>
        <h1 class="offstage">Overview</h1>
        <NoStatus problem={heard.problem} />
      </>
    )
  const isIndexing = told === undefined || Object.keys(told.chains).length + Object.keys(told.solana).length > 0
  return (
    <>
      <h1 class="offstage">Overview</h1>
      {told === undefined ? <Skeleton rows={2} /> : <VerdictBanner />}
      {told !== undefined && isIndexing && <Lazy page={firstSteps} props={{ told }} isAside />}
      <Figures />
      {isIndexing ? <ChainsPanel told={told} /> : <NothingIndexed />}
      <RibbonPanel told={told} />
      {(told === undefined || told.api !== undefined) && <KeysPanel api={told?.api} />}
      <Lazy page={plots} props={{}} />
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
            Ask the store
          </a>
        }
      >
        No chain is configured here, or another process indexes them (<code>--only api</code>). Add chains to
        almanac.yaml with <code>almanac init</code>. <a href="/docs">Read the docs</a>
      </EmptyState>
    </section>
  )
}
