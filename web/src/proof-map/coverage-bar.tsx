// Which blocks of a chain are covered, and with which evidence, as a bar with a text that says the same.
import { countText, percentText } from '../quantities.ts'
import type { Coverage } from '../state/live.ts'
import { type Evidence, evidences } from './evidence.ts'

type Props = { coverage: Coverage; from: number; head: number; subject: string }

export function coveredBlocks({ blocks }: Pick<Coverage, 'blocks'>): number {
  return Object.values(blocks).reduce((sum, count) => sum + (count ?? 0), 0)
}

export function CoverageBar({ coverage, from, head, subject }: Props) {
  const span = Math.max(1, head - from + 1)
  const shareOf = (block: number) => Math.max(0, Math.min(100, ((block - from) / span) * 100))
  return (
    <div class="coverage-bar" role="img" aria-label={coverageText({ coverage, from, head, subject })}>
      {coverage.intervals.map(({ from: first, to, evidence }) => (
        <i
          key={`${first} ${evidence}`}
          class={`evidence evidence-${evidence}`}
          style={{ left: `min(${shareOf(first)}%, 100% - 3px)`, width: `${shareOf(to + 1) - shareOf(first)}%` }}
        />
      ))}
    </div>
  )
}

export function coverageText({ coverage, from, head, subject }: Props): string {
  const total = head - from + 1
  if (total <= 0) return `${subject}: no block is known yet.`
  const done = Math.min(total, coveredBlocks(coverage))
  const parts = evidences
    .filter(({ name }) => (coverage.blocks[name] ?? 0) > 0)
    .map(({ name, title }) => `${countText(coverage.blocks[name]!)} by ${title}`)
  const how = parts.length === 0 ? '' : `: ${parts.join(', ')}`
  return `${subject}: ${percentText(done, total)} of the blocks ${countText(from)} to ${countText(head)} are covered${how}.`
}

type LegendProps = {
  /** The kinds that are in sight, undefined for what is missing; all where it is left out. */
  only?: readonly (Evidence | undefined)[]
}

export function EvidenceLegend({ only }: LegendProps) {
  const shown = evidences.filter(({ name }) => only === undefined || only.includes(name))
  return (
    <ul class="legend" aria-label="Kinds of evidence, the strongest first">
      {shown.map(({ name, title, meaning }) => (
        <li key={name} title={meaning}>
          <i class={`swatch evidence-${name}`} />
          {title}
        </li>
      ))}
      {(only === undefined || only.includes(undefined)) && (
        <li>
          <i class="swatch evidence-none" />
          not indexed yet
        </li>
      )}
    </ul>
  )
}
