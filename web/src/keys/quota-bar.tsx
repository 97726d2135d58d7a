// How much of a day's requests is used, as a bar beside its figures.
import { countText } from '../quantities.ts'

export function QuotaBar({ used, quota }: { used: number; quota: number | null }) {
  if (quota === null) return <span class="number">{countText(used)}</span>
  const share = Math.min(1, used / quota)
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : undefined
  return (
    <span class="quota">
      <span class={tone}>
        {countText(used)} <span class="soft">of {countText(quota)}</span>
      </span>
      <meter class={tone} min={0} max={1} value={share} aria-label={`${Math.round(share * 100)} % of the quota`} />
    </span>
  )
}
