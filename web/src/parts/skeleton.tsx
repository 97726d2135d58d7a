// The grey shape of what is on its way. It has the size of what will stand there, so that nothing moves once that comes,
// and is drawn after a moment, so that a fast answer does not make the page flicker.

type Props = {
  rows?: number
  /** Big figures instead of lines, as in a `<dl class="stats">`. */
  stats?: number
  /** Below each figure there is a line of its past. */
  plotted?: boolean
  /** Facts instead of lines, as in a `<dl class="facts wide">`. */
  facts?: number
}

export function Skeleton({ rows = 5, stats, plotted = false, facts }: Props) {
  const kind = stats !== undefined ? (plotted ? ' stats plotted' : ' stats') : facts !== undefined ? ' facts wide' : ''
  return (
    <div class={`skeleton${kind}`} role="status" aria-busy="true">
      <span class="offstage">Loading…</span>
      {Array.from({ length: stats ?? facts ?? rows }, (_, at) => (
        <i key={at} />
      ))}
    </div>
  )
}
