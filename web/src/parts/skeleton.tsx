// The grey shape of what is on its way. It has the size of what will stand there, so that nothing moves once that comes,
// and is drawn after a moment, so that a fast answer does not make the page flicker.
import { Fact } from './fact.tsx'
import { Stat } from './stat.tsx'

type Props = {
  rows?: number
  /** The names of big figures, as in a `<dl class="stats">`. */
  stats?: readonly string[]
  /** Below each figure there is a line of its past. */
  plotted?: boolean
  /** The names of facts, as in a `<dl class="facts wide">`. */
  facts?: readonly string[]
}

export function Skeleton({ rows = 5, stats, plotted = false, facts }: Props) {
  return (
    <>
      {stats !== undefined && (
        <dl class="stats">
          {stats.map(label => (
            <Stat key={label} label={label} values={plotted ? [] : undefined} />
          ))}
        </dl>
      )}
      {facts !== undefined && (
        <dl class="facts wide">
          {facts.map(title => (
            <Fact key={title} title={title} />
          ))}
        </dl>
      )}
      {stats === undefined && facts === undefined && (
        <div class="skeleton lines">
          {Array.from({ length: rows }, (_, at) => (
            <i key={at} />
          ))}
        </div>
      )}
      <span class="offstage" role="status">
        Loading…
      </span>
    </>
  )
}
