// A past as a line without axes: decoration beside a figure that says the same in words.

type Props = { values: readonly (number | null)[]; max?: number }

const height = 20
/** Below fewer values an area would be a slab. */
const areaFrom = 3

export function Sparkline({ values, max = Math.max(1e-9, ...values.map(value => value ?? 0)) }: Props) {
  const width = Math.max(1, values.length - 1)
  const placeOf = (value: number, at: number) => `${at},${(height - (Math.min(value, max) / max) * height).toFixed(2)}`
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {runsOf(values).map(({ at, run }) => {
        const line = run.map((value, index) => placeOf(value, at + index)).join(' L')
        return (
          <g key={at}>
            {run.length >= areaFrom && (
              <path class="area" d={`M${at},${height} L${line} L${at + run.length - 1},${height} Z`} />
            )}
            <path class={run.length === 1 ? 'stroke dot' : 'stroke'} d={`M${line}h0`} />
          </g>
        )
      })}
    </svg>
  )
}

/** Neighbours that are known; a gap breaks the line. */
function runsOf(values: readonly (number | null)[]): { at: number; run: number[] }[] {
  const runs: { at: number; run: number[] }[] = []
  for (const [at, value] of values.entries()) {
    if (value === null) continue
    const last = runs.at(-1)
    if (last !== undefined && last.at + last.run.length === at) last.run.push(value)
    else runs.push({ at, run: [value] })
  }
  return runs
}
