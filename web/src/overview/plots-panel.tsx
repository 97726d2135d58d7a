// The last hour as plots: what the API answered, and how the index kept up.
import { linesOf } from '../plots/past-lines.ts'
import { Plot, type PlotLine } from '../plots/plot.tsx'
import { past, status } from '../state/live.ts'
import type { Line } from '../state/past.ts'

export function PlotsPanel() {
  const { at, lines } = past.value
  const apiLine = (label: string, measure: Line['measure']): PlotLine[] => {
    const found = lines.find(line => line.measure === measure && line.chain === undefined && line.key === undefined)
    return found === undefined ? [] : [{ label, values: found.values }]
  }
  // Of a chain whose head was never read there is nothing to measure.
  const chainLines = (measure: Line['measure']) =>
    linesOf(lines, measure).filter(({ label }) => (status.value?.chains[label]?.head ?? 0) >= 0)
  const answered = [...apiLine('requests', 'requests_per_second'), ...apiLine('errors (5xx)', 'errors_per_second')]
  return (
    <section aria-labelledby="past">
      <h2 id="past">Last hour</h2>
      <div class="plots">
        <Plot title="Requests" unit="per second" at={at} lines={answered} />
        <Plot title="Latency" unit="ms" at={at} lines={[...apiLine('p50', 'p50_ms'), ...apiLine('p99', 'p99_ms')]} />
        <Plot title="Lag" unit="seconds" at={at} lines={chainLines('lag_seconds')} />
        <Plot title="Rows stored" unit="per second" at={at} lines={chainLines('rows_per_second')} />
        <Plot title="Blocks stored" unit="per second" at={at} lines={chainLines('blocks_per_second')} />
        <Plot title="Endpoint latency" unit="ms" at={at} lines={linesOf(lines, 'latency_ms')} />
      </div>
    </section>
  )
}
